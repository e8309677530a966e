package io.github.keepsake4j.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Messages;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import org.junit.jupiter.api.Test;

class MessageCodecPropertyTest {

    private static final int TRIES = Counts.of(1_000, 10_000);

    private final MessageCodec codec = new MessageCodec();
    private final long seed = Long.getLong("keepsake.seed", System.nanoTime());

    @Test
    void every_message_comes_back_equal() {
        List<ChatMessage> messages = Messages.sample(Messages.anyMessage(), TRIES, seed);
        assertThat(messages.stream().map(ChatMessage::type).distinct()).hasSize(5);
        for (ChatMessage message : messages) {
            String json = codec.encode(message);
            String run = "-Dkeepsake.seed=" + seed;
            assertThat(codec.decode(json)).as(run).isEqualTo(message);
            assertThat(codec.encode(codec.decode(json)).length()).as(run).isEqualTo(json.length());
            assertStorable(json);
        }
    }

    @Test
    void every_text_comes_back_equal() {
        for (String text : Messages.sample(Messages.text(), TRIES, seed)) {
            String json = codec.encodeText(text);
            assertThat(codec.decodeText(json)).as("-Dkeepsake.seed=" + seed).isEqualTo(text);
            assertStorable(json);
        }
    }

    @Test
    void every_map_of_strings_comes_back_equal_and_in_order() {
        var maps = Arbitraries.maps(Messages.text(), Messages.text()).ofMaxSize(5);
        for (Map<String, String> map : Messages.sample(maps, TRIES, seed)) {
            String json = codec.encodeStrings(map);
            assertThat(List.copyOf(codec.decodeStrings(json).entrySet()))
                    .as("-Dkeepsake.seed=" + seed)
                    .isEqualTo(List.copyOf(map.entrySet()));
            assertStorable(json);
        }
    }

    /**
     * Checks that there is no NUL and that every surrogate is in a pair, so that UTF-8 and every database can store the
     * text.
     */
    private static void assertStorable(String json) {
        assertThat(json.indexOf('\0')).isNegative();
        boolean lone = json.codePoints().anyMatch(c -> c >= 0xD800 && c <= 0xDFFF);
        assertThat(lone).isFalse();
    }
}
