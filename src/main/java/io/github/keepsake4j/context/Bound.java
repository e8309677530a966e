package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A limit of 1 or more, and the step in which it moves.
 *
 * @param name the name of the limit in error messages
 * @param fixed the limit, or 0 if it depends on the memory
 * @param byMemoryId returns the limit for a memory, or null if the limit is fixed
 * @param step the largest surplus that may be removed at once; 0 to remove no more than necessary
 */
record Bound(String name, int fixed, @Nullable Function<Object, Integer> byMemoryId, int step) {

    static Bound of(String name, int limit) {
        return new Bound(name, check(name, limit, ""), null, 0);
    }

    static Bound of(String name, Function<Object, Integer> byMemoryId) {
        return new Bound(name, 0, Objects.requireNonNull(byMemoryId, name), 0);
    }

    int limit(Object memoryId) {
        return byMemoryId == null ? fixed : check(name, byMemoryId.apply(memoryId), " for memory " + memoryId);
    }

    long step(Object memoryId) {
        return Math.min(step, limit(memoryId) / 2);
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
        return new Bound(name, fixed, byMemoryId, newStep);
    }

    private static int check(String name, @Nullable Integer limit, String where) {
        if (limit == null || limit < 1) {
            throw new InvalidInputException(name, "must be 1 or more, is " + limit + where);
        }
        return limit;
    }
}
