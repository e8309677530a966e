package io.github.keepsake4j.cli;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/** The data that a command prints, in UTF-8. Unlike a {@code PrintStream}, it fails when the data cannot be written. */
final class Output {

    private final OutputStream stream;
    private final Writer writer;
    private final boolean terminal;

    /** Thrown when the data cannot be written. */
    static final class FailedException extends RuntimeException {

        FailedException(IOException cause) {
            super("the output cannot be written: " + cause.getMessage(), cause);
        }

        boolean readerIsGone() {
            String problem = String.valueOf(getMessage());
            return problem.contains("pipe") || problem.contains("Pipe");
        }
    }

    /**
     * Creates an output.
     *
     * @param stream where the data goes
     * @param terminal whether each line must be visible at once
     */
    Output(OutputStream stream, boolean terminal) {
        this.stream = stream;
        this.writer = new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8));
        this.terminal = terminal;
    }

    void line(String text) {
        try {
            writer.write(text + "\n");
        } catch (IOException e) {
            throw new FailedException(e);
        }
        if (terminal) {
            flush();
        }
    }

    void flush() {
        try {
            writer.flush();
        } catch (IOException e) {
            throw new FailedException(e);
        }
    }

    /** Returns the stream itself, for writers of bytes. */
    OutputStream stream() {
        flush();
        return stream;
    }

    Writer writer() {
        return writer;
    }
}
