package io.github.keepsake4j.testing;

/** How often a test repeats: rarely in the default build, and as often as the promise states with {@code -Pfull}. */
public final class Counts {

    private Counts() {}

    public static int of(int quick, int full) {
        return isFull() ? full : quick;
    }

    /** Returns where a test of random cases begins: with other ones each time, or with those of {@code -Dkeepsake.seed}. */
    public static long seed() {
        return Long.getLong("keepsake.seed", System.nanoTime());
    }

    /** Returns the seed of generated text, which is the same each time in the default build. */
    public static long seed(long quick) {
        return isFull() ? seed() : Long.getLong("keepsake.seed", quick);
    }

    public static boolean isFull() {
        return System.getProperty("keepsake.counts", "quick").equals("full");
    }

    /** Returns whether this JVM was told to repeat rarely. An editor's and another process's are not, and do it all the same. */
    public static boolean isToldQuick() {
        return "quick".equals(System.getProperty("keepsake.counts"));
    }
}
