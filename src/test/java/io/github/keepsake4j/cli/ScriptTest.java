package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script {@code keepsake}, in a folder as the build makes it. Most tests have a Java that prints its arguments and makes an
 * archive of one line.
 */
@Tag("landing")
@Timeout(120)
class ScriptTest {

    private static final Path SCRIPT = Path.of("src/cli/keepsake");

    private static final String FAKE =
            """
            #!/bin/sh
            for argument; do
                case $argument in -XX:ArchiveClassesAtExit=*)
                    sleep 0.2; echo made >>"$MADE"; echo archive >"${argument#*=}"; exit 0 ;;
                esac
            done
            printf '%s\\n' "$@"
            exit 7
            """;

    @TempDir
    Path directory;

    private Path folder;
    private Path cache;
    private final Map<String, String> environment = new HashMap<>();

    private record Result(int code, String out, String err) {}

    @BeforeEach
    void folder() throws IOException {
        folder = Files.createDirectory(directory.resolve("a folder"));
        cache = directory.resolve("a cache");
        Files.createDirectory(folder.resolve("lib"));
        Files.writeString(folder.resolve("lib/some.jar"), "jar");
        Files.writeString(folder.resolve("keepsake.jar"), "jar");
        executable(folder.resolve("keepsake"), Files.readString(SCRIPT));
        Path home = Files.createDirectories(directory.resolve("a jdk/bin"));
        executable(home.resolve("java"), FAKE);
        environment.put("JAVA_HOME", home.getParent().toString());
        environment.put("XDG_CACHE_HOME", cache.toString());
        environment.put("KEEPSAKE_ARCHIVE", "wait");
        environment.put("MADE", directory.resolve("made").toString());
    }

    private static void executable(Path file, String text) throws IOException {
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Process start(String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().remove("KEEPSAKE_JAVA_OPTIONS");
        builder.environment().remove("KEEPSAKE_LOG");
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static Result end(Process process) throws Exception {
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), out, err);
    }

    private Result run(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(folder.resolve("keepsake").toString()));
        command.addAll(List.of(arguments));
        return end(start(command.toArray(String[]::new)));
    }

    private List<Path> archives() throws IOException {
        try (Stream<Path> files = Files.list(cache.resolve("keepsake4j"))) {
            return files.toList();
        }
    }

    private String made() throws IOException {
        Path file = directory.resolve("made");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    @Test
    void java_gets_the_archive_and_the_arguments_as_they_are() throws Exception {
        environment.put("KEEPSAKE_JAVA_OPTIONS", "-Xmx1g  -Da=*");
        Result result = run("add", "--content", "two words", "", "*", "-XX:x");
        assertThat(archives()).hasSize(1);
        Path archive = archives().get(0);
        assertThat(result)
                .isEqualTo(new Result(
                        7,
                        String.join(
                                "\n",
                                "-XX:SharedArchiveFile=" + archive + "/classes.jsa",
                                "-Dorg.sqlite.lib.path=" + archive,
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "-Xlog:disable",
                                "-Xmx1g",
                                "-Da=*",
                                "-jar",
                                folder.toRealPath() + "/keepsake.jar",
                                "add",
                                "--content",
                                "two words",
                                "",
                                "*",
                                "-XX:x\n"),
                        ""));
    }

    @Test
    void it_is_found_through_links_and_on_the_path() throws Exception {
        Path bin = Files.createDirectories(directory.resolve("bin/deep"));
        Files.createSymbolicLink(bin.resolve("first"), Path.of("../../a folder/keepsake"));
        Files.createSymbolicLink(directory.resolve("ks"), bin.resolve("first"));
        String jar = folder.toRealPath() + "/keepsake.jar";
        assertThat(end(start("./ks", "list")).out()).contains("\n" + jar + "\nlist\n");
        environment.put("PATH", bin + ":" + System.getenv("PATH"));
        assertThat(end(start("sh", "-c", "first list")).out()).contains("\n" + jar + "\nlist\n");
        environment.put("PATH", environment.get("JAVA_HOME") + "/bin:" + System.getenv("PATH"));
        environment.put("JAVA_HOME", "");
        assertThat(run("list").out()).as("java on the path").contains("\n" + jar + "\nlist\n");
    }

    @Test
    void without_java_it_tells_what_it_needs() throws Exception {
        environment.put("JAVA_HOME", directory.resolve("nowhere").toString());
        assertThat(run("list"))
                .isEqualTo(new Result(
                        1,
                        "",
                        "keepsake: Java 17 or newer is needed; set JAVA_HOME, or install it so that java is on the"
                                + " path\n"));
    }

    @Test
    void an_archive_is_of_one_java_one_set_of_jars_and_one_set_of_options() throws Exception {
        run("list");
        run("list");
        assertThat(archives()).hasSize(1);
        Files.setLastModifiedTime(folder.resolve("lib/some.jar"), FileTime.from(Instant.EPOCH));
        run("list");
        assertThat(archives()).as("another jar").hasSize(2);
        Files.writeString(Path.of(environment.get("JAVA_HOME"), "release"), "JAVA_VERSION=21");
        run("list");
        assertThat(archives()).as("another Java").hasSize(3);
        environment.put("KEEPSAKE_JAVA_OPTIONS", "-Xmx1g");
        run("list");
        assertThat(archives()).as("other options").hasSize(4);
        assertThat(made()).hasLineCount(4);
    }

    @Test
    void processes_that_begin_at_once_make_one_archive_and_all_run() throws Exception {
        environment.remove("KEEPSAKE_ARCHIVE");
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            processes.add(start(folder.resolve("keepsake").toString(), "list"));
        }
        for (Process process : processes) {
            assertThat(end(process))
                    .matches(result -> result.code() == 7 && result.err().isEmpty());
        }
        environment.put("KEEPSAKE_ARCHIVE", "wait");
        for (int i = 0;
                i < 100
                        && archives().stream()
                                .noneMatch(each -> !each.toString().endsWith(".part"));
                i++) {
            Thread.sleep(100);
        }
        assertThat(run("list").out()).contains("-XX:SharedArchiveFile=");
        assertThat(made()).hasLineCount(1);
        assertThat(archives()).hasSize(1);
    }

    @Test
    void what_a_killed_process_left_is_removed_after_a_while() throws Exception {
        run("list");
        Path archive = archives().get(0);
        Path left = archive.resolveSibling(archive.getFileName() + ".part");
        Files.move(archive, left);
        assertThat(run("list").out()).doesNotContain("SharedArchiveFile");
        Files.setLastModifiedTime(left, FileTime.from(Instant.now().minusSeconds(3_600)));
        assertThat(run("list").out()).contains("SharedArchiveFile");
        assertThat(archives()).containsExactly(archive);
    }

    @Test
    void without_a_cache_it_runs_quietly() throws Exception {
        for (String value : List.of("/dev/null", "/proc/none", "/dev/null/deeper")) {
            environment.put("XDG_CACHE_HOME", value);
            assertThat(run("list"))
                    .matches(result -> result.code() == 7 && result.err().isEmpty());
        }
        environment.put("XDG_CACHE_HOME", cache.toString());
        environment.put("KEEPSAKE_ARCHIVE", "off");
        assertThat(run("list").out()).startsWith("-XX:TieredStopAtLevel=1\n");
        environment.put("XDG_CACHE_HOME", "");
        environment.put("HOME", "");
        environment.put("KEEPSAKE_ARCHIVE", "wait");
        assertThat(run("list"))
                .matches(result -> result.code() == 7 && result.err().isEmpty());
        assertThat(cache).doesNotExist();
    }

    @Test
    void with_a_real_java_an_archive_is_made_and_a_broken_one_does_not_disturb() throws Exception {
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        realFolder();
        String log = "sqlite:" + directory.resolve("chat.db");
        String[] add = {"add", "--log", log, "--session", "a", "--content", "Hi"};
        assertThat(run(add)).isEqualTo(new Result(0, "user       Hi\n1 message, 8 tokens\n", ""));
        Path archive = archives().get(0);
        try (Stream<Path> files = Files.list(archive)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("classes.jsa", System.mapLibraryName("sqlitejdbc"));
        }
        assertThat(Files.size(archive.resolve("classes.jsa"))).isGreaterThan(5_000_000);
        assertThat(run("nothing"))
                .matches(result -> result.code() == 2 && result.out().isEmpty());

        Files.delete(archive.resolve("classes.jsa"));
        Files.writeString(archive.resolve("classes.jsa"), "no archive ".repeat(10_000));
        Files.delete(archive.resolve(System.mapLibraryName("sqlitejdbc")));
        assertThat(run("get", "--log", log, "--session", "a"))
                .isEqualTo(new Result(0, "user       Hi\n1 message, 8 tokens\n", ""));
    }

    /** Makes the jars as the build does. Java makes archives of jars only, so the classes are in one. */
    private void realFolder() throws IOException {
        StringBuilder classPath = new StringBuilder("lib/keepsake4j.jar");
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : all.split(File.pathSeparator)) {
            if (entry.endsWith(".jar") && !entry.contains("slf4j-simple")) {
                classPath.append(' ').append(Path.of(entry).toAbsolutePath().toUri());
            }
        }
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Main.class.getName());
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, classPath.toString());
        try (OutputStream file = Files.newOutputStream(folder.resolve("keepsake.jar"))) {
            new JarOutputStream(file, manifest).close();
        }
        Path classes = Path.of("target/classes");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(folder.resolve("lib/keepsake4j.jar")));
                Stream<Path> files = Files.walk(classes)) {
            jar.setLevel(Deflater.NO_COMPRESSION);
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                jar.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, jar);
                jar.closeEntry();
            }
        }
    }
}
