package io.github.keepsake4j.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class PromptTagsTest {

    /** The words that count up from a sum of the text could be put into it, each of which cost a look at all of it. */
    @Test
    void words_that_follow_a_sum_of_the_text_are_not_the_next_ones_to_be_tried() {
        CRC32 sum = new CRC32();
        String before = "x";
        sum.update(before.getBytes(StandardCharsets.UTF_8));
        String word = PromptTags.around(List.of(before)).word();
        assertThat(word).isNotEqualTo(String.format("%08x", sum.getValue()));
        byte[] hash = new byte[32];
        long tried = Long.parseLong(PromptTags.free(List.of(), hash).word(), 16);
        String chosen = LongStream.range(tried, tried + 100)
                .mapToObj(number -> String.format("%08x ", number))
                .collect(Collectors.joining());
        assertThat(Long.parseLong(PromptTags.free(List.of(chosen), hash).word(), 16))
                .isNotEqualTo(tried + 100);
    }

    @Test
    void a_text_that_holds_the_very_word_of_its_fence_gets_another_one() {
        byte[] hash = new byte[32];
        String first = PromptTags.free(List.of(), hash).word();
        String second = PromptTags.free(List.of(first), hash).word();
        List<String> texts = List.of("a " + first, "B " + second.toUpperCase(Locale.ROOT));
        assertThat(PromptTags.free(texts, hash).word()).hasSize(8).isNotIn(first, second);
        assertThat(PromptTags.around(List.of("same"))).isEqualTo(PromptTags.around(List.of("same")));
        assertThat(new PromptTags("00ab00cd").occursIn("</SUMMARY-00AB00CD>")).isTrue();
    }
}
