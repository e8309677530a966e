package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.PlainJson;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Help.Ansi;

/** Runs commands in this process, and keeps what they print. */
final class Shell {

    private final Map<String, String> environment = new HashMap<>();
    private byte[] input = new byte[0];
    private Ansi ansi = Ansi.OFF;
    private boolean terminal;
    private long nanos;

    /** What a command printed, and its exit code. */
    record Result(int code, String out, String err) {

        List<String> lines() {
            return out.lines().toList();
        }

        /** The objects that were printed, each on a line. */
        List<Map<?, ?>> json() {
            List<Map<?, ?>> objects = new ArrayList<>();
            lines().forEach(line -> objects.add((Map<?, ?>) PlainJson.read("line", line)));
            return objects;
        }
    }

    Shell with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    Shell log(String uri) {
        return with("KEEPSAKE_LOG", uri);
    }

    Shell coloured() {
        ansi = Ansi.ON;
        return this;
    }

    /** Makes the error stream a terminal, and lets a second pass whenever a command asks for the time. */
    Shell onATerminal() {
        terminal = true;
        return coloured();
    }

    /** Sets the standard input of the next command. */
    Shell input(String text) {
        input = text.getBytes(StandardCharsets.UTF_8);
        return this;
    }

    Shell input(byte[] bytes) {
        input = bytes;
        return this;
    }

    Result run(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Host host = new Host(
                new ByteArrayInputStream(input),
                new Output(out, false),
                new PrintWriter(err, true, StandardCharsets.UTF_8),
                terminal,
                ansi,
                environment::get,
                () -> nanos += terminal ? 1_000_000_000 : 0);
        input = new byte[0];
        int code = CommandTree.run(host, arguments);
        return new Result(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** Runs a command that does well and tells nothing on the error stream. */
    Result good(String... arguments) {
        Result result = run(arguments);
        if (result.code() != 0 || !result.err().isEmpty()) {
            throw new AssertionError(List.of(arguments) + " ended with " + result);
        }
        return result;
    }
}
