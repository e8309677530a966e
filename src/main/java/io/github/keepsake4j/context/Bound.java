package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A limit, 1 or more, with the step that it moves in.
 *
 * @param name what errors call it
 * @param fixed the limit, or 0 if it depends on the memory
 * @param byMemoryId gives a limit that depends on the memory, or null
 * @param step how much more than needed may go at once; 0 for no more than needed
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

    /** With a step; where the limit depends on the memory, half of it at most counts. */
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
