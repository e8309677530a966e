package com.example.chat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The packaged application as a process of its own, with all that it prints. It is ended by its handle, since {@code Process}
 * would close the output.
 */
final class Started implements AutoCloseable {

    private static final long SECONDS = 300;

    private final Process process;
    private final BlockingQueue<String> unread = new LinkedBlockingQueue<>();
    private final Thread reader;

    private Started(Process process) {
        this.process = process;
        this.reader = new Thread(this::read, "output");
        reader.start();
    }

    /** Starts what was packaged in a directory below {@code target}. The database is in the working directory. */
    static Started in(Path workingDirectory, String packaged, List<String> properties, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Short-lived: it need not be fast later.
        command.add("-XX:TieredStopAtLevel=1");
        properties.forEach(each -> command.add("-D" + each));
        command.add("-jar");
        command.add(
                Path.of("target", packaged, "quarkus-run.jar").toAbsolutePath().toString());
        command.addAll(List.of(arguments));
        return new Started(new ProcessBuilder(command)
                .directory(workingDirectory.toFile())
                .redirectErrorStream(true)
                .start());
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            lines.lines().forEach(unread::add);
        } catch (IOException | RuntimeException e) {
            unread.add("The output could not be read: " + e);
        }
    }

    /** Returns the next line that the process prints. */
    String line() throws InterruptedException {
        String line = unread.poll(SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new IllegalStateException("Nothing was printed. Alive: " + process.isAlive());
        }
        return line;
    }

    void type(String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    void terminate() {
        process.toHandle().destroy();
    }

    void kill() {
        process.toHandle().destroyForcibly();
    }

    /** Waits for the end of the process and returns its exit code. */
    int exitCode() throws InterruptedException {
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("The process does not end");
        }
        reader.join();
        return process.exitValue();
    }

    /** Returns the lines that were not asked for. */
    List<String> rest() {
        return List.copyOf(unread);
    }

    @Override
    public void close() throws InterruptedException {
        kill();
        process.waitFor();
        reader.join();
    }
}
