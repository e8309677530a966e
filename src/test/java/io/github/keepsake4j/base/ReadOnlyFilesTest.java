package io.github.keepsake4j.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file system that was mounted read-only does not become writable by a retry. */
class ReadOnlyFilesTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c");

    @TempDir
    Path directory;

    /** The file system is mounted for one process, where a user may do that. */
    @Test
    void a_read_only_file_system_is_not_retryable() throws Exception {
        assumeTrue(run("mount -t tmpfs tmpfs " + directory).isEmpty(), "no file system can be mounted");
        String write = "'" + Path.of(System.getProperty("java.home"), "bin", "java") + "' -cp '"
                + System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")) + "' '"
                + Writer.class.getName() + "' " + directory;
        String lines = run("mount -t tmpfs tmpfs " + directory + " && " + write + " && mount -o remount,ro " + directory
                + " && " + write);
        assertThat(lines.lines()).hasSize(6);
        assertThat(lines.lines().limit(3)).allMatch(line -> line.endsWith(": written"));
        assertThat(lines.lines().skip(3)).allMatch(line -> line.contains(": final, ") && line.contains("read-only"));
    }

    private static String run(String command) throws Exception {
        try {
            Process process = new ProcessBuilder("unshare", "-rm", "sh", "-c", command)
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? output : "failed: " + output;
        } catch (IOException e) {
            return "there is no unshare";
        }
    }

    /** Writes to files below a directory, and prints what came of it. */
    public static final class Writer {

        private Writer() {}

        public static void main(String[] arguments) {
            Path root = Path.of(arguments[0]);
            write("files", () -> append(FileMessageLog.in(root.resolve("files"))));
            write("SQLite", () -> append(SqliteMessageLog.open(root.resolve("chat.db"))));
            write("memories", () -> {
                try (LongTermMemoryStore store = FileLongTermMemoryStore.of(root.resolve("memories"))) {
                    Passage passage = new Passage(List.of("m"), 1, "", "", "");
                    MadeMemory memory = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "text", passage, Trust.USER);
                    store.add(
                            KEY,
                            MadeMemory.Kind.CHUNK,
                            store.progress(KEY, MadeMemory.Kind.CHUNK).revision(),
                            passage,
                            List.of(memory));
                }
            });
        }

        private static void append(MessageLog log) {
            try (log) {
                log.append(KEY, Append.underHead(NewMessage.of(UserMessage.from("hello"), 1, "words")));
            }
        }

        private static void write(String what, Runnable work) {
            try {
                work.run();
                System.out.println(what + ": written");
            } catch (KeepsakeException e) {
                System.out.println(what + (e.isRetryable() ? ": retryable, " : ": final, ") + e.getMessage());
            }
        }
    }
}
