package io.github.keepsake4j.codec;

import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * Checks that data that a released version stored stays readable. Lines of golden files are never changed, only added.
 */
class MessageCodecGoldenTest {

    private final MessageCodec codec = new MessageCodec();

    @Test
    void version1_is_read_and_still_written() throws IOException {
        List<String> lines = lines("golden-v1.jsonl");
        List<ChatMessage> expected = messages();
        assertThat(lines).hasSameSizeAs(expected);
        for (int i = 0; i < lines.size(); i++) {
            assertThat(codec.decode(lines.get(i))).as("line %d", i + 1).isEqualTo(expected.get(i));
            assertThat(codec.encode(expected.get(i))).as("line %d", i + 1).isEqualTo(lines.get(i));
        }
    }

    private static List<String> lines(String name) throws IOException {
        try (InputStream in = MessageCodecGoldenTest.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }

    private static List<ChatMessage> messages() {
        return List.of(
                SystemMessage.from("Be brief."),
                UserMessage.from("hello"),
                UserMessage.builder()
                        .name("")
                        .addContent(TextContent.from("NUL \0, lone \uD800, pair \uD83D\uDE00, quote \", line\n"))
                        .addContent(ImageContent.from("https://example.org/a.png", DetailLevel.ULTRA_HIGH))
                        .addContent(ImageContent.from("aGVsbG8=", "image/png"))
                        .addContent(AudioContent.from("bXAz", "audio/mp3"))
                        .addContent(AudioContent.from(Audio.builder()
                                .binaryData(new byte[] {0, -1, 7})
                                .mimeType("audio/wav")
                                .build()))
                        .addContent(VideoContent.from("https://example.org/v.mp4"))
                        .addContent(PdfFileContent.from("cGRm", "application/pdf"))
                        .attributes(Map.of("trace", "t-1"))
                        .build(),
                AiMessage.from(""),
                AiMessage.builder()
                        .thinking("hm")
                        .toolExecutionRequests(List.of(
                                call("1", "weather", "{\"city\": \"Munich\"}"),
                                ToolExecutionRequest.builder().build()))
                        .attributes(attributes())
                        .build(),
                ToolExecutionResultMessage.from("1", "weather", "sunny"),
                ToolExecutionResultMessage.builder()
                        .contents(List.of(TextContent.from("failed"), TextContent.from("twice")))
                        .isError(true)
                        .attributes(Map.of("found_tools", List.of("a", "b")))
                        .build(),
                ToolExecutionResultMessage.builder().text("").isError(false).build(),
                CustomMessage.from(Map.of()),
                CustomMessage.from(Map.of("k", Map.of())));
    }

    private static Map<String, Object> attributes() {
        Map<String, Object> taglike = new LinkedHashMap<>();
        taglike.put("@type", "long");
        taglike.put("value", List.of(1));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("@type", "not a tag up here");
        map.put("string", "text");
        map.put("true", true);
        map.put("null", null);
        map.put("int", -1);
        map.put("double", -0.0);
        map.put("list", List.of(1, "a"));
        map.put("map", Map.of("k", 1.5));
        map.put("long", 1L);
        map.put("short", (short) 2);
        map.put("byte", (byte) 3);
        map.put("float", 0.1f);
        map.put("nan", Double.NaN);
        map.put("infinity", Double.NEGATIVE_INFINITY);
        map.put("biginteger", BigInteger.TEN.pow(20));
        map.put("bigdecimal", new BigDecimal("1.10"));
        map.put("char", '\uDC00');
        map.put("instant", Instant.ofEpochSecond(1_767_780_000, 1_000));
        map.put("uuid", UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057"));
        map.put("uri", URI.create("https://example.org/%20?q#f"));
        map.put("set", new LinkedHashSet<>(List.of(1, 2L)));
        map.put("taglike", taglike);
        map.put(
                "generated_images",
                List.of(Image.builder()
                        .url("https://example.org/i.png")
                        .revisedPrompt("a cat")
                        .build()));
        return map;
    }
}
