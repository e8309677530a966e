package io.github.keepsake4j.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import dev.langchain4j.data.pdf.PdfFile;
import dev.langchain4j.data.video.Video;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomGenerator;
import net.jqwik.api.Tuple;
import net.jqwik.api.sessions.JqwikSession;

/** Generates messages. Use the arbitraries in a jqwik property, and {@link #sample} in a JUnit test. */
public final class Messages {

    private static final JsonMapper JSON = new JsonMapper();

    private Messages() {}

    /** Returns messages of every type, with everything that they can contain. */
    public static Arbitrary<ChatMessage> anyMessage() {
        return Arbitraries.oneOf(List.of(system(), user(), ai(), toolResult(), custom()));
    }

    /** Returns messages of text, tools and names only, which LangChain4j's token counter does not refuse. */
    public static Arbitrary<ChatMessage> countable() {
        Arbitrary<ChatMessage> user = Combinators.combine(
                        nullable(text()),
                        text().map(Messages::textContent).list().ofMinSize(1).ofMaxSize(3))
                .as(UserMessage::new);
        Arbitrary<ChatMessage> ai = Combinators.combine(nullable(text()), calls(arguments()))
                .as((text, calls) -> AiMessage.builder()
                        .text(text)
                        .toolExecutionRequests(calls)
                        .build());
        Arbitrary<ChatMessage> result =
                Combinators.combine(nullable(text()), text(), text()).as(ToolExecutionResultMessage::new);
        return Arbitraries.oneOf(List.of(system(), user, ai, result));
    }

    /**
     * Returns texts with words, characters of every plane, NUL, unpaired surrogates, and characters that formats treat
     * specially.
     */
    public static Arbitrary<String> text() {
        Arbitrary<String> anyChar = Arbitraries.integers().between(0, 0xFFFF).map(c -> String.valueOf((char) (int) c));
        Arbitrary<String> supplementary =
                Arbitraries.integers().between(0x10000, 0x10FFFF).map(Character::toString);
        Arbitrary<String> special = Arbitraries.of(
                "\0",
                "\uD800",
                "\uDBFF",
                "\uDC00",
                "\uDFFF",
                "\u2028",
                "\uFEFF",
                "\uFFFF",
                "\"",
                "\\",
                "\\u0000",
                "\r\n",
                "\t",
                "@type",
                "<|endoftext|>",
                "😀",
                "👩‍👩‍👧",
                "e\u0301",
                "中文",
                "'",
                "$1",
                "%s",
                "{{x}}");
        Arbitrary<String> words = Arbitraries.of(
                "The ", "quick", " brown ", "fox's", "12345", " jumps", "3.14", "naïve", "Straße ", "  ", "...", "x");
        return Arbitraries.frequencyOf(
                        Tuple.of(6, words), Tuple.of(2, anyChar), Tuple.of(1, supplementary), Tuple.of(3, special))
                .list()
                .ofMaxSize(12)
                .map(parts -> String.join("", parts));
    }

    /** Returns attributes with every Java type that is kept, nested. */
    public static Arbitrary<Map<String, Object>> attributes() {
        return Arbitraries.maps(key(), value(3)).ofMaxSize(4).map(HashMap::new);
    }

    public static Arbitrary<Image> image() {
        return Combinators.combine(nullable(uri()), nullable(base64()), nullable(mimeType()), nullable(text()))
                .as((url, data, type, prompt) -> Image.builder()
                        .url(url)
                        .base64Data(data)
                        .mimeType(type)
                        .revisedPrompt(prompt)
                        .build());
    }

    /**
     * Draws values outside of a jqwik property.
     *
     * @param seed the same seed draws the same values
     */
    public static <T> List<T> sample(Arbitrary<T> arbitrary, int count, long seed) {
        List<T> values = new ArrayList<>(count);
        JqwikSession.run(() -> {
            RandomGenerator<T> generator = arbitrary.generator(1000, true);
            Random random = new Random(seed);
            for (int i = 0; i < count; i++) {
                values.add(generator.next(random).value());
            }
        });
        return values;
    }

    private static Arbitrary<ChatMessage> system() {
        return text().filter(text -> !text.trim().isEmpty()).map(SystemMessage::from);
    }

    private static Arbitrary<ChatMessage> user() {
        return Combinators.combine(nullable(text()), contents(), nullable(attributes()))
                .as((name, contents, attributes) -> UserMessage.builder()
                        .name(name)
                        .contents(contents)
                        .attributes(attributes)
                        .build());
    }

    private static Arbitrary<ChatMessage> ai() {
        Arbitrary<Map<String, Object>> withImages = Combinators.combine(
                        attributes(), nullable(image().list().ofMaxSize(2)))
                .as((attributes, images) -> {
                    if (images != null) {
                        attributes.put(AiMessage.GENERATED_IMAGES_KEY, images);
                    }
                    return attributes;
                });
        return Combinators.combine(nullable(text()), nullable(text()), calls(nullable(text())), withImages)
                .as((text, thinking, calls, attributes) -> AiMessage.builder()
                        .text(text)
                        .thinking(thinking)
                        .toolExecutionRequests(calls)
                        .attributes(attributes)
                        .build());
    }

    private static Arbitrary<ChatMessage> toolResult() {
        return Combinators.combine(
                        nullable(text()),
                        nullable(text()),
                        contents(),
                        Arbitraries.of(true, false).injectNull(0.4),
                        attributes())
                .as((id, name, contents, isError, attributes) -> ToolExecutionResultMessage.builder()
                        .id(id)
                        .toolName(name)
                        .contents(contents)
                        .isError(isError)
                        .attributes(attributes)
                        .build());
    }

    private static Arbitrary<ChatMessage> custom() {
        return attributes().map(CustomMessage::from);
    }

    private static Arbitrary<List<ToolExecutionRequest>> calls(Arbitrary<String> arguments) {
        return Combinators.combine(nullable(text()), nullable(text()), arguments)
                .as((id, name, json) -> ToolExecutionRequest.builder()
                        .id(id)
                        .name(name)
                        .arguments(json)
                        .build())
                .list()
                .ofMaxSize(3);
    }

    /** Returns a JSON object as a model writes it, or null. */
    private static Arbitrary<String> arguments() {
        Arbitrary<Object> value = Arbitraries.oneOf(List.of(
                text().asGeneric(),
                Arbitraries.integers().asGeneric(),
                Arbitraries.doubles().asGeneric(),
                Arbitraries.of(true, false).asGeneric(),
                text().list().ofMaxSize(2).asGeneric(),
                Arbitraries.maps(key(), text()).ofMaxSize(2).asGeneric()));
        Arbitrary<String> objects =
                Arbitraries.maps(key(), value.injectNull(0.1)).ofMaxSize(3).map(Messages::json);
        return Arbitraries.frequencyOf(Tuple.of(8, objects), Tuple.of(1, Arbitraries.of("", " ", "\n", "{}")))
                .injectNull(0.1);
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Arbitrary<List<Content>> contents() {
        Arbitrary<Content> image =
                Combinators.combine(image(), Arbitraries.of(DetailLevel.class)).as(ImageContent::new);
        Arbitrary<Content> audio = Combinators.combine(
                        nullable(uri()), nullable(base64()), nullable(mimeType()), nullable(bytes()))
                .as((url, data, type, bytes) -> AudioContent.from(Audio.builder()
                        .url(url)
                        .base64Data(data)
                        .mimeType(type)
                        .binaryData(bytes)
                        .build()));
        Arbitrary<Content> video = Combinators.combine(nullable(uri()), nullable(base64()), nullable(mimeType()))
                .as((url, data, type) -> VideoContent.from(
                        Video.builder().url(url).base64Data(data).mimeType(type).build()));
        Arbitrary<Content> pdf = Combinators.combine(nullable(uri()), nullable(base64()), nullable(mimeType()))
                .as((url, data, type) -> PdfFileContent.from(PdfFile.builder()
                        .url(url)
                        .base64Data(data)
                        .mimeType(type)
                        .build()));
        Arbitrary<Content> text = text().map(Messages::textContent);
        return Arbitraries.frequencyOf(
                        Tuple.of(4, text), Tuple.of(1, image), Tuple.of(1, audio), Tuple.of(1, video), Tuple.of(1, pdf))
                .list()
                .ofMinSize(1)
                .ofMaxSize(3);
    }

    private static Content textContent(String text) {
        return TextContent.from(text);
    }

    private static Arbitrary<String> key() {
        return Arbitraries.oneOf(
                text(), Arbitraries.of("@type", "value", "v", "type", "id", "", "a.b", "thinking_signature"));
    }

    private static Arbitrary<Object> value(int depth) {
        Arbitrary<Object> scalar = Arbitraries.oneOf(List.of(
                text().asGeneric(),
                Arbitraries.of(true, false).asGeneric(),
                Arbitraries.integers().asGeneric(),
                Arbitraries.longs().asGeneric(),
                Arbitraries.shorts().asGeneric(),
                Arbitraries.bytes().asGeneric(),
                Arbitraries.doubles().asGeneric(),
                Arbitraries.of(0.0, -0.0, 1e300, Double.MIN_VALUE, Double.NaN, Double.NEGATIVE_INFINITY)
                        .asGeneric(),
                Arbitraries.floats().asGeneric(),
                Arbitraries.of(-0.0f, Float.NaN, Float.POSITIVE_INFINITY).asGeneric(),
                Arbitraries.bigIntegers().asGeneric(),
                Arbitraries.of(BigInteger.TEN.pow(400), BigInteger.ZERO).asGeneric(),
                Arbitraries.bigDecimals().ofScale(5).asGeneric(),
                Arbitraries.of(new BigDecimal("1.10"), new BigDecimal("1E+5"), new BigDecimal("0E-9"))
                        .asGeneric(),
                Arbitraries.integers()
                        .between(0, 0xFFFF)
                        .map(c -> (char) (int) c)
                        .asGeneric(),
                Arbitraries.of(Instant.EPOCH, Instant.MAX, Instant.MIN, Instant.ofEpochSecond(1, 123_456_789))
                        .asGeneric(),
                Arbitraries.create(UUID::randomUUID).asGeneric(),
                uri().asGeneric(),
                image().asGeneric()));
        Arbitrary<Object> maybe = scalar.injectNull(0.05);
        if (depth == 0) {
            return maybe;
        }
        Arbitrary<Object> inner = Arbitraries.lazy(() -> value(depth - 1));
        Arbitrary<Object> tagLike = Arbitraries.of("long", "map", "set", "future")
                .flatMap(tag -> inner.map(value -> {
                    Map<String, Object> map = new HashMap<>();
                    map.put("@type", tag);
                    map.put("value", value);
                    return map;
                }));
        return Arbitraries.frequencyOf(
                Tuple.of(8, maybe),
                Tuple.of(1, inner.list().ofMaxSize(3).asGeneric()),
                Tuple.of(1, inner.set().ofMaxSize(3).asGeneric()),
                Tuple.of(1, Arbitraries.maps(key(), inner).ofMaxSize(3).asGeneric()),
                Tuple.of(1, tagLike));
    }

    private static Arbitrary<URI> uri() {
        return Arbitraries.of(
                        "https://example.org/a.png?x=1&y=%20#f",
                        "http://images.test/ünï/文.jpg",
                        "data:image/png;base64,aGVsbG8=",
                        "gs://bucket/file",
                        "urn:isbn:0",
                        "relative/path",
                        "")
                .map(URI::create);
    }

    private static Arbitrary<String> base64() {
        return Arbitraries.oneOf(
                bytes().map(bytes -> Base64.getEncoder().encodeToString(bytes)),
                text().map(text -> Base64.getMimeEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8))),
                Arbitraries.of("", "not base64!"));
    }

    private static Arbitrary<byte[]> bytes() {
        return Arbitraries.bytes().array(byte[].class).ofMaxSize(40);
    }

    private static Arbitrary<String> mimeType() {
        return Arbitraries.of(
                "image/png", "audio/mp3", "video/mp4", "application/pdf", "text/plain; charset=utf-8", "");
    }

    private static <T> Arbitrary<T> nullable(Arbitrary<T> values) {
        return values.injectNull(0.3);
    }
}
