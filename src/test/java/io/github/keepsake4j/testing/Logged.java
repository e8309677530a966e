package io.github.keepsake4j.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Captures what is logged during a step. It must not be used by tests that run in parallel with others. */
public final class Logged {

    private Logged() {}

    /** Returns the lines of the log, with level, logger and message, that are written during a step. */
    public static List<String> during(Runnable step) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        boolean done = false;
        try {
            step.run();
            done = true;
        } finally {
            System.setErr(before);
            if (!done) {
                // What was logged may say why the step failed.
                before.print(bytes.toString(StandardCharsets.UTF_8));
            }
        }
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
