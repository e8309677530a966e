package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.base.Library;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real process: its streams, its exit code, a pipe, and class paths that lack a library. */
@Tag("landing")
@Timeout(120)
class ProcessTest {

    @TempDir
    Path directory;

    @Test
    void data_goes_to_the_output_and_the_rest_to_the_error_stream() throws Exception {
        Path big = directory.resolve("big.txt");
        Files.writeString(big, "line of text\n".repeat(12_000));
        // A logger of the class path that prints to the standard output must not get into the data.
        String script =
                """
                set -o pipefail
                k() { "$JAVA" -Xshare:auto -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.logFile=System.out \
                    -Dorg.slf4j.simpleLogger.defaultLogLevel=debug io.github.keepsake4j.cli.Main "$@"; }
                k add --session 'ü 🐝' --content - --json <big.txt >out 2>err; echo "add $?"
                k history --session 'ü 🐝' 2>pipe.err | head -n 1; echo "pipe $?"
                LC_ALL=C k list --tenant 'ü' 2>&1 | tail -n 1; echo "locale $?"
                """;
        Files.writeString(directory.resolve("script"), script);
        ProcessBuilder builder = new ProcessBuilder("bash", "script").directory(directory.toFile());
        builder.environment()
                .put(
                        "JAVA",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString());
        builder.environment().put("CLASSPATH", classPath());
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().put("KEEPSAKE_LOG", "sqlite:chat.db");
        Process process = builder.redirectErrorStream(true).start();
        List<String> lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();

        assertThat(lines.get(0)).isEqualTo("add 0");
        assertThat(lines.get(1)).startsWith("1  ");
        assertThat(lines.get(2)).isEqualTo("pipe 141");
        assertThat(Files.readString(directory.resolve("pipe.err"))).doesNotContain("keepsake: ");
        assertThat(lines.get(3))
                .isEqualTo("keepsake: an argument has characters that the locale does not know; set LC_ALL to C.UTF-8"
                        + " or the like");
        assertThat(lines.get(4)).isEqualTo("locale 2");
        assertThat(Files.readString(directory.resolve("out")))
                .startsWith("{\"messages\":[")
                .hasLineCount(1);
    }

    @Test
    void a_library_that_is_missing_is_named() throws Exception {
        assertThat(mainWithout("/picocli-", "--help"))
                .isEqualTo(
                        "1 keepsake: the command line needs a library that is not on the class path; add the artifact"
                                + " info.picocli:picocli\n");
        assertThat(mainWithout("/sqlite-jdbc-", "list", "--log", "sqlite:chat.db"))
                .isEqualTo("1 keepsake: sqlite: needs a library that is not on the class path; add the artifact"
                        + " org.xerial:sqlite-jdbc\n");
        // The same check stands before each address of a log.
        assertThat(mainWithout("/apache5-client-", "list", "--log", "s3://b"))
                .startsWith("1 keepsake: s3: needs")
                .endsWith("add the artifact software.amazon.awssdk:apache5-client\n");
        assertThat(Library.values()).allMatch(Library::isThere);
    }

    /** Runs the main class without some jars, and returns its exit code and its errors. */
    private static String mainWithout(String jar, String... arguments) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : classPath().split(File.pathSeparator)) {
            if (!entry.contains(jar)) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Method run = loader.loadClass("io.github.keepsake4j.cli.Main")
                    .getDeclaredMethod("run", String[].class, OutputStream.class, PrintStream.class);
            run.setAccessible(true);
            Object code = run.invoke(
                    null,
                    arguments,
                    OutputStream.nullOutputStream(),
                    new PrintStream(err, true, StandardCharsets.UTF_8));
            return code + " " + err.toString(StandardCharsets.UTF_8);
        }
    }

    private static String classPath() throws IOException {
        List<String> entries = new ArrayList<>();
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : all.split(File.pathSeparator)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(File.pathSeparator, entries);
    }
}
