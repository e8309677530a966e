package io.github.keepsake4j.codec;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageCodecTest {

    private static final String SECRET = "s3cret-words-of-a-user";

    private final MessageCodec codec = new MessageCodec();

    @Test
    void writes_field_names_of_lang_chain4j_and_aVersion() {
        assertThat(codec.encode(UserMessage.from("Klaus", "hello")))
                .isEqualTo(
                        "{\"v\":1,\"type\":\"USER\",\"name\":\"Klaus\",\"contents\":[{\"type\":\"TEXT\",\"text\":\"hello\"}]}");
    }

    // LangChain4j's own corpus

    /** Uses reflection, because the test class is package-private, and a copy would not grow with LangChain4j's. */
    static List<Arguments> upstreamCorpus() throws Exception {
        Method provider = Class.forName("dev.langchain4j.data.message.ChatMessageSerializerTest")
                .getDeclaredMethod("should_serialize_and_deserialize_chat_message");
        provider.setAccessible(true);
        return ((Stream<?>) provider.invoke(null)).map(Arguments.class::cast).toList();
    }

    @Test
    void upstream_corpus_is_there() throws Exception {
        assertThat(upstreamCorpus()).hasSizeGreaterThan(10);
    }

    @ParameterizedTest
    @MethodSource("upstreamCorpus")
    void upstream_message_comes_back_equal(ChatMessage message, String upstreamJson) {
        assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
        assertThat(codec.decode(upstreamJson)).isEqualTo(message);
        assertThat(codec.decode(ChatMessageSerializer.messageToJson(message))).isEqualTo(message);
    }

    @Test
    void reads_older_json_of_lang_chain4j() {
        assertThat(
                        codec.decode(
                                "{\"id\":\"1\",\"toolName\":\"weather\",\"text\":\"sunny\",\"type\":\"TOOL_EXECUTION_RESULT\"}"))
                .isEqualTo(ToolExecutionResultMessage.from("1", "weather", "sunny"));
        assertThat(codec.decode("{\"type\":\"AI\"}"))
                .isEqualTo(AiMessage.builder().build());
    }

    @Test
    void takes_nothing_for_aTag_in_json_that_lang_chain4j_wrote() {
        Map<String, Object> taglike = Map.of("@type", "long", "value", "1");
        ChatMessage message = CustomMessage.from(Map.of("a", taglike));
        assertThat(codec.decode(ChatMessageSerializer.messageToJson(message))).isEqualTo(message);
    }

    // Attributes

    @Test
    void attributes_of_aUser_message_stay_mutable() {
        UserMessage decoded = (UserMessage) codec.decode(codec.encode(UserMessage.builder()
                .addContent(TextContent.from("hi"))
                .attributes(Map.of("a", 1L))
                .build()));
        decoded.attributes().put("b", 2);
        assertThat(decoded.attributes()).isEqualTo(Map.of("a", 1L, "b", 2));
    }

    @Test
    void generated_images_are_images_again() {
        Image image = Image.builder()
                .url("https://example.org/a.png")
                .revisedPrompt("a cat")
                .build();
        AiMessage message = AiMessage.builder()
                .text("here")
                .attributes(Map.of(AiMessage.GENERATED_IMAGES_KEY, List.of(image)))
                .build();
        AiMessage decoded = (AiMessage) codec.decode(codec.encode(message));
        assertThat(decoded.images().get(0).revisedPrompt()).isEqualTo("a cat");
    }

    @Test
    void collections_of_any_class_come_back_equal() {
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("list", Arrays.asList(1, null, List.of()));
        attributes.put("set", new TreeSet<>(List.of(2L, 1L)));
        attributes.put("map", new LinkedHashMap<>(Map.of("@type", "map", "value", Map.of("@type", "long"))));
        ChatMessage message = CustomMessage.from(attributes);
        assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
    }

    @Test
    void what_cannot_come_back_is_refused_by_path_and_class() {
        refused(List.of(1, 2, Map.of("b", new ArrayDeque<>(List.of(SECRET)))), "attributes.a[2].b", "ArrayDeque");
        refused(new String[] {SECRET}, "attributes.a", "java.lang.String[]");
        refused(Map.of("k", new byte[1]), "attributes.a.k", "byte[]");
        refused(Map.of(5, SECRET), "attributes.a", "java.lang.Integer");
        refused(new StringBuilder(SECRET), "attributes.a", "java.lang.StringBuilder");
        refused(DetailLevel.LOW, "attributes.a", "DetailLevel");
        refused(URI.create("a/b").relativize(URI.create("a/b/c:" + SECRET)), "attributes.a", "URI");
    }

    private void refused(Object value, String path, String type) {
        assertThrown(InvalidInputException.class, () -> codec.encode(CustomMessage.from(Map.of("a", value))))
                .hasMessageStartingWith(path + ": ")
                .hasMessageContaining(type)
                .hasNoCause()
                .satisfies(MessageCodecTest::leaksNothing);
    }

    @Test
    void deep_attributes_come_back_up_to_the_limit() {
        ChatMessage deepest = CustomMessage.from(nestedMaps(AttributeWriter.MAX_DEPTH - 1));
        assertThat(codec.encode(codec.decode(codec.encode(deepest)))).isEqualTo(codec.encode(deepest));
        for (int depth : new int[] {AttributeWriter.MAX_DEPTH, 100_000}) {
            assertThrown(
                    InvalidInputException.class,
                    () -> codec.encode(CustomMessage.from(nestedMaps(depth))),
                    "nests deeper");
        }
    }

    /** The maps need the wrapper, which nests twice. */
    @Test
    void deep_tagged_attributes_come_back_up_to_the_limit() {
        int accepted = 0;
        for (int depth = 200; depth < 300; depth++) {
            Map<String, Object> map = new HashMap<>(Map.of("@type", "x"));
            for (int i = 0; i < depth; i++) {
                map = new HashMap<>(Map.of("@type", map));
            }
            String json;
            try {
                json = codec.encode(CustomMessage.from(map));
            } catch (InvalidInputException e) {
                continue;
            }
            accepted++;
            assertThat(codec.decode(json)).isEqualTo(CustomMessage.from(map));
        }
        assertThat(accepted).isBetween(1, 99);
    }

    private static Map<String, Object> nestedMaps(int levels) {
        Map<String, Object> map = Map.of();
        for (int i = 1; i < levels; i++) {
            map = Map.of("k", map);
        }
        return map;
    }

    @Test
    void structures_that_contain_themselves_are_refused() {
        List<Object> cycle = new ArrayList<>();
        cycle.add(List.of(cycle, cycle));
        refused(cycle, "attributes.a[0][0]", "contains itself");
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void structures_that_share_their_parts_are_bounded() {
        Object shared = List.of();
        for (int i = 0; i < 100; i++) {
            shared = List.of(shared, shared);
        }
        Object value = shared;
        assertThrown(InvalidInputException.class, () -> codec.encode(CustomMessage.from(Map.of("a", value))), "values");
        Object twice = List.of(1);
        ChatMessage fine = CustomMessage.from(Map.of("a", List.of(twice, twice)));
        assertThat(codec.decode(codec.encode(fine))).isEqualTo(fine);
    }

    // Classes

    @Test
    void subclasses_are_refused_by_name() {
        ChatMessage system = new SystemMessage(SECRET) {};
        ChatMessage unrelated = () -> ChatMessageType.CUSTOM;
        ChatMessage content = UserMessage.from(new TextContent(SECRET) {});
        for (ChatMessage message : List.of(system, unrelated, content)) {
            assertThrown(
                            InvalidInputException.class,
                            () -> codec.encode(message),
                            getClass().getName())
                    .satisfies(MessageCodecTest::leaksNothing);
        }
        assertThrown(InvalidInputException.class, () -> codec.encode(UserMessage.from(AudioContent.from((Audio) null))))
                .hasMessageStartingWith("contents[0].audio");
    }

    @ParameterizedTest
    @EnumSource
    void every_detail_level_is_kept(DetailLevel level) {
        ChatMessage message = UserMessage.from(ImageContent.from("https://example.org/a.png", level));
        assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
    }

    // Tolerance

    @Test
    void unknown_fields_are_ignored() {
        assertThat(codec.decode(
                        "{\"v\":7,\"type\":\"USER\",\"mood\":{\"a\":[1]},\"contents\":[{\"type\":\"IMAGE\",\"x\":0,"
                                + "\"image\":{\"url\":\"http://a/b\",\"alt\":\"c\"},\"detailLevel\":\"EXTREME\"}]}"))
                .isEqualTo(UserMessage.from(ImageContent.from("http://a/b", DetailLevel.AUTO)));
    }

    @Test
    void unknown_content_leaves_aTrace() {
        assertThat(codec.decode("{\"v\":2,\"type\":\"USER\",\"contents\":[{\"type\":\"HOLOGRAM\",\"w\":1},"
                        + "{\"type\":\"TEXT\",\"text\":\"hi\"}]}"))
                .isEqualTo(
                        UserMessage.from(TextContent.from("[unsupported content: HOLOGRAM]"), TextContent.from("hi")));
    }

    @Test
    void unknown_message_keeps_its_fields() {
        String json =
                "{\"v\":9,\"type\":\"SMELL\",\"strength\":0.50,\"n\":[1,12345678901,123456789012345678901234567890,"
                        + "1E400,true,null],\"nested\":{\"@type\":\"long\",\"value\":\"\\ud800\"}}";
        ChatMessage decoded = codec.decode(json);
        assertThat(decoded).isInstanceOf(UnknownMessage.class);
        assertThat(((UnknownMessage) decoded).attributes())
                .containsEntry("type", "SMELL")
                .containsEntry("v", 9);
        assertThat(codec.decode(codec.encode(decoded))).isEqualTo(decoded);
        assertThat(codec.encode(decoded)).isEqualTo(json.replace("0.50", "0.5").replace("1E400", "1E+400"));
        assertThrown(InvalidInputException.class, () -> codec.encode(new UnknownMessage(Map.of("a", "b"))));
    }

    @Test
    void deep_unknown_message_is_written_back() {
        int levels = Json.MAX_DEPTH - 1;
        String json = "{\"type\":\"X\",\"a\":" + "[".repeat(levels) + "]".repeat(levels) + "}";
        assertThat(codec.encode(codec.decode(json))).isEqualTo(json);
    }

    @Test
    void unknown_tag_stays_aPlain_map() {
        ChatMessage decoded = codec.decode(
                "{\"v\":2,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"money\",\"value\":{\"@type\":\"long\",\"value\":\"5\"}}}}");
        assertThat(decoded).isEqualTo(CustomMessage.from(Map.of("a", Map.of("@type", "money", "value", 5L))));
    }

    // Size and odd characters

    @Test
    void large_texts_keys_and_numbers_come_back() {
        ChatMessage message = CustomMessage.from(
                Map.of("k".repeat(100_000), "t".repeat(21_000_000), "n", BigInteger.TEN.pow(20_000)));
        assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
    }

    @Test
    void nul_and_lone_surrogates_are_escaped_everywhere() {
        String odd = "\0\uD83D|\uDE00\uD83D\uDE00\uDE00\uD83D";
        Map<String, Object> attributes = new HashMap<>();
        attributes.put(odd, Map.of(odd, odd.charAt(1)));
        ChatMessage message = UserMessage.builder()
                .name(odd)
                .addContent(TextContent.from(odd))
                .attributes(attributes)
                .build();
        String json = codec.encode(message);
        assertThat(json).contains("\\u0000\\ud83d|\\ude00\uD83D\uDE00\\ude00\\ud83d\"");
        assertThat(new String(json.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(json);
        assertThat(codec.decode(json)).isEqualTo(message);
    }

    /** The hashes of these names would collide in Jackson's shared table of names, which fails at some point. */
    @Test
    void many_new_keys_are_read() {
        Map<String, Object> attributes = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            StringBuilder key = new StringBuilder();
            for (int bit = 0; bit < 15; bit++) {
                key.append((i >> bit & 1) == 0 ? "Ab" : "BA");
            }
            attributes.put(key.toString(), i);
        }
        ChatMessage message = CustomMessage.from(attributes);
        assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
    }

    /** LangChain4j accepts these messages: it trims, and trimming leaves wide spaces. */
    @Test
    void system_messages_of_wide_spaces_come_back() {
        ChatMessage message = SystemMessage.from("\u2003");
        assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
    }

    // Errors

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "[]",
                "\"SECRET\"",
                "SECRET",
                "{\"type\":\"USER\",\"contents\":[{\"type\":\"TEXT\",\"text\":\"SECRET\\q\"}]}",
                "{\"type\":\"USER\",\"contents\":[{\"type\":\"TEXT\",\"text\":\"SECRET",
                "{\"type\":\"SYSTEM\",\"text\":\"SECRET\"}SECRET",
                "{\"type\":\"SYSTEM\",\"text\":SECRET}",
                "{\"text\":\"SECRET\"}",
                "{\"type\":5,\"text\":\"SECRET\"}",
                "{\"type\":\"SYSTEM\"}",
                "{\"type\":\"SYSTEM\",\"text\":\" \"}",
                "{\"type\":\"SYSTEM\",\"text\":[\"SECRET\"]}",
                "{\"type\":\"USER\"}",
                "{\"type\":\"USER\",\"contents\":[]}",
                "{\"type\":\"USER\",\"contents\":\"SECRET\"}",
                "{\"type\":\"USER\",\"contents\":[\"SECRET\"]}",
                "{\"type\":\"USER\",\"contents\":[{\"text\":\"SECRET\"}]}",
                "{\"type\":\"USER\",\"contents\":[{\"type\":\"TEXT\"}]}",
                "{\"type\":\"USER\",\"contents\":[{\"type\":\"IMAGE\"}]}",
                "{\"type\":\"USER\",\"contents\":[{\"type\":\"IMAGE\",\"image\":{\"url\":\"SECRET %\"}}]}",
                "{\"type\":\"USER\",\"contents\":[{\"type\":\"AUDIO\",\"audio\":{\"binaryData\":\"SECRET?\"}}]}",
                "{\"type\":\"AI\",\"text\":{\"a\":\"SECRET\"}}",
                "{\"type\":\"AI\",\"toolExecutionRequests\":[\"SECRET\"]}",
                "{\"type\":\"AI\",\"toolExecutionRequests\":[{\"arguments\":{\"a\":\"SECRET\"}}]}",
                "{\"type\":\"TOOL_EXECUTION_RESULT\",\"text\":\"a\",\"isError\":\"SECRET\"}",
                "{\"type\":\"CUSTOM\",\"attributes\":\"SECRET\"}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"long\",\"value\":\"SECRET\"}}}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"bigdecimal\",\"value\":\"SECRET\"}}}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"instant\",\"value\":\"SECRET\"}}}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"uuid\",\"value\":\"SECRET\"}}}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"char\",\"value\":\"SECRET\"}}}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"uri\",\"value\":\"SECRET %\"}}}",
                "{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":{\"@type\":\"set\"}}}",
            })
    void unreadableJsonIsAnErrorWithoutItsText(String template) {
        String json = template.replace("SECRET", SECRET);
        assertThatThrownBy(() -> codec.decode(json))
                .isExactlyInstanceOf(UnreadableDataException.class)
                .satisfies(MessageCodecTest::leaksNothing);
    }

    @Test
    void too_deep_json_is_unreadable() {
        String json = "{\"type\":\"X\",\"a\":" + "[".repeat(200_000);
        assertThatThrownBy(() -> codec.decode(json)).isInstanceOf(UnreadableDataException.class);
    }

    @Test
    void errors_name_the_place() {
        assertThatThrownBy(() ->
                        codec.decode("{\"v\":1,\"type\":\"CUSTOM\",\"attributes\":{\"a\":[0,{\"@type\":\"long\"}]}}"))
                .hasMessageContaining("attributes.a[1].value")
                .hasMessageContaining("missing");
        assertThatThrownBy(() -> codec.decode("{\"type\":\n  oops}")).hasMessageContaining("line 2, column");
    }

    @Test
    void strings_and_texts_refuse_other_json() {
        assertThatThrownBy(() -> codec.decodeText("1")).isInstanceOf(UnreadableDataException.class);
        assertThatThrownBy(() -> codec.decodeStrings("[]")).isInstanceOf(UnreadableDataException.class);
        assertThrown(UnreadableDataException.class, () -> codec.decodeStrings("{\"a\":1}"), "a cannot");
        Map<String, String> withNull = new HashMap<>();
        withNull.put("a", null);
        assertThatThrownBy(() -> codec.encodeStrings(withNull)).isInstanceOf(InvalidInputException.class);
    }

    private static void leaksNothing(Throwable error) {
        StringWriter all = new StringWriter();
        error.printStackTrace(new PrintWriter(all));
        assertThat(all.toString()).doesNotContain(SECRET).doesNotContain(SECRET.substring(0, 6));
    }
}
