package io.github.keepsake4j.testing;

/** How often a test repeats: rarely in the default build, and as often as the promise states with {@code -Pfull}. */
public final class Counts {

    private Counts() {}

    public static int of(int quick, int full) {
        return System.getProperty("keepsake.counts", "quick").equals("full") ? full : quick;
    }
}
