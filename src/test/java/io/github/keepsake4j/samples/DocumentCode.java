package io.github.keepsake4j.samples;

import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The Java code of one document. Each block is a file of its own, with its imports. It may use the classes of the blocks
 * before it. A block with a {@code main} is run, and the blocks of kind {@code text} that follow it are the outputs of its
 * runs: one of each run. The names of servers and paths are those that a reader would write; here they are replaced by
 * those of the tests. A block that uses Quarkus's AI services is a file of the sample for Quarkus, which is built and run
 * on its own.
 *
 * <p>While a page is written, {@code main} compiles and runs its code, and writes the outputs into the page. CONTRIBUTING
 * has the command.
 */
final class DocumentCode {

    /** What only a project of its own has on its class path. */
    private static final String QUARKUS = "import io.quarkiverse.";

    private static final Path QUARKUS_SAMPLE = Path.of("samples/quarkus/src/main/java");

    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    /** Opens the jars of the class path only once. */
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\n(.*?)^```$");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern TYPE =
            Pattern.compile("(?m)^(?:public )?(?:final )?(?:class|interface|record|enum) (\\w+)");
    private static final Pattern MAIN = Pattern.compile("(?m)^ +(?:public )?static void main\\(");
    private static final Pattern VARIES =
            Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}|\\b\\d+ ms\\b");

    private final Path document;
    private final Path directory;
    private final String text;
    private final UnaryOperator<String> replaced;
    private final List<Path> compiled = new ArrayList<>();

    DocumentCode(Path document, Path directory) throws Exception {
        this.document = document;
        this.directory = directory;
        this.text = Files.readString(document);
        this.replaced = replaced();
    }

    /** Writes the outputs of the programs of documents into them. */
    public static void main(String[] documents) throws Exception {
        for (String each : documents) {
            Path document = Path.of(each);
            Files.writeString(
                    document, new DocumentCode(document, Files.createTempDirectory("document")).withOutputs());
            System.out.println(document + " is compiled and run");
        }
        System.exit(0);
    }

    /** Returns what a run printed, with a mark in place of what differs in each run. */
    static String masked(String printed) {
        return VARIES.matcher(printed).replaceAll("<varies>");
    }

    /** Compiles and runs the code, and returns the document with what its programs printed. */
    String withOutputs() throws Exception {
        StringBuilder written = new StringBuilder();
        Matcher block = BLOCK.matcher(text);
        Runnable program = null;
        int end = 0;
        while (block.find()) {
            written.append(text, end, block.start());
            end = block.end();
            String shown = block.group();
            if (block.group(1).equals("java")) {
                program = program(block.group(2));
            } else if (block.group(1).equals("text") && program != null) {
                String printed = printed(program);
                boolean same = masked(printed).equals(masked(block.group(2)));
                shown = same ? shown : "```text\n" + printed + "```";
            } else {
                program = null;
            }
            written.append(shown);
        }
        return written.append(text.substring(end)).toString();
    }

    /** Compiles a block. Returns its program, or null if it has none; a program without output is run here. */
    private Runnable program(String code) throws Exception {
        Matcher type = TYPE.matcher(code);
        if (!type.find()) {
            throw new IllegalStateException(document + " has a block without a type:\n" + code);
        }
        Matcher main = MAIN.matcher(code);
        String name = type.group(1);
        if (main.find()) {
            // The type that has it is the last one that begins before it.
            Matcher before = TYPE.matcher(code).region(0, main.start());
            while (before.find()) {
                name = before.group(1);
            }
        }
        Matcher inPackage = PACKAGE.matcher(code);
        String qualified = inPackage.find() ? inPackage.group(1) + "." + name : name;
        if (code.contains(QUARKUS)) {
            requireInSample(qualified, code);
            return null;
        }
        compile(name, code);
        if (!MAIN.matcher(code).find()) {
            return null;
        }
        return () -> run(qualified);
    }

    private void requireInSample(String qualified, String code) throws IOException {
        Path file = QUARKUS_SAMPLE.resolve(qualified.replace('.', '/') + ".java");
        if (!Files.exists(file) || !Files.readString(file).equals(code)) {
            throw new IllegalStateException(document + " has code that differs from " + file + ":\n" + code);
        }
    }

    private void compile(String name, String code) throws Exception {
        Path folder = Files.createDirectory(directory.resolve("block" + compiled.size()));
        Path source = Files.writeString(folder.resolve(name + ".java"), replaced.apply(code));
        StringBuilder path = new StringBuilder(System.getProperty("java.class.path"));
        compiled.forEach(each -> path.append(File.pathSeparator).append(each));
        StringWriter problems = new StringWriter();
        boolean good = COMPILER.getTask(
                        problems,
                        FILES,
                        null,
                        List.of(
                                "-d",
                                folder.toString(),
                                "-cp",
                                path.toString(),
                                "-proc:none",
                                "-parameters",
                                "-Xlint:all",
                                "-Xlint:-path",
                                "-Xlint:-classfile",
                                "-Xlint:-try",
                                "-Xlint:-processing",
                                "-Xlint:-serial"),
                        null,
                        FILES.getJavaFileObjects(source))
                .call();
        String warned = problems.toString();
        if (!good || warned.contains("warning:")) {
            throw new IllegalStateException(document + " has code that does not compile without a warning:\n" + warned);
        }
        compiled.add(folder);
    }

    private void run(String name) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        URL[] folders = compiled.stream()
                .map(folder -> {
                    try {
                        return folder.toUri().toURL();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(folders, before)) {
            thread.setContextClassLoader(loader);
            var main = loader.loadClass(name).getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            main.invoke(null, (Object) new String[0]);
        } catch (ReflectiveOperationException | IOException e) {
            throw new IllegalStateException(document + ": " + name + " failed", e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static String printed(Runnable program) {
        PrintStream out = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            program.run();
        } finally {
            System.setOut(out);
        }
        return bytes.toString(StandardCharsets.UTF_8)
                .replace(System.lineSeparator(), "\n")
                .replaceAll("localhost:\\d+/test\\d+", "localhost/chat");
    }

    /** Replaces what a reader has by what a test has. Servers start only for documents that name them. */
    private UnaryOperator<String> replaced() throws Exception {
        UnaryOperator<String> all = code -> code.replaceAll("Path\\.of\\(\"(?!/)", "Path.of(\"" + directory + "/");
        if (text.contains("jdbc:postgresql://localhost/chat")) {
            Postgres server = Postgres.newest();
            String url = "jdbc:postgresql://localhost:" + server.port() + "/" + server.newDatabase();
            all = then(all, "jdbc:postgresql://localhost/chat", url);
            all = then(all, "\"chat\", \"secret\"", "\"postgres\", \"postgres\"");
        }
        if (text.contains("redis://localhost:6379")) {
            all = then(all, "redis://localhost:6379", Redis.shared().uri().toString());
        }
        if (text.contains("http://localhost:9000")) {
            S3Server server = S3Server.shared();
            all = then(all, "http://localhost:9000", server.endpoint().toString());
            all = then(all, "\"my-bucket\"", "\"" + server.newBucket() + "\"");
            all = then(all, "\"my-access-key\"", "\"" + S3Server.ACCESS_KEY + "\"");
            all = then(all, "\"my-secret-key\"", "\"" + S3Server.SECRET_KEY + "\"");
        }
        return all;
    }

    private static UnaryOperator<String> then(UnaryOperator<String> first, String said, String here) {
        return code -> first.apply(code).replace(said, here);
    }
}
