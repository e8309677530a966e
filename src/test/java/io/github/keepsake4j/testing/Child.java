package io.github.keepsake4j.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A second process with the tests' class path. A test can read its lines and kill it. */
public final class Child implements AutoCloseable {

    /** Most processes are over before a compiled method pays. */
    static final List<String> SHORT =
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=5");

    private final Process process;
    private final BufferedReader lines;

    private Child(Process process) {
        this.process = process;
        this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    public static Child start(Class<?> main, Object... arguments) throws IOException {
        return start(SHORT, main, arguments);
    }

    /** Starts a process with options for its JVM. */
    public static Child start(List<String> options, Class<?> main, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(ChildClassPath.options(classPath()));
        command.add(main.getName());
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new Child(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /**
     * Runs a process to its end, well or not, and returns all that it printed, errors too.
     *
     * @param before what comes before the tests' class path
     */
    public static String output(List<Path> before, Class<?> main, Object... arguments)
            throws IOException, InterruptedException {
        String first = before.stream().map(path -> path + File.pathSeparator).collect(Collectors.joining());
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(SHORT);
        command.add("-Dorg.slf4j.simpleLogger.log.io.github.keepsake4j=info");
        command.addAll(List.of("-cp", first + classPath(), main.getName()));
        Stream.of(arguments).map(Object::toString).forEach(command::add);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
            process.waitFor();
        }
    }

    /** Returns the next line that the child printed, or null at the end of its output. */
    public String line() throws IOException {
        return lines.readLine();
    }

    /** Returns all lines until the child ends by itself. */
    public List<String> awaitEnd() throws IOException, InterruptedException {
        List<String> all = lines.lines().toList();
        if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
            throw new IllegalStateException("the child did not end well");
        }
        return all;
    }

    /** Kills the child with SIGKILL, and returns what it had printed by then. */
    public List<String> kill() throws IOException, InterruptedException {
        // This does not use Process.destroyForcibly, which closes the child's output.
        process.toHandle().destroyForcibly();
        process.waitFor();
        return lines.lines().toList();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private static String classPath() {
        if (Child.class.getClassLoader() instanceof URLClassLoader loader) {
            // The class loader is that of Maven's own JVM.
            return Stream.of(loader.getURLs()).map(Child::path).collect(Collectors.joining(File.pathSeparator));
        }
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private static String path(URL url) {
        return Path.of(URI.create(url.toString())).toString();
    }
}
