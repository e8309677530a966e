package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A limit of 1 or more, and the step in which it moves.
 *
 * @param name the name of the limit in error messages
 * @param fixed the limit, or 0 if it depends on the memory
 * @param byMemoryId returns the limit for a memory, or null if the limit is fixed
 * @param step returns the largest surplus that may be removed at once, for a limit; null to remove no more than
 *     necessary
 */
record Bound(String name, int fixed, @Nullable Function<Object, Integer> byMemoryId, @Nullable IntUnaryOperator step) {

    /** The largest part of a limit that may be removed at once. */
    private static final double MOST = 0.5;

    static Bound of(String name, int limit) {
        return new Bound(name, check(name, limit, ""), null, null);
    }

    static Bound of(String name, Function<Object, Integer> byMemoryId) {
        return new Bound(name, 0, InvalidInputException.given(name, byMemoryId), null);
    }

    int limit(Object memoryId) {
        return byMemoryId == null ? fixed : check(name, byMemoryId.apply(memoryId), " for memory " + memoryId);
    }

    boolean isExact() {
        return step == null;
    }

    long step(Object memoryId) {
        return step == null ? 0 : step.applyAsInt(limit(memoryId));
    }

    /**
     * Returns a copy with a step. If the limit depends on the memory, at most half of that limit is used as the step.
     */
    Bound stepping(int newStep) {
        int most = byMemoryId == null ? fixed / 2 : Integer.MAX_VALUE;
        if (newStep < 1 || newStep > most) {
            throw new InvalidInputException(
                    "step", "must be 1 or more and at most half of " + name + ", is " + newStep);
        }
        return new Bound(name, fixed, byMemoryId, limit -> Math.min(newStep, limit / 2));
    }

    /** Returns this bound if it has a step, or else a copy whose step is a share of the limit. */
    Bound steps(double share) {
        if (!(share > 0 && share <= MOST)) {
            throw new InvalidInputException(
                    "share", "must be more than 0 and at most " + MOST + " of " + name + ", is " + share);
        }
        return step == null ? new Bound(name, fixed, byMemoryId, limit -> (int) (limit * share)) : this;
    }

    @Override
    public String toString() {
        if (byMemoryId != null) {
            return name + " by memory id" + (step == null ? "" : " in steps");
        }
        return name + "=" + fixed + (step == null ? "" : " in steps of " + step.applyAsInt(fixed));
    }

    private static int check(String name, @Nullable Integer limit, String where) {
        if (limit == null || limit < 1) {
            throw new InvalidInputException(name, "must be 1 or more, is " + limit + where);
        }
        return limit;
    }
}
