package io.github.keepsake4j.conformance;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/** The messages that the checks write. All are built again on each call, so that an equal one is never the same one. */
final class Samples {

    /** A 1 × 1 image. */
    private static final String PIXEL =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E" + "rkJggg==";

    private Samples() {}

    static Map<String, ChatMessage> users() {
        Map<String, ChatMessage> all = new LinkedHashMap<>();
        all.put("a text", UserMessage.from("Hello"));
        all.put("a name", UserMessage.from("Alice", "Hello"));
        all.put("two texts", UserMessage.from(TextContent.from("first"), TextContent.from("second")));
        all.put(
                "an image with its data",
                UserMessage.from(
                        TextContent.from("Look"),
                        ImageContent.from(PIXEL, "image/png", ImageContent.DetailLevel.HIGH)));
        all.put("an image with an address", UserMessage.from(ImageContent.from("https://example.com/a.png")));
        all.put(
                "audio, video and a PDF file",
                UserMessage.from(
                        AudioContent.from("https://example.com/a.mp3"),
                        VideoContent.from("https://example.com/a.mp4"),
                        PdfFileContent.from("https://example.com/a.pdf")));
        all.put(
                "attributes",
                UserMessage.builder()
                        .addContent(TextContent.from("Hello"))
                        .attributes(attributes())
                        .build());
        return all;
    }

    static Map<String, ChatMessage> answers() {
        Map<String, ChatMessage> all = new LinkedHashMap<>();
        all.put("a text", AiMessage.from("Hello"));
        all.put(
                "thinking",
                AiMessage.builder().text("4").thinking("2 and 2 is 4").build());
        all.put(
                "attributes",
                AiMessage.builder().text("Hello").attributes(attributes()).build());
        all.put("a tool call", calls("call-0"));
        all.put(
                "thinking, a text, two tool calls and attributes",
                AiMessage.builder()
                        .thinking("I need both")
                        .text("One moment")
                        .toolExecutionRequests(List.of(call("call-1"), call("call-2")))
                        .attributes(Map.of("signature", "c2lnbmVk"))
                        .build());
        all.put("no text", AiMessage.builder().attributes(attributes()).build());
        all.put(
                "an image",
                AiMessage.builder()
                        .text("Here")
                        .attributes(Map.of(
                                AiMessage.GENERATED_IMAGES_KEY,
                                List.of(Image.builder()
                                        .base64Data(PIXEL)
                                        .mimeType("image/png")
                                        .build())))
                        .build());
        return all;
    }

    static Map<String, ChatMessage> results() {
        Map<String, ChatMessage> all = new LinkedHashMap<>();
        all.put("a text", result("call-0"));
        all.put(
                "an error",
                ToolExecutionResultMessage.builder()
                        .id("call-1")
                        .toolName("weather")
                        .text("no such city")
                        .isError(true)
                        .build());
        all.put(
                "no error, two contents and attributes",
                ToolExecutionResultMessage.builder()
                        .id("call-2")
                        .toolName("weather")
                        .contents(TextContent.from("sunny"), ImageContent.from(PIXEL, "image/png"))
                        .isError(false)
                        .attributes(attributes())
                        .build());
        return all;
    }

    static Map<String, ChatMessage> others() {
        Map<String, ChatMessage> all = new LinkedHashMap<>();
        all.put("a system message", SystemMessage.from("Be brief"));
        all.put("a custom message", CustomMessage.from(attributes()));
        return all;
    }

    /** Returns all messages as a conversation. */
    static List<ChatMessage> all() {
        List<ChatMessage> all = new ArrayList<>(List.of(others().get("a system message")));
        all.addAll(users().values());
        all.add(others().get("a custom message"));
        all.addAll(answers().values());
        // The results of a message follow it. Providers refuse a message without text or calls.
        all.removeIf(message -> message instanceof AiMessage answer && answer.text() == null);
        all.remove(answers().get("thinking, a text, two tool calls and attributes"));
        all.add(UserMessage.from("And now?"));
        List<ChatMessage> results = List.copyOf(results().values());
        all.add(answers().get("a tool call"));
        all.add(results.get(0));
        all.add(answers().get("thinking, a text, two tool calls and attributes"));
        all.addAll(results.subList(1, results.size()));
        all.add(AiMessage.from("Done"));
        return all;
    }

    /** Returns what JSON can hold. */
    private static Map<String, Object> attributes() {
        return Map.of(
                "text",
                "value",
                "number",
                3,
                "fraction",
                2.5,
                "flag",
                true,
                "list",
                List.of("a", "b"),
                "map",
                Map.of("key", "value"));
    }

    static String name(String writer, int number) {
        return writer + "/" + number;
    }

    /** Returns one of the lists that writers write. Its messages tell which list it is, and its length depends on it. */
    static List<ChatMessage> list(String writer, int number) {
        List<ChatMessage> list = new ArrayList<>();
        for (int i = 0; i < 4 + 2 * (number % 5); i++) {
            String text = name(writer, number) + "/" + i;
            list.add(i % 2 == 0 ? UserMessage.from(text) : AiMessage.from(text));
        }
        return list;
    }

    /** The list that a writer wrote. */
    record Written(String writer, int number) {}

    /** Returns which whole list a list is. Fails for parts and mixtures. */
    static Written written(List<ChatMessage> list) {
        List<Written> all = wholes(list);
        Conformance.expect(all.size() == 1, "%d lists instead of one: %s", all.size(), all);
        return all.get(0);
    }

    /** Returns which whole lists a list consists of, one behind another. Fails for parts and mixtures. */
    static List<Written> wholes(List<ChatMessage> list) {
        Conformance.expect(list != null && !list.isEmpty(), "the list is empty");
        List<Written> all = new ArrayList<>();
        for (int from = 0; from < list.size(); ) {
            String[] parts = text(list.get(from)).split("/");
            Conformance.expect(parts.length == 3, "message %d is %s", from + 1, list.get(from));
            Written written = new Written(parts[0], Integer.parseInt(parts[1]));
            List<ChatMessage> whole = list(written.writer(), written.number());
            int to = Math.min(from + whole.size(), list.size());
            String difference = difference(whole, list.subList(from, to));
            Conformance.expect(difference == null, "half of a list, or two mixed ones: %s", difference);
            all.add(written);
            from = to;
        }
        return all;
    }

    static String text(ChatMessage message) {
        if (message instanceof UserMessage user && user.hasSingleText()) {
            return user.singleText();
        }
        return message instanceof AiMessage answer && answer.text() != null ? answer.text() : message.toString();
    }

    static ToolExecutionRequest call(String id) {
        return ToolExecutionRequest.builder()
                .id(id)
                .name("weather")
                .arguments("{\"city\":\"Paris\"}")
                .build();
    }

    static AiMessage calls(String... ids) {
        return AiMessage.from(List.of(ids).stream().map(Samples::call).toList());
    }

    static ToolExecutionResultMessage result(String id) {
        return ToolExecutionResultMessage.from(id, "weather", "sunny");
    }

    /** Returns a problem with what it is about before it, or null if there is none. */
    static String prefixed(String prefix, String problem) {
        return problem == null ? null : prefix + problem;
    }

    /** Returns how two lists differ, or null. */
    static String difference(List<? extends ChatMessage> expected, List<? extends ChatMessage> actual) {
        if (actual == null) {
            return "null instead of a list";
        }
        for (int i = 0; i < Math.min(expected.size(), actual.size()); i++) {
            if (!Objects.equals(expected.get(i), actual.get(i))) {
                return "message %d of %d is %s instead of %s"
                        .formatted(i + 1, expected.size(), shown(actual.get(i)), shown(expected.get(i)));
            }
        }
        return expected.size() == actual.size()
                ? null
                : "%d messages instead of %d".formatted(actual.size(), expected.size());
    }

    private static String shown(ChatMessage message) {
        String text = String.valueOf(message);
        return text.length() > 120 ? text.substring(0, 120) + "…" : text;
    }

    /** Returns null, or what was thrown. */
    static Exception thrownBy(Supplier<?> call) {
        try {
            call.get();
            return null;
        } catch (Exception e) {
            return e;
        }
    }
}
