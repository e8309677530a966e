package io.github.keepsake4j.context;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.context.Promise.Unit;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/**
 * Random strategies with the properties that they promise. The limits are such that a random branch soon reaches them.
 */
enum Promises {
    MESSAGES {
        @Override
        Promise random(Random random) {
            return Promise.window(Unit.MESSAGES, 1 + random.nextInt(14), 0);
        }
    },
    MESSAGES_WITH_STEP {
        @Override
        Promise random(Random random) {
            int half = 1 + random.nextInt(8);
            return Promise.window(Unit.MESSAGES, 2 * half + random.nextInt(2), 1 + random.nextInt(half));
        }
    },
    TURNS {
        @Override
        Promise random(Random random) {
            return Promise.window(Unit.TURNS, 1 + random.nextInt(6), 0);
        }
    },
    TURNS_WITH_STEP {
        @Override
        Promise random(Random random) {
            int half = 1 + random.nextInt(3);
            return Promise.window(Unit.TURNS, 2 * half + random.nextInt(2), 1 + random.nextInt(half));
        }
    },
    TOKENS {
        @Override
        Promise random(Random random) {
            return Promise.tokens(20 + random.nextInt(400), 0, ESTIMATOR);
        }
    },
    TOKENS_WITH_STEP {
        @Override
        Promise random(Random random) {
            int half = 20 + random.nextInt(200);
            return Promise.tokens(2 * half + random.nextInt(2), 1 + random.nextInt(half), ESTIMATOR);
        }
    },
    CLEARED {
        @Override
        Promise random(Random random) {
            return Promise.cleared(random.nextInt(4), 0);
        }
    },
    CLEARED_WHEN_WORTH_IT {
        @Override
        Promise random(Random random) {
            return Promise.cleared(random.nextInt(3), 1 + random.nextInt(200));
        }
    },
    PINNED_FIRST {
        @Override
        Promise random(Random random) {
            return Promise.pinnedFirst(1 + random.nextInt(8));
        }
    },
    PINNED {
        @Override
        Promise random(Random random) {
            return Promise.pinned(some(random));
        }
    },
    WANTED {
        @Override
        Promise random(Random random) {
            return Promise.wanted(some(random).negate());
        }
    };

    static final TokenCountEstimator ESTIMATOR = new FourPerWord();
    static final TokenCounter COUNTER = TokenCounter.of(ESTIMATOR);

    abstract Promise random(Random random);

    /** Simple numbers come from simple seeds, so shrinking works on them too. */
    Arbitrary<Promise> any() {
        return Arbitraries.longs().map(seed -> random(new Random(seed)));
    }

    /** Returns a combination of two to four different kinds, in any order. */
    static Promise combination(Random random) {
        List<Promises> kinds = new ArrayList<>(List.of(values()));
        Collections.shuffle(kinds, random);
        Promise promise = kinds.get(0).random(random);
        int left = 1 + random.nextInt(3);
        for (Promises kind : kinds.subList(1, kinds.size())) {
            Promise next = kind.random(random);
            if (left > 0 && !(promise.clears() && next.clears())) {
                promise = promise.and(next);
                left--;
            }
        }
        return promise;
    }

    /** Returns a combination of one limit with pinning and clearing. */
    static Promise pinnedAndLimited(Random random) {
        Promises limit = values()[random.nextInt(CLEARED.ordinal())];
        return limit.random(random).and((random.nextBoolean() ? PINNED_FIRST : PINNED).random(random));
    }

    /**
     * Pins only user messages. If a later message could pin a turn, the turn could come back, which would be correct.
     */
    private static Predicate<LoggedMessage> some(Random random) {
        int salt = random.nextInt();
        return message -> message.message() instanceof UserMessage
                && Math.floorMod((message.id().hashCode() ^ salt) * 0x9E3779B9, 7) == 0;
    }
}
