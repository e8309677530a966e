package io.github.keepsake4j.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged meanwhile. Not for tests that run at the same time as others. */
public final class Logged {

    private Logged() {}

    /** The lines of the log, with level, logger and message, while something is done. */
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
