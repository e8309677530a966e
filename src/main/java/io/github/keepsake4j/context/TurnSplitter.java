package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.ContextTurn.Standing;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Divides the messages that were read of a branch into turns, and repairs sequences that a provider would refuse. */
final class TurnSplitter {

    private final @Nullable LoggedMessage system;
    private final List<ContextTurn> closed = new ArrayList<>();
    private final List<Omission> repaired = new ArrayList<>();
    private final Map<String, ChatMessage> replaced = new HashMap<>();

    TurnSplitter(@Nullable LoggedMessage system) {
        this.system = system;
    }

    /** Implements {@link Context#of}. A splitter can be used once. */
    Context split(
            Object memoryId,
            @Nullable LoggedMessage user,
            List<LoggedMessage> oldest,
            List<LoggedMessage> messages,
            @Nullable LoggedMessage summary) {
        // The user message of the newest turn, if it is older than the messages.
        LoggedMessage earlier = isAmong(messages, user) ? null : user;
        List<LoggedMessage> before = without(messages, oldest).stream()
                .takeWhile(message -> summary == null || !isSame(message, earlier))
                .toList();
        String parent = messages.isEmpty() ? null : messages.get(0).parentId();
        boolean follows = summary == null
                && !before.isEmpty()
                && before.get(before.size() - 1).id().equals(parent);
        boolean begunThere = before.stream().anyMatch(message -> isSame(message, earlier));
        long unread = follows ? 0 : unread(user, oldest, messages);
        Turns turns = new Turns(follows || begunThere || unread == 0);
        if (follows || begunThere) {
            add(before, turns);
            turns.gap(!follows);
        } else {
            Turns beginning = new Turns(true);
            add(before, beginning);
            // The answers to the oldest questions may be among the unread messages.
            beginning.gap(true);
            repaired.addAll(beginning.leftOut());
            beginning.headless().forEach(message -> repaired.add(Omission.ofUnread(message)));
            beginning.close(Standing.BEGINNING, closed::add);
        }
        // A summary of everything covers the answer too. Without it, the question would be answered again.
        boolean covered = summary != null && messages.isEmpty() && !isSame(summary, earlier);
        if (earlier != null && !begunThere && !covered) {
            add(List.of(earlier), turns);
            turns.gap(true);
        }
        add(messages, turns);
        repaired.addAll(turns.leftOut());
        long uncertain = turns.close(Standing.WHOLE, closed::add);
        // Nothing before a summary can be read.
        boolean atSummary = summary != null && summary.id().equals(parent);
        long certain = atSummary ? unread : Math.max(unread, uncertain);
        return new Context(
                memoryId,
                new Context.Opening(system, summary, null),
                new Context.Read(oldest, certain, turns.headless(), repaired),
                closed,
                new Context.Forms(replaced, TokenSizes.NOT_KEPT, 0),
                null);
    }

    /** Returns messages that are not among others. */
    private static List<LoggedMessage> without(List<LoggedMessage> others, List<LoggedMessage> messages) {
        if (messages.isEmpty() || others.isEmpty() || others == messages) {
            return others == messages ? List.of() : messages;
        }
        Set<String> ids = others.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return messages.stream().filter(message -> !ids.contains(message.id())).toList();
    }

    /** Searches the newest messages first, because the newest turn's user message is usually among them. */
    private static boolean isAmong(List<LoggedMessage> messages, @Nullable LoggedMessage user) {
        int at = messages.size() - 1;
        while (at >= 0 && !isSame(messages.get(at), user)) {
            at--;
        }
        return at >= 0;
    }

    private static boolean isSame(LoggedMessage message, @Nullable LoggedMessage other) {
        return other != null && message.id().equals(other.id());
    }

    /**
     * Returns the place before which nothing was read. The messages of a list that was set may differ from the log's
     * order.
     */
    private static long unread(@Nullable LoggedMessage user, List<LoggedMessage> oldest, List<LoggedMessage> messages) {
        boolean whole = messages.isEmpty()
                || messages.stream().anyMatch(message -> message.parentId() == null)
                || (!oldest.isEmpty() && isSame(oldest.get(0), messages.get(0)));
        if (whole) {
            return 0;
        }
        return user != null && user.id().equals(messages.get(0).parentId())
                ? Math.min(user.sequence(), messages.get(0).sequence())
                : messages.stream().mapToLong(LoggedMessage::sequence).min().orElse(0);
    }

    private void add(List<LoggedMessage> messages, Turns to) {
        for (LoggedMessage logged : messages) {
            to.add(logged);
            if (logged.message() instanceof SystemMessage && !isSame(logged, system)) {
                repaired.add(new Omission(logged, Reason.OLD_SYSTEM_MESSAGE));
            } else if (logged.later() instanceof UserMessage later) {
                show(logged, later);
            }
        }
    }

    /** Records the form in which later requests show a question. */
    private void show(LoggedMessage logged, UserMessage shown) {
        if (logged.hasLaterForm()) {
            replaced.put(logged.id(), shown);
        }
        if (shown.contents().stream().anyMatch(ContextTurn::isBlank) && ContextTurn.begins(shown)) {
            List<Content> contents = shown.contents().stream()
                    .filter(content -> !ContextTurn.isBlank(content))
                    .toList();
            // Blank text is removed even next to other contents such as an image, because providers refuse it there
            // too.
            replaced.put(logged.id(), shown.toBuilder().contents(contents).build());
        }
    }
}
