package io.github.keepsake4j.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A second process with the tests' class path: its lines come back, and it can be killed. */
public final class Child implements AutoCloseable {

    private final Process process;
    private final BufferedReader lines;

    private Child(Process process) {
        this.process = process;
        this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    public static Child start(Class<?> main, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", classPath(), main.getName()));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new Child(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** The next line that the child printed, or null at its end. */
    public String line() throws IOException {
        return lines.readLine();
    }

    /** All lines until the child ends by itself. */
    public List<String> awaitEnd() throws IOException, InterruptedException {
        List<String> all = lines.lines().toList();
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IllegalStateException("the child did not end well");
        }
        return all;
    }

    /** Kills with SIGKILL, and returns what the child had printed by then. */
    public List<String> kill() throws IOException, InterruptedException {
        // Not Process.destroyForcibly, which closes what the child has printed.
        process.toHandle().destroyForcibly();
        process.waitFor();
        return lines.lines().toList();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }
}
