package io.github.keepsake4j.tokens;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.ModelType;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
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
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.openai.OpenAiChatModelName;
import dev.langchain4j.model.openai.OpenAiTokenCountEstimator;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Messages;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class JtokkitTokenCountEstimatorTest {

    private static final int MILLION = 1 << 20;

    /**
     * JTokkit's assertions repeat its inner loops, so times that include them are meaningless. This takes effect if
     * JTokkit was not loaded yet.
     */
    static {
        ClassLoader.getSystemClassLoader().setPackageAssertionStatus("com.knuddels.jtokkit", false);
    }

    private static final EncodingRegistry ENCODINGS = Encodings.newLazyEncodingRegistry();

    private final JtokkitTokenCountEstimator estimator = JtokkitTokenCountEstimator.forModel("gpt-4o-mini");
    private final Encoding o200k = ENCODINGS.getEncoding(EncodingType.O200K_BASE);

    // Equality with LangChain4j's estimator

    @ParameterizedTest
    @ValueSource(strings = {"gpt-4o-mini", "o4-mini", "o3", "gpt-5", "gpt-3.5-turbo"})
    void counts_as_lang_chain4j_does(String model) {
        TokenCountEstimator upstream = new OpenAiTokenCountEstimator(model);
        TokenCountEstimator ours = JtokkitTokenCountEstimator.forModel(model);
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        // JTokkit's parser for the older encoding asserts that there is no unpaired surrogate.
        var generated = model.equals("gpt-3.5-turbo")
                ? Messages.countable().filter(message -> isUnicode(message.toString()))
                : Messages.countable();
        List<ChatMessage> messages = Messages.sample(generated, Counts.of(300, 10_000), seed);
        for (ChatMessage message : messages) {
            assertThat(ours.estimateTokenCountInMessage(message))
                    .as("-Dkeepsake.seed=" + seed + " %s", message)
                    .isEqualTo(upstream.estimateTokenCountInMessage(message));
        }
        assertThat(ours.estimateTokenCountInMessages(messages))
                .isEqualTo(upstream.estimateTokenCountInMessages(messages));
        assertThat(ours.estimateTokenCountInMessages(List.of()))
                .isEqualTo(upstream.estimateTokenCountInMessages(List.of()));
    }

    private static boolean isUnicode(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    static Stream<String> models() {
        return Stream.of(
                        Arrays.stream(ModelType.values()).map(ModelType::getName),
                        Arrays.stream(OpenAiChatModelName.values()).map(Object::toString),
                        Stream.of(
                                "gpt-4o-2024-11-20",
                                "gpt-4-0613",
                                "gpt-4-32k-x",
                                "gpt-3.5-turbo-0125",
                                "omni",
                                "gpt-4.5"))
                .flatMap(names -> names)
                .distinct();
    }

    @ParameterizedTest
    @MethodSource("models")
    void knows_the_models_that_lang_chain4j_knows(String model) {
        String text = "Hello, wörld! 12345678 中文文本 \t\n    indented \uD83D\uDE00";
        AiMessage message = AiMessage.from(text);
        JtokkitTokenCountEstimator ours = JtokkitTokenCountEstimator.forModel(model);
        TokenCountEstimator upstream = new OpenAiTokenCountEstimator(model);
        assertThat(ours.estimateTokenCountInMessage(message)).isEqualTo(upstream.estimateTokenCountInMessage(message));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "claude-sonnet", "gpt-3", "llama"})
    void unknown_models_are_an_error_that_names_the_field(String model) {
        assertThatThrownBy(() -> new OpenAiTokenCountEstimator(model)).isInstanceOf(IllegalArgumentException.class);
        assertThrown(InvalidInputException.class, () -> JtokkitTokenCountEstimator.forModel(model))
                .hasMessageStartingWith("modelName: ");
    }

    @Test
    void unknown_encodings_are_an_error() {
        assertThrown(InvalidInputException.class, () -> JtokkitTokenCountEstimator.forEncoding("o100k"))
                .hasMessageStartingWith("encodingName: ");
    }

    @Test
    void special_tokens_are_text() {
        String text = "<|endoftext|><|im_start|>";
        assertThat(estimator.estimateTokenCountInText(text))
                .isEqualTo(o200k.countTokensOrdinary(text))
                .isGreaterThan(2);
    }

    // Names

    @Test
    void equal_names_mean_equal_counts() {
        ChatMessage message = AiMessage.from("Straße 中文文本 1234567");
        Map<String, Integer> counts = new LinkedHashMap<>();
        models().forEach(model -> {
            JtokkitTokenCountEstimator ours = JtokkitTokenCountEstimator.forModel(model);
            int count = ours.estimateTokenCountInMessages(List.of(message));
            assertThat(counts.merge(ours.name(), count, (old, same) -> old)).isEqualTo(count);
        });
        assertThat(counts)
                .containsKeys(
                        "jtokkit:o200k_base", "jtokkit:cl100k_base", "jtokkit:o200k_base+o", "jtokkit:o200k_base+o4");
        assertThat(JtokkitTokenCountEstimator.forEncoding("o200k_base").name()).isEqualTo(estimator.name());
        assertThat(JtokkitTokenCountEstimator.forEncoding(EncodingType.CL100K_BASE))
                .hasToString("jtokkit:cl100k_base");
    }

    // Messages that LangChain4j's estimator refuses

    @Test
    void media_count_flat() {
        assertThat(user(ImageContent.from("http://a/b", DetailLevel.LOW))).isEqualTo(4 + 85);
        assertThat(user(ImageContent.from("http://a/b", DetailLevel.HIGH))).isEqualTo(4 + 765);
        assertThat(user(ImageContent.from("http://a/b", DetailLevel.AUTO))).isEqualTo(4 + 765);
        assertThat(user(ImageContent.from("http://a/b", DetailLevel.ULTRA_HIGH)))
                .isEqualTo(4 + 1105);
        assertThat(user(AudioContent.from("bXAz", "audio/mp3"))).isEqualTo(4 + 600);
        assertThat(user(VideoContent.from("http://a/b"))).isEqualTo(4 + 2000);
        assertThat(user(PdfFileContent.from("http://a/b"))).isEqualTo(4 + 2000);
    }

    private int user(Content content) {
        return estimator.estimateTokenCountInMessage(UserMessage.from(content));
    }

    @Test
    void several_contents_of_aTool_result_are_summed_up() {
        ChatMessage message = ToolExecutionResultMessage.builder()
                .contents(List.of(TextContent.from("a"), TextContent.from("b"), ImageContent.from("http://a/b")))
                .build();
        assertThat(estimator.estimateTokenCountInMessage(message)).isEqualTo(4 + 1 + 1 + 85);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"city\": \"Mun", "null", "[1]", "5", "oops", "{\"a\":1", "\u2003"})
    void arguments_that_are_no_object_count_as_text(String arguments) {
        ToolExecutionRequest call =
                ToolExecutionRequest.builder().name("a").arguments(arguments).build();
        int two = estimator.estimateTokenCountInMessage(AiMessage.from(call, call));
        int perCall = 7 + 1 + 2 + estimator.estimateTokenCountInText(arguments);
        assertThat(two).isEqualTo(4 + 21 + 2 * perCall);
    }

    @Test
    void deep_arguments_are_counted() {
        ToolExecutionRequest call = ToolExecutionRequest.builder()
                .name("a")
                .arguments("{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}")
                .build();
        assertThat(estimator.estimateTokenCountInMessage(AiMessage.from(call, call)))
                .isGreaterThan(100);
    }

    /** The hashes of these names collide in Jackson's table of names. */
    @Test
    void arguments_with_hostile_names_are_counted_and_harm_no_later_ones() {
        String names = IntStream.range(0, 2_000)
                .mapToObj(i -> IntStream.range(0, 11)
                        .mapToObj(bit -> (i >> bit & 1) == 0 ? "Ab" : "BA")
                        .collect(Collectors.joining("", "\"", "\":1")))
                .collect(Collectors.joining(",", "{", "}"));
        for (String arguments : List.of(names, "{\"a\":1,\"b\":2}", names)) {
            ToolExecutionRequest call = ToolExecutionRequest.builder()
                    .name("a")
                    .arguments(arguments)
                    .build();
            int perCall = 8
                    + Stream.of(arguments.replaceAll("[{}\"]", "").split(","))
                            .map(argument -> argument.split(":"))
                            .mapToInt(argument -> 2 + o200k.countTokensOrdinary(argument[0]) + 1)
                            .sum();
            assertThat(estimator.estimateTokenCountInMessage(AiMessage.from(call, call)))
                    .isEqualTo(4 + 21 + 2 * perCall);
        }
    }

    @Test
    void calls_without_name_or_arguments_are_counted() {
        ToolExecutionRequest empty = ToolExecutionRequest.builder().build();
        assertThat(estimator.estimateTokenCountInMessage(AiMessage.from(empty))).isEqualTo(4 + 5);
        assertThat(estimator.estimateTokenCountInMessage(AiMessage.from(empty, empty)))
                .isEqualTo(4 + 21 + 14);
        assertThat(estimator.estimateTokenCountInText(null)).isZero();
    }

    @Test
    void half_of_aSurrogate_pair_counts_as_aQuestion_mark() {
        for (EncodingType type : EncodingType.values()) {
            JtokkitTokenCountEstimator ours = JtokkitTokenCountEstimator.forEncoding(type);
            assertThat(ours.estimateTokenCountInText("a\uD800b \uDC00\uD83D\uDE00\uD83D"))
                    .isEqualTo(ours.estimateTokenCountInText("a?b ?\uD83D\uDE00?"));
        }
    }

    @Test
    void every_message_is_counted() {
        for (ChatMessage message : Messages.sample(Messages.anyMessage(), Counts.of(300, 10_000), 1)) {
            assertThat(estimator.estimateTokenCountInMessage(message)).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void custom_messages_count_their_text() {
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("role", List.of("critic", 7));
        assertThat(estimator.estimateTokenCountInMessage(CustomMessage.from(attributes)))
                .isEqualTo(4 + estimator.estimateTokenCountInText("role critic 7"));
        List<Object> cycle = new ArrayList<>();
        cycle.addAll(List.of(cycle, cycle));
        assertThat(estimator.estimateTokenCountInMessage(CustomMessage.from(Map.of("a", cycle))))
                .isEqualTo(5);
    }

    // Long and hostile texts

    @Test
    void long_prose_is_counted_exactly() {
        Random random = new Random(1);
        String[] words = {"The", "naïve", "fox's", "中文", "12,345", "e.g.", "\n\n", "(jumps)", "😀", "  over", "IT'S"};
        String text = IntStream.range(0, 60_000)
                .mapToObj(i -> words[random.nextInt(words.length)])
                .collect(Collectors.joining(" "));
        assertThat(text).hasSizeGreaterThan(4 * TextCounter.MAX_WHOLE);
        for (EncodingType type : EncodingType.values()) {
            int exact = ENCODINGS.getEncoding(type).countTokensOrdinary(text);
            assertThat(JtokkitTokenCountEstimator.forEncoding(type).estimateTokenCountInText(text))
                    .isEqualTo(exact);
        }
    }

    static Map<String, String> hostile(int length) {
        Random random = new Random(1);
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("one letter", "a".repeat(length));
        texts.put("one capital", "A".repeat(length));
        texts.put("spaces", " ".repeat(length));
        texts.put("line feeds", "\n".repeat(length));
        texts.put("equals signs", "=".repeat(length));
        texts.put("digits", "1".repeat(length));
        texts.put("emoji", "x" + "\uD83D\uDE00".repeat(length / 2));
        texts.put("lone surrogates", "\uD800".repeat(length));
        texts.put("combining", "\u0301".repeat(length));
        texts.put("letters", random(random, length, 'a', 26));
        texts.put("capitals", random(random, length, 'A', 26));
        texts.put("CJK", random(random, length, 0x4E00, 20_000));
        texts.put("punctuation", random(random, length, '!', 15));
        return texts;
    }

    private static String random(Random random, int length, int first, int count) {
        StringBuilder text = new StringBuilder(length);
        random.ints(length, first, first + count).forEach(c -> text.append((char) c));
        return text.toString();
    }

    @Test
    void pieces_of_unbroken_text_count_nearly_the_same() {
        hostile(Counts.of(70_000, 100_000)).forEach((name, text) -> {
            int exact = o200k.countTokensOrdinary(text);
            int pieces = text.length() / TextCounter.PIECE + 1;
            assertThat(estimator.estimateTokenCountInText(text)).as(name).isCloseTo(exact, within(2 * pieces));
        });
    }

    @Test
    void samples_of_very_long_text_count_nearly_the_same() {
        String text = ("The quick brown fox jumps over the lazy dog, " + "x".repeat(40) + " 中文😀 ").repeat(60_000);
        assertThat(text).hasSizeGreaterThan(TextCounter.MAX_COUNTED);
        int exact = o200k.countTokensOrdinary(text);
        assertThat((double) estimator.estimateTokenCountInText(text)).isCloseTo(exact, within(exact * 0.01));
    }

    @Tag("landing")
    @Test
    void text_up_to_the_stated_length_is_counted_whole() {
        for (String text : hostile(TextCounter.MAX_WHOLE).values()) {
            String whole = text.substring(0, Math.min(text.length(), TextCounter.MAX_WHOLE));
            assertThat(estimator.estimateTokenCountInText(whole)).isEqualTo(o200k.countTokensOrdinary(whole));
        }
    }

    @Test
    void pieces_cover_the_text_and_split_no_pair() {
        hostile(100_000).values().forEach(text -> {
            int start = 0;
            while (start < text.length()) {
                int end = TextCounter.pieceEnd(text, start);
                assertThat(end).isGreaterThan(start).isLessThanOrEqualTo(start + TextCounter.PIECE);
                if (end < text.length()) {
                    boolean pair = Character.isSurrogatePair(text.charAt(end - 1), text.charAt(end));
                    assertThat(pair).isFalse();
                }
                start = end;
            }
            assertThat(start).isEqualTo(text.length());
        });
    }

    @Tag("landing")
    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void hostile_text_is_counted_in_bounded_time() {
        estimator.estimateTokenCountInText("warm-up");
        hostile(Counts.of(MILLION / 8, MILLION)).forEach((name, text) -> {
            int tokens = estimator.estimateTokenCountInText(text);
            assertThat(tokens).isPositive();
        });
        String huge = "a".repeat(Counts.of(10, 100) * MILLION);
        long start = cpuMillis();
        assertThat(estimator.estimateTokenCountInText(huge)).isCloseTo(huge.length() / 8, within(100_000));
        long millis = cpuMillis() - start;
        // It takes less than a second; what is not linear takes hours.
        assertThat(millis).isLessThan(60_000);
    }

    /** Returns the CPU time of this thread, so that other tests and other work on the machine do not count. */
    private static long cpuMillis() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1_000_000;
    }

    @Test
    void counts_are_the_same_across_threads() {
        String text = "The quick brown fox 😀 ".repeat(200);
        int expected = estimator.estimateTokenCountInMessage(SystemMessage.from(text));
        assertThat(IntStream.range(0, 200).parallel().map(i -> JtokkitTokenCountEstimator.forModel("gpt-4o")
                        .estimateTokenCountInMessage(SystemMessage.from(text))))
                .containsOnly(expected);
    }
}
