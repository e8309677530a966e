package io.github.keepsake4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.testing.WordCounter;
import org.junit.jupiter.api.Test;

/** What is logged of limits when a Keepsake is built. */
class ExactLimitsTest {

    private final SlidingWindow exact = SlidingWindow.withMaxMessages(20);
    private final SlidingWindow stepping = SlidingWindow.withMaxTurns(30).step(5);

    @Test
    void an_exact_limit_beside_one_in_steps_is_told_with_what_to_do() {
        assertThat(Keepsake.Builder.exactBesideSteps(exact.and(stepping))).hasValueSatisfying(text -> assertThat(text)
                .contains("[maxMessages=20]", "[maxTurns=30 in steps of 5]", "steps()"));
    }

    @Test
    void limits_of_one_kind_are_not_told() {
        assertThat(Keepsake.Builder.exactBesideSteps(exact)).isEmpty();
        assertThat(Keepsake.Builder.exactBesideSteps(exact.and(TokenLimit.withMaxTokens(9, new WordCounter()))))
                .isEmpty();
        assertThat(Keepsake.Builder.exactBesideSteps(stepping.and(SlidingWindow.standard())))
                .isEmpty();
    }
}
