package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages that one read shows, and its reading. Immutable.
 *
 * @param reading the reading, without the messages
 * @param messages the messages as they are shown, in the order of {@link Reading#shown()}, including those of the
 *     running round
 * @param stored the stored messages by id, if a strategy shows another message in their place; null for a read without
 * a strategy
 * @param later the questions as later requests show them, by id, if that is another form than the sent one
 */
public record ShownView(
        Reading reading,
        List<LoggedMessage> messages,
        @Nullable Map<String, LoggedMessage> stored,
        Map<String, ChatMessage> later) {

    /**
     * Returns all messages that a memory shows.
     *
     * @param tail the view as it was read
     * @return the messages
     */
    public static ShownView of(Tail tail) {
        return new ShownView(Reading.of(tail), tail.messages(), null, later(tail));
    }

    /**
     * Returns the messages that a strategy selected.
     *
     * @param tail the view as it was read
     * @param context the selection
     * @param known the sequence up to which the reader knows all messages; higher ones may be missing among them
     * @return the messages
     */
    public static ShownView of(Tail tail, Context context, long known) {
        List<LoggedMessage> running = Reading.running(context);
        List<LoggedMessage> all = context.logged();
        all.addAll(running);
        return new ShownView(Reading.of(tail, context, all, running, known), all, context.originals(), later(tail));
    }

    private static Map<String, ChatMessage> later(Tail tail) {
        Map<String, ChatMessage> later = new HashMap<>();
        for (LoggedMessage message : tail.messages()) {
            if (message.hasLaterForm()) {
                later.put(message.id(), message.later());
            }
        }
        return later;
    }

    /**
     * Returns the messages that the caller receives: all but those of the running round, which come last.
     *
     * @return a new, mutable list
     */
    public List<ChatMessage> given() {
        List<ChatMessage> given = new ArrayList<>();
        messages.subList(0, messages.size() - reading.running().size()).forEach(logged -> given.add(logged.message()));
        return given;
    }

    /**
     * Returns whether a message that was decoded elsewhere is the message at an index. A strategy may have shown the
     * whole message, or a shorter form in its place. A question may have been shown as it was sent, or without what was
     * retrieved for it.
     */
    boolean isAt(int place, ChatMessage given) {
        LoggedMessage shown = messages.get(place);
        if (shown.message().equals(given) || given.equals(later(place))) {
            return true;
        }
        if (stored == null) {
            return false;
        }
        ChatMessage whole = whole(place);
        return whole.equals(given)
                || (whole instanceof ToolExecutionResultMessage result && ClearToolResults.isFormOf(given, result));
    }

    /** Returns the question at an index as later requests show it, or null if it has no such form. */
    @Nullable
    ChatMessage later(int place) {
        return later.get(messages.get(place).id());
    }

    /** Returns the stored message at an index, which a strategy may have shown in a shorter form. */
    ChatMessage whole(int place) {
        LoggedMessage shown = messages.get(place);
        return stored == null
                ? shown.message()
                : stored.getOrDefault(shown.id(), shown).message();
    }

    /** Leaves out the messages, so that the result may be logged. */
    @Override
    public String toString() {
        return "ShownView[messages=" + messages.size() + "]";
    }
}
