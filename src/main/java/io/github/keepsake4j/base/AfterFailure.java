package io.github.keepsake4j.base;

/** What is done after a failure, which stays the one that is thrown. */
public final class AfterFailure {

    /** A step that may fail too. */
    @FunctionalInterface
    public interface Step {
        /**
         * Does it.
         *
         * @throws Exception if it fails
         */
        void run() throws Exception;
    }

    private AfterFailure() {}

    /**
     * Runs a step. If it fails, its exception is suppressed by the first one.
     *
     * @param failure the first failure
     * @param step the step
     */
    public static void run(Throwable failure, Step step) {
        try {
            step.run();
        } catch (Exception e) {
            failure.addSuppressed(e);
        }
    }
}
