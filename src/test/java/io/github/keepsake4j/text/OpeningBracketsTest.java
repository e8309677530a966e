package io.github.keepsake4j.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.text.Normalizer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OpeningBracketsTest {

    @Test
    void every_character_that_decomposes_to_an_opening_bracket_is_one() {
        String brackets = IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
                .mapToObj(Character::toString)
                .filter(each -> Normalizer.normalize(each, Normalizer.Form.NFKD).contains("<"))
                .collect(Collectors.joining());
        assertThat(Fence.BRACKETS).isEqualTo(brackets);
    }
}
