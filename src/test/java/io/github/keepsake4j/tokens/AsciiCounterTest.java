package io.github.keepsake4j.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import io.github.keepsake4j.testing.Counts;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Texts of ASCII are counted without a regular expression, and exactly as with the one of the encoding. */
class AsciiCounterTest {

    private static final Encoding ENCODING = Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.O200K_BASE);

    private static final String[] PARTS = {
        "'",
        "'s",
        "'RE",
        "'ll",
        "'x",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        " \n",
        "/",
        "//",
        "a",
        "A",
        "word",
        "Word",
        "WORD",
        "wordWord",
        "1",
        "12",
        "1234",
        "-",
        "--",
        "...",
        "=",
        "{",
        "\"",
        "don't",
        "I'M",
        "http://a.b/c?d=1",
        "_",
        "  x"
    };

    private final AsciiCounter counter = new AsciiCounter(ENCODING::countTokensOrdinary);

    @Test
    void each_text_has_the_tokens_of_the_encoding() {
        long seed = Counts.seed();
        Random random = new Random(seed);
        for (int run = 0; run < Counts.of(4_000, 400_000); run++) {
            String text = random.nextBoolean() ? ofParts(random) : ofCharacters(random);
            assertThat(counter.count(text))
                    .as("-Dkeepsake.seed=%s, run %s: %s", seed, run, text)
                    .isEqualTo(ENCODING.countTokensOrdinary(text));
        }
    }

    private static String ofParts(Random random) {
        StringBuilder text = new StringBuilder();
        for (int parts = random.nextInt(30); parts > 0; parts--) {
            text.append(PARTS[random.nextInt(PARTS.length)]);
        }
        return text.toString();
    }

    private static String ofCharacters(Random random) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(60); length > 0; length--) {
            int c = random.nextInt(128);
            text.append(c < ' ' ? " \t\n\r".charAt(c % 4) : c > '~' ? 'e' : (char) c);
        }
        return text.toString();
    }

    @Test
    void any_other_character_is_left_to_the_encoding() {
        for (String other : new String[] {"é", "a\u00a0b", "中", "\ud83d\ude00", "\u0000", "\u000b", "\u007f"}) {
            assertThat(counter.count("word " + other)).isEqualTo(AsciiCounter.NOT_ASCII);
        }
    }
}
