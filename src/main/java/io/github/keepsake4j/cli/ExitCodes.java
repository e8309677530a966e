package io.github.keepsake4j.cli;

/** The exit codes of the command line. */
final class ExitCodes {

    static final int OK = 0;
    static final int FAILED = 1;

    /** Nothing was changed. */
    static final int USAGE = 2;

    static final int DAMAGED = 3;
    static final int RETRY = 4;

    /** The exit code of a process that a closed pipe ends: 128 plus the number of the signal. */
    static final int OUTPUT_CLOSED = 141;

    private ExitCodes() {}
}
