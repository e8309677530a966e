package io.github.keepsake4j.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Takes what a test tells about itself, such as its seed or its figures. It is printed when the test fails, or always with
 * {@code -Dkeepsake.tell=true}.
 */
public final class Tell {

    private static final List<String> LINES = new ArrayList<>();

    private Tell() {}

    /** Takes one line, without its end. */
    public static void line(String format, Object... arguments) {
        String line = arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
        if (Boolean.getBoolean("keepsake.tell")) {
            System.out.println(line);
        }
        synchronized (LINES) {
            LINES.add(line);
        }
    }

    /** Returns what was told since the last call. */
    static List<String> drain() {
        synchronized (LINES) {
            List<String> lines = List.copyOf(LINES);
            LINES.clear();
            return lines;
        }
    }
}
