package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks that a token limit holds for the estimator's own count of the whole list, which is more than the sum of its
 * messages.
 */
@Tag("landing")
class TokenBudgetsTest {

    @Test
    void a_token_limit_holds_by_the_estimators_own_count_of_the_list() {
        JtokkitTokenCountEstimator estimator = JtokkitTokenCountEstimator.forModel("gpt-4o");
        TokenCounter counter = TokenCounter.of(estimator);
        Random random = new Random(seed());
        int shown = 0;
        for (int i = 0; i < Counts.of(40, 10_000); i++) {
            int limit = 30 + random.nextInt(700);
            TokenLimit tokens = TokenLimit.withMaxTokens(limit, estimator);
            ContextStrategy strategy = random.nextBoolean() ? tokens : tokens.step(1 + random.nextInt(limit / 2));
            RandomBranch branch = RandomBranch.random(random, 12, counter::count);
            for (Part part : branch.growth()) {
                View view = View.bounded(strategy).of(part);
                if (!view.overflow()) {
                    assertThat(estimator.estimateTokenCountInMessages(messages(view)))
                            .as("of %s", part)
                            .isLessThanOrEqualTo(limit);
                    shown += view.shown().isEmpty() ? 0 : 1;
                }
            }
        }
        assertThat(shown).isPositive();
    }

    private static List<ChatMessage> messages(View view) {
        return view.shown().stream().map(LoggedMessage::message).toList();
    }

    private static long seed() {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        Tell.line("TokenBudgetsTest -Dkeepsake.seed=" + seed);
        return seed;
    }
}
