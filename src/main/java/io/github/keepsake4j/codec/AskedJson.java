package io.github.keepsake4j.codec;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converts the forms of a question to JSON. A content of the later form is a number if the sent question has it at that
 * index, null if it is the user's own text, and otherwise its text. So nothing is stored twice. Pure functions.
 */
final class AskedJson {

    private static final String LATER = "later";

    private AskedJson() {}

    static @Nullable JsonObject write(ChatMessage sent, @Nullable Asked asked) {
        if (asked == null) {
            return null;
        }
        JsonObject json = new JsonObject()
                .with("text", asked.text())
                .withPresent("rewritten", asked.rewritten())
                .withPresent("retrieved", asked.retrieved() ? true : null);
        UserMessage later = asked.later();
        if (later != null) {
            List<@Nullable Object> items = new ArrayList<>();
            later.contents().forEach(content -> items.add(item(content, (UserMessage) sent, asked.text())));
            json.with(LATER, items);
        }
        return json.withPresent("tokens", asked.sentTokens() < 0 ? null : asked.sentTokens());
    }

    private static @Nullable Object item(Content content, UserMessage sent, String own) {
        int at = sent.contents().indexOf(content);
        if (at >= 0) {
            return at;
        }
        if (content instanceof TextContent text) {
            return text.text().equals(own) ? null : text.text();
        }
        throw new InvalidInputException(
                LATER, "must have no " + content.type() + " that the sent question does not have");
    }

    /** Reads the forms of a question, or returns null if there are none. */
    static @Nullable Asked read(JsonFields message, ChatMessage sent) {
        JsonFields json = message.object("asked");
        if (json == null || !(sent instanceof UserMessage user)) {
            return null;
        }
        String text = json.neededText("text");
        UserMessage later = null;
        if (json.values().get(LATER) instanceof List<?> items && !items.isEmpty()) {
            List<Content> contents = new ArrayList<>();
            items.forEach(item -> contents.add(content(json, item, user.contents(), text)));
            later = user.toBuilder().contents(contents).build();
        }
        Integer tokens = json.number("tokens");
        return new Asked(
                text,
                later,
                json.text("rewritten"),
                Boolean.TRUE.equals(json.flag("retrieved")),
                tokens == null ? -1 : tokens);
    }

    private static Content content(JsonFields json, @Nullable Object item, List<Content> sent, String own) {
        if (item instanceof Number index) {
            if (index.longValue() < 0 || index.longValue() >= sent.size()) {
                throw json.wrong(LATER, "names a content that the question does not have");
            }
            return sent.get(index.intValue());
        }
        return TextContent.from(item instanceof String text ? text : own);
    }
}
