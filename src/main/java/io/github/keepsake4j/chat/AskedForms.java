package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.service.output.ServiceOutputParser;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.text.MessageText;
import io.github.keepsake4j.text.OwnText;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what was added to a question before it was sent. LangChain4j adds, in this order: what was retrieved, the
 * contents among the arguments, the text of input guardrails, and format instructions behind the last text. Pure
 * functions.
 */
final class AskedForms {

    private AskedForms() {}

    /**
     * Compares a question with what the user wrote.
     *
     * @param own the contents of the rendered template and of the arguments
     * @param sent the question as it is sent
     * @param rewritten whether an input guardrail replaced the text
     * @param type the name of the AI service's interface
     * @param method the name of its method
     * @return the forms, with unknown size; null if the sent question shows what the user wrote
     */
    static @Nullable Asked of(List<Content> own, UserMessage sent, boolean rewritten, String type, String method) {
        String text = MessageText.of(own);
        List<Content> added = new ArrayList<>(sent.contents());
        List<Content> left = new ArrayList<>(own);
        left.removeIf(added::remove);
        if (!added.isEmpty()) {
            // The instructions are behind the last text, so that one does not equal the user's.
            String instructions = instructions(type, method, lastText(sent));
            left.removeIf(content -> content instanceof TextContent one
                    && added.remove(TextContent.from(one.text() + instructions)));
            if (!added.isEmpty() && !rewritten) {
                return new Asked(text, later(sent, added, left, instructions), false, -1);
            }
        }
        OwnText guess = OwnText.of(sent);
        return (rewritten && !added.isEmpty()) || !guess.isAll() || !guess.text().equals(text)
                ? new Asked(text, null, rewritten && !added.isEmpty(), -1)
                : null;
    }

    /** Returns the question without the added contents, and with the user's texts in place of those. */
    private static @Nullable UserMessage later(
            UserMessage sent, List<Content> added, List<Content> left, String instructions) {
        List<Content> missing = new ArrayList<>(left);
        missing.removeIf(content -> !(content instanceof TextContent));
        int last = missing.size() - 1;
        String lastText = lastText(sent);
        List<Content> contents = new ArrayList<>();
        List<Content> rest = new ArrayList<>(added);
        for (Content content : sent.contents()) {
            if (!rest.remove(content)) {
                contents.add(content);
            } else if (content instanceof TextContent one) {
                if (last >= 0 && !instructions.isEmpty() && one.text().equals(lastText)) {
                    missing.set(last, TextContent.from(((TextContent) missing.get(last)).text() + instructions));
                }
                contents.addAll(missing);
                missing.clear();
                last = -1;
            }
        }
        contents.addAll(0, missing);
        return contents.isEmpty() ? null : sent.toBuilder().contents(contents).build();
    }

    private static String lastText(UserMessage message) {
        String last = "";
        for (Content content : message.contents()) {
            last = content instanceof TextContent text ? text.text() : last;
        }
        return last;
    }

    /** Returns the format instructions with which a text ends, or an empty text. */
    private static String instructions(String type, String method, String text) {
        try {
            Class<?> service = Class.forName(type, false, Thread.currentThread().getContextClassLoader());
            ServiceOutputParser parser = new ServiceOutputParser();
            return Stream.of(service.getMethods())
                    .filter(each -> each.getName().equals(method))
                    .map(Method::getGenericReturnType)
                    .map(parser::outputFormatInstructions)
                    .filter(each -> each != null && text.endsWith(each))
                    .findFirst()
                    .orElse("");
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            // Of an interface that this class loader does not see, or with a type that has no instructions.
            return "";
        }
    }
}
