package io.github.keepsake4j.testing;

/** How often a test repeats: rarely in the default build, and as often as the promise states with {@code -Pfull}. */
public final class Counts {

    private Counts() {}

    public static int of(int quick, int full) {
        return isFull() ? full : quick;
    }

    /**
     * Where a test begins whose promise has a known rare exception: the default build tries the same cases each time, so
     * that it fails only for a change. Full runs try other ones each time.
     */
    public static long seed(long quick) {
        return Long.getLong("keepsake.seed", isFull() ? System.nanoTime() : quick);
    }

    public static boolean isFull() {
        return System.getProperty("keepsake.counts", "quick").equals("full");
    }
}
