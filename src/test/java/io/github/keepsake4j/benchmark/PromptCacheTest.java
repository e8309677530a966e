package io.github.keepsake4j.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.benchmark.PromptCacheBenchmark.Shares;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.tokens.TokenCounter;
import org.junit.jupiter.api.Test;

/** The default window and {@code steps()} keep what the report says. It counts and has no clock. */
class PromptCacheTest {

    @Test
    void the_default_keeps_most_of_a_prompt_and_uses_most_of_its_room() {
        Shares shares = PromptCacheBenchmark.measure(SlidingWindow.standard(), SlidingWindow.STANDARD_MESSAGES, false);

        assertThat(shares.sameWhenFull()).isGreaterThanOrEqualTo(0.86);
        assertThat(shares.fill()).isGreaterThanOrEqualTo(0.80);
    }

    @Test
    void tokens_in_steps_keep_most_of_a_prompt() {
        ContextStrategy tokens =
                TokenLimit.withMaxTokens(8000, TokenCounter.forModel("gpt-4o")).steps(ContextStrategy.THIRD);

        assertThat(PromptCacheBenchmark.measure(tokens, 8000, true).sameWhenFull())
                .isGreaterThanOrEqualTo(0.93);
    }
}
