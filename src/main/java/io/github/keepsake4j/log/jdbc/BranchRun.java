package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.DamagedException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The part of one run that belongs to a branch: messages with successive sequences, each the parent of the next.
 *
 * @param low the sequence of its first message
 * @param high the sequence of its last message
 * @param up the parent of the first message: 0 for a root, null if the first message is missing or contradicts the
 * others
 */
record BranchRun(long low, long high, @Nullable Long up) {

    static final Comparator<BranchRun> NEWEST_FIRST =
            Comparator.comparingLong(BranchRun::high).reversed();

    /**
     * Reads the run that is in a row with the memory's row, which must be sound. There is no run if the memory has no
     * head.
     */
    static Optional<BranchRun> of(ResultSet row) throws SQLException {
        if (Memory.of(row).sound().headSeq() == null) {
            return Optional.empty();
        }
        return Optional.of(
                new BranchRun(Rows.number(row, "low"), Rows.number(row, "high"), Rows.nullableNumber(row, "up")));
    }

    /** Checks that a branch, newest first, continues from run to run until it reaches a sequence or its beginning. */
    static void checkBranch(List<BranchRun> runs, long lowest) {
        for (int i = 0; i < runs.size(); i++) {
            BranchRun run = runs.get(i);
            boolean goesOn = i + 1 < runs.size()
                    ? Objects.equals(run.up, runs.get(i + 1).high)
                    : run.up != null && (run.up == 0 || run.low <= lowest);
            if (!goesOn) {
                throw new DamagedException("the branch of the head is interrupted at message " + run.low);
            }
        }
    }

    boolean has(long sequence) {
        return sequence >= low && sequence <= high;
    }
}
