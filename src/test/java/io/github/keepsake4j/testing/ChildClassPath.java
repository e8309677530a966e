package io.github.keepsake4j.testing;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The tests' class path for second processes, in a form from which a JVM starts in two thirds of the time: the folders are
 * archives, and the classes that most processes load are in a class data archive. A build has more than a hundred of them.
 */
final class ChildClassPath {

    /** A JVM that starts fewer processes saves less than the archives cost. */
    private static final int FEW = 3;

    private static int starts;
    private static ChildClassPath made;

    private final String original;
    private final Path folder;
    private final Path data;

    private ChildClassPath(String original) throws IOException {
        this.original = original;
        this.folder = Path.of("target", "children", state(original)).toAbsolutePath();
        this.data = folder.resolve("classes.jsa");
    }

    /** Returns the options of a JVM with a class path. The first JVM that starts several processes makes the archives. */
    static synchronized List<String> options(String classPath) throws IOException {
        if (made == null) {
            made = new ChildClassPath(classPath);
        }
        if (++starts == FEW) {
            made.make();
        }
        // Another JVM may still be making them.
        return made.original.equals(classPath) && Files.exists(made.data) ? made.options() : List.of("-cp", classPath);
    }

    /** Returns a text that changes with the class path and with the files in its folders. */
    private static String state(String classPath) throws IOException {
        int hash = classPath.hashCode();
        for (Path directory : Stream.of(classPath.split(File.pathSeparator))
                .map(Path::of)
                .filter(Files::isDirectory)
                .toList()) {
            try (Stream<Path> files = Files.walk(directory)) {
                hash = 31 * hash + files.mapToInt(ChildClassPath::state).sum();
            }
        }
        return Integer.toHexString(hash);
    }

    private static int state(Path file) {
        try {
            BasicFileAttributes is = Files.readAttributes(file, BasicFileAttributes.class);
            return Objects.hash(file, is.size(), is.lastModifiedTime());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> options() {
        return List.of(
                "-cp",
                archives(),
                "-XX:SharedArchiveFile=" + data,
                "-Xlog:disable",
                // JDK 17 moves a class data archive in memory, which changes all its pages.
                "-XX:+IgnoreUnrecognizedVMOptions",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:ArchiveRelocationMode=0");
    }

    private String archives() {
        return Stream.of(original.split(File.pathSeparator))
                .map(this::archive)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private String archive(String entry) {
        return Files.isDirectory(Path.of(entry))
                ? folder.resolve(Integer.toHexString(entry.hashCode()) + ".jar").toString()
                : entry;
    }

    private void make() throws IOException {
        Files.createDirectories(folder);
        try (FileChannel file =
                        FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = file.tryLock()) {
            if (lock == null || Files.exists(data)) {
                return;
            }
            for (String entry : original.split(File.pathSeparator)) {
                if (Files.isDirectory(Path.of(entry))) {
                    ToolProvider jar = ToolProvider.findFirst("jar").orElseThrow();
                    jar.run(System.out, System.err, "-c", "-0", "-f", archive(entry), "-C", entry, ".");
                }
            }
            dump();
        }
    }

    /** Lets a JVM that loads many classes write them. One that knows no such archives writes none. */
    private void dump() throws IOException {
        Path written = folder.resolve("written.jsa");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(Child.SHORT);
        command.addAll(List.of("-Xlog:disable", "-XX:ArchiveClassesAtExit=" + written, "-cp", archives()));
        command.addAll(List.of(Loader.class.getName(), folder.toString()));
        new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start()
                .onExit()
                .join();
        if (Files.exists(written)) {
            Files.move(written, data, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Loads the classes that most processes use. */
    static final class Loader {

        interface Assistant {
            String chat(String text);
        }

        private static final int NO_SERVER = 1;

        private Loader() {}

        public static void main(String[] arguments) throws Exception {
            ChatModel model = new ChatModel() {
                @Override
                public ChatResponse doChat(ChatRequest request) {
                    List<ChatMessage> messages = request.messages();
                    return ChatResponse.builder()
                            .aiMessage(Dialogue.ai("answer " + messages.size()))
                            .build();
                }
            };
            for (Home home : List.of(Home.SQLITE, Home.FILES)) {
                try (MessageLog log = Place.in(home, Path.of(arguments[0])).open()) {
                    Keepsake keepsake = Keepsake.builder()
                            .messageLog(log)
                            .tokenCountEstimator(new WordCounter())
                            .acceptDefaultMemoryId()
                            .build();
                    keepsake.aiServices(Assistant.class)
                            .chatModel(model)
                            .build()
                            .chat("question");
                }
            }
            try (S3Client client = S3Server.impatientClient(NO_SERVER);
                    MessageLog log =
                            S3MessageLog.builder().client(client).bucket("none").build()) {
                log.read(NodeKey.of("acme", "app", "c", "n"), ReadQuery.newest(1));
            } catch (StorageUnavailableException e) {
                // The classes are loaded.
            }
            try (HikariDataSource pool = Postgres.pool(Postgres.database("none", NO_SERVER), 1, true, 250);
                    MessageLog log = PostgresMessageLog.open(pool)) {
                log.read(ConversationKey.of("acme", "c"), ReadQuery.newest(1));
            } catch (StorageUnavailableException e) {
                // The classes are loaded.
            }
        }
    }
}
