package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserName;
import dev.langchain4j.service.V;
import dev.langchain4j.service.output.ServiceOutputParser;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.text.MessageText;
import io.github.keepsake4j.text.OwnText;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what was added to a question before it was sent. LangChain4j adds, in this order: what was retrieved, the
 * contents among the arguments, the text of input guardrails, and format instructions behind the last text.
 *
 * @param question the question as the caller wrote it
 * @param arguments the arguments of the call
 * @param methods the methods of the AI service that may have been called; none if they are not known
 * @param checked the question as the input guardrails got it, or null if there are none
 * @param rewritten the question as the input guardrails rewrote it, or null if they did not
 */
record AskedForms(
        UserMessage question,
        List<Object> arguments,
        List<Method> methods,
        @Nullable UserMessage checked,
        @Nullable UserMessage rewritten) {

    /** How LangChain4j begins all format instructions. */
    private static final String FORMAT = "\nYou must ";

    /** Returns whether a guardrail changed the question. Many return the text that they got. */
    boolean isRewritten() {
        return rewritten != null && !rewritten.equals(checked);
    }

    /** Returns a form of the question without what was retrieved, as far as that is known if a guardrail rewrote it. */
    UserMessage withoutRetrieved(UserMessage sent) {
        if (!isRewritten()) {
            Asked forms = of(sent);
            return forms == null ? sent : Objects.requireNonNullElse(forms.later(), sent);
        }
        List<Content> contents = new ArrayList<>(OwnText.without(sent).contents());
        addInstructions(contents, instructions(own(), lastText(sent.contents())));
        return sent.toBuilder().contents(contents).build();
    }

    /** Returns whether the caller passed the words of a stored question. */
    boolean hasWordsOf(LoggedMessage stored) {
        return MessageText.of(own()).strip().equals(stored.userText().strip());
    }

    /**
     * Returns the question as it is sent when a stored one is asked again: with the stored words in place of those that
     * the caller passed. If these are not in it, it is sent as it was stored, unless a guardrail has rewritten it.
     */
    UserMessage inWordsOf(LoggedMessage stored, UserMessage sent) {
        if (hasWordsOf(stored)) {
            return sent;
        }
        UserMessage made = isRewritten() ? rewritten : null;
        String guarded =
                made == null || stored.asked() == null ? null : stored.asked().rewritten();
        String passed = made == null || guarded == null
                ? MessageText.of(question)
                : OwnText.of(made).text();
        String words = Objects.requireNonNullElse(guarded, stored.userText());
        List<Content> contents = new ArrayList<>(sent.contents());
        contents.replaceAll(content -> content instanceof TextContent text && !passed.isEmpty()
                ? TextContent.from(text.text().replace(passed, words))
                : content);
        return !contents.equals(sent.contents())
                ? sent.toBuilder().contents(contents).build()
                : isRewritten() ? sent : (UserMessage) stored.message();
    }

    /**
     * Compares the question with the sent one.
     *
     * @param sent the question as it is sent
     * @return the forms, with unknown size; null if the sent question shows what the user wrote
     */
    @Nullable
    Asked of(UserMessage sent) {
        OwnText guess = OwnText.of(sent);
        if (sent.equals(question) && guess.isAll()) {
            return null;
        }
        List<Content> own = own();
        String text = MessageText.of(own);
        if (isRewritten()) {
            UserMessage got = Objects.requireNonNull(checked, "checked");
            List<Content> added = new ArrayList<>(got.contents());
            missing(own, added, "");
            boolean isRetrieved = !added.isEmpty();
            UserMessage made = Objects.requireNonNull(rewritten, "rewritten");
            return new Asked(text, null, isRetrieved ? OwnText.of(made).text() : MessageText.of(made), isRetrieved, -1);
        }
        // The instructions are behind the last text, so that one does not equal the user's.
        String instructions = instructions(own, lastText(sent.contents()));
        List<Content> added = new ArrayList<>(sent.contents());
        List<Content> missing = missing(own, added, instructions);
        if (!added.isEmpty()) {
            return new Asked(text, later(missing, sent, added, instructions), null, true, -1);
        }
        return guess.isAll() && guess.text().equals(text) ? null : new Asked(text, null, null, false, -1);
    }

    /** Removes the user's contents and the instructions from those of a question. Returns the user's texts that it lacks. */
    private static List<Content> missing(List<Content> own, List<Content> sent, String instructions) {
        List<Content> missing = new ArrayList<>();
        for (Content content : own) {
            if (!sent.remove(content)
                    && content instanceof TextContent one
                    && !sent.remove(TextContent.from(one.text() + instructions))) {
                missing.add(content);
            }
        }
        if (!instructions.isEmpty()) {
            sent.remove(TextContent.from(instructions));
        }
        return missing;
    }

    /**
     * Returns the question without the added contents, and with the user's texts in place of those. Blank texts are left
     * out, because providers refuse them.
     */
    private static @Nullable UserMessage later(
            List<Content> missing, UserMessage sent, List<Content> added, String instructions) {
        List<Content> contents = new ArrayList<>();
        List<Content> rest = new ArrayList<>(added);
        for (Content content : sent.contents()) {
            if (!rest.remove(content)) {
                contents.add(content);
            } else if (content instanceof TextContent) {
                contents.addAll(missing);
                missing.clear();
            }
        }
        contents.addAll(0, missing);
        contents.removeIf(
                content -> content instanceof TextContent text && text.text().isBlank());
        addInstructions(contents, instructions);
        return contents.isEmpty() ? null : sent.toBuilder().contents(contents).build();
    }

    /** Adds the instructions behind the last text, unless they are there. */
    private static void addInstructions(List<Content> contents, String instructions) {
        String text = lastText(contents);
        if (!text.endsWith(instructions)) {
            int at = contents.lastIndexOf(TextContent.from(text));
            Content with = TextContent.from(text + instructions);
            if (at < 0) {
                contents.add(with);
            } else {
                contents.set(at, with);
            }
        }
    }

    private static String lastText(List<Content> contents) {
        String last = "";
        for (Content content : contents) {
            last = content instanceof TextContent text ? text.text() : last;
        }
        return last;
    }

    /** Returns the format instructions with which a text ends, or an empty text. */
    private String instructions(List<Content> own, String text) {
        if (methods.isEmpty()) {
            return own.stream()
                    .filter(TextContent.class::isInstance)
                    .map(content -> ((TextContent) content).text())
                    .filter(one -> text.startsWith(one + FORMAT))
                    .map(one -> text.substring(one.length()))
                    .findFirst()
                    .orElse("");
        }
        return methods.stream()
                .map(method -> instructions(method.getGenericReturnType()))
                .filter(text::endsWith)
                .max(Comparator.comparingInt(String::length))
                .orElse("");
    }

    private static String instructions(Type type) {
        try {
            return Objects.requireNonNullElse(new ServiceOutputParser().outputFormatInstructions(type), "");
        } catch (RuntimeException e) {
            // Of a type without instructions.
            return "";
        }
    }

    /** Returns the contents that the user wrote: those of the question, and those of arguments that are added to it. */
    private List<Content> own() {
        List<Content> own = new ArrayList<>(question.contents());
        if (methods.isEmpty()) {
            List<Content> more = new ArrayList<>();
            arguments.forEach(argument -> addContents(argument, more));
            question.contents().forEach(more::remove);
            own.addAll(more);
            return own;
        }
        methods.stream()
                .filter(method -> method.getParameterCount() == arguments.size())
                .findFirst()
                .ifPresent(method -> own.addAll(contents(method)));
        return own;
    }

    /** Returns the contents among the arguments. If the question has no template, it consists of them. */
    private List<Content> contents(Method method) {
        boolean hasTemplate = method.isAnnotationPresent(dev.langchain4j.service.UserMessage.class);
        List<Content> contents = new ArrayList<>();
        Parameter[] parameters = method.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            boolean isSole = parameters.length == 1
                    && Stream.of(MemoryId.class, V.class, UserName.class).noneMatch(parameters[0]::isAnnotationPresent);
            if (isSole || parameters[i].isAnnotationPresent(dev.langchain4j.service.UserMessage.class)) {
                int before = contents.size();
                addContents(arguments.get(i), contents);
                hasTemplate |= contents.size() == before;
            }
        }
        return hasTemplate ? contents : List.of();
    }

    private static void addContents(@Nullable Object argument, List<Content> contents) {
        if (argument instanceof Content content) {
            contents.add(content);
        } else if (argument instanceof Collection<?> list) {
            list.forEach(each -> addContents(each, contents));
        } else if (argument instanceof Map<?, ?> map) {
            map.values().forEach(each -> addContents(each, contents));
        }
    }

    /** Leaves out the texts, so that the result may be logged. */
    @Override
    public String toString() {
        return "AskedForms[methods=" + methods + ", isRewritten=" + isRewritten() + "]";
    }
}
