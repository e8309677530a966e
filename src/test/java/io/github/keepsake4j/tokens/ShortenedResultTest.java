package io.github.keepsake4j.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random tool results of texts and media, shortened to random shares. */
class ShortenedResultTest {

    private static final TokenCounter COUNTER = TokenCounter.standard();

    private static Content content(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> ImageContent.from("aQ==", "image/png", ImageContent.DetailLevel.values()[random.nextInt(3)]);
            case 1 -> AudioContent.from("aQ==", "audio/wav");
            default -> TextContent.from("word ".repeat(1 + random.nextInt(3_000)));
        };
    }

    @Test
    void what_fits_stays_whole_and_the_text_is_cut_first() {
        long first = Counts.seed();
        int kept = 0;
        int left = 0;
        for (int run = 0; run < Counts.of(50, 10_000); run++) {
            Random random = new Random(first + run);
            List<Content> contents = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                contents.add(content(random));
            }
            ToolExecutionResultMessage whole = ToolExecutionResultMessage.builder()
                    .id("a")
                    .toolName("tool")
                    .contents(contents)
                    .isError(random.nextBoolean())
                    .build();
            int size = COUNTER.estimateTokenCountInMessage(whole);
            long share = 100 + random.nextInt(size);
            if (size <= share) {
                continue;
            }
            LoggedMessage logged = new LoggedMessage("1", null, 1, whole, size, COUNTER.name(), Instant.EPOCH);

            ShortenedResult result = TokenSizes.kept().apply("m").shortened(COUNTER, logged, share);

            String as = "seed %d share %d".formatted(first + run, share);
            assertThat(result.tokens()).as(as).isLessThanOrEqualTo(share);
            assertThat(COUNTER.estimateTokenCountInMessage(result.message()))
                    .as(as)
                    .isEqualTo((int) result.tokens());
            assertThat(ShortenedResult.isOf(result.message(), whole)).as(as).isTrue();
            List<Content> media = media(result.message());
            List<Content> missing = new ArrayList<>(media(whole));
            for (Content content : media) {
                assertThat(missing.remove(content)).as(as).isTrue();
            }
            for (Content content : missing) {
                long others = tokens(media) + tokens(List.of(content));
                assertThat(others + 40)
                        .as("%s: %s would fit", as, content.type())
                        .isGreaterThan(share);
            }
            kept += media.size();
            left += missing.size();
        }
        assertThat(kept).isPositive();
        assertThat(left).isPositive();
    }

    private static List<Content> media(ToolExecutionResultMessage result) {
        return result.contents().stream()
                .filter(content -> !(content instanceof TextContent))
                .toList();
    }

    private static long tokens(List<Content> contents) {
        return contents.isEmpty()
                ? 0
                : COUNTER.estimateTokenCountInMessage(ToolExecutionResultMessage.builder()
                        .id("a")
                        .toolName("tool")
                        .contents(contents)
                        .build());
    }
}
