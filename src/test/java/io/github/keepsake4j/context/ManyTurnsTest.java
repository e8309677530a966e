package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The two promises with the largest counts, on nothing but what they are about. */
class ManyTurnsTest {

    private static final int SCENES = 40;

    /** Each turn is looked at twice: as soon as its user message is there, and at a random moment. */
    @Test
    void openai_anthropic_and_gemini_take_every_view_of_a_million_turns() {
        Random random = new Random(seed());
        long turns = 0;
        while (turns < Counts.of(20_000, 1_000_000)) {
            RandomBranch branch = RandomBranch.random(random, SCENES, Promises.COUNTER::count);
            ContextStrategy strategy = random.nextInt(3) == 0
                    ? Promises.combination(random).strategy()
                    : Promises.values()[random.nextInt(Promises.values().length)]
                            .random(random)
                            .strategy();
            View.Viewer viewer = random.nextBoolean() ? View.whole(strategy) : View.bounded(strategy);
            List<Part> growth = branch.growth();
            for (int i = 1; i < growth.size(); i++) {
                if (branch.messages().get(i - 1).message() instanceof UserMessage) {
                    isTaken(viewer.of(growth.get(i)), growth.get(i));
                    Part another = growth.get(random.nextInt(growth.size()));
                    isTaken(viewer.of(another), another);
                    turns++;
                }
            }
        }
    }

    @Test
    void a_token_limit_holds_by_the_estimators_own_count_of_the_list() {
        JtokkitTokenCountEstimator estimator = JtokkitTokenCountEstimator.forModel("gpt-4o");
        TokenCounter counter = TokenCounter.of(estimator);
        Random random = new Random(seed());
        int shown = 0;
        for (int i = 0; i < Counts.of(300, 10_000); i++) {
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

    private static void isTaken(View view, Part part) {
        assertThat(ProviderRules.all(messages(view))).as("of %s", part).isEmpty();
    }

    private static List<ChatMessage> messages(View view) {
        return view.shown().stream().map(LoggedMessage::message).toList();
    }

    private static long seed() {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        System.out.println("ManyTurnsTest -Dkeepsake.seed=" + seed);
        return seed;
    }
}
