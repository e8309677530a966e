package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.ContextTurn.Standing;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Divides the messages that were read of a branch into turns, and repairs sequences that a provider would refuse. */
final class TurnSplitter {

    /** The initial capacity of a turn. Most turns have one or two rounds, and a window has many turns. */
    private static final int FEW = 2;

    private final @Nullable LoggedMessage system;
    private final List<ContextTurn> closed = new ArrayList<>();

    /** The turns that are not closed yet, newest first, because results belong to the newest call that waits. */
    private final Deque<OpenTurn> turns = new ArrayDeque<>();

    /** The rounds before the first turn, newest first. */
    private final Deque<OpenRound> headless = new ArrayDeque<>();

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
            @Nullable LoggedMessage summary,
            @Nullable List<String> round) {
        // The user message of the newest turn, if it is older than the messages.
        LoggedMessage earlier = EndedBadly.isAmong(messages, user) ? null : user;
        List<LoggedMessage> before = without(messages, oldest).stream()
                .takeWhile(message -> summary == null || !isSame(message, earlier))
                .toList();
        boolean follows = summary == null
                && !before.isEmpty()
                && !messages.isEmpty()
                && before.get(before.size() - 1).id().equals(messages.get(0).parentId());
        boolean begunThere = before.stream().anyMatch(message -> isSame(message, earlier));
        Set<String> bad = endedBadly(before, messages, follows, user);
        List<LoggedMessage> newest = bad.isEmpty()
                ? messages
                : messages.stream()
                        .filter(message -> !bad.contains(message.id()))
                        .toList();
        before.stream().filter(message -> !bad.contains(message.id())).forEach(this::add);
        // Otherwise the part of the newest turn that was read would lack its beginning.
        if (!follows && !begunThere) {
            headless().forEach(message -> repair(message, Reason.NO_USER_MESSAGE));
            headless.clear();
            close(Standing.BEGINNING);
        }
        // A summary of everything covers the answer too. Without it, the question would be answered again.
        boolean covered = summary != null && messages.isEmpty() && !isSame(summary, earlier);
        if (earlier != null && !begunThere && !covered && !bad.contains(earlier.id())) {
            add(earlier);
        }
        LoggedMessage question = user == null || bad.contains(user.id()) ? null : user;
        withoutMeanwhile(newest, round, question).forEach(this::add);
        close(Standing.WHOLE);
        long unread = follows ? 0 : unread(user, oldest, messages);
        return new Context(
                memoryId,
                new Context.Opening(system, summary, null),
                new Context.Read(oldest, unread, headless(), repaired),
                closed,
                new Context.Forms(replaced, TokenSizes.NOT_KEPT, 0),
                null);
    }

    /**
     * Leaves out messages of other turns from the time when the turn waited for its tools. If they contain the answer
     * or results of another turn, that turn has none in this view.
     */
    private List<LoggedMessage> withoutMeanwhile(
            List<LoggedMessage> newest, @Nullable List<String> round, @Nullable LoggedMessage user) {
        List<LoggedMessage> meanwhile = InterleavedMessages.of(newest, round).messages();
        if (meanwhile.isEmpty()) {
            return newest;
        }
        meanwhile.forEach(message -> repair(message, Reason.MEANWHILE));
        Set<LoggedMessage> left = Set.copyOf(meanwhile);
        List<LoggedMessage> rest =
                newest.stream().filter(message -> !left.contains(message)).toList();
        EndedBadly bad = EndedBadly.of(rest, EndedBadly.isAmong(meanwhile, user) ? null : user);
        repaired.addAll(bad.hidden());
        return bad.without(rest);
    }

    /** Leaves out messages that ended badly, and returns their ids. */
    private Set<String> endedBadly(
            List<LoggedMessage> before, List<LoggedMessage> newest, boolean follows, @Nullable LoggedMessage user) {
        Set<String> ids = new HashSet<>();
        List<Omission> hidden = new ArrayList<>();
        if (follows) {
            hidden.addAll(EndedBadly.of(
                            Stream.concat(before.stream(), newest.stream()).toList(), user)
                    .hidden());
        } else {
            // The answers to the oldest questions may be among the unread messages.
            EndedBadly.of(before, null).hidden().stream()
                    .filter(omission -> omission.reason() != Reason.UNANSWERED_QUESTION)
                    .forEach(hidden::add);
            hidden.addAll(EndedBadly.of(newest, user).hidden());
        }
        hidden.stream().filter(omission -> ids.add(omission.message().id())).forEach(repaired::add);
        return ids;
    }

    /** Returns the oldest messages that are not among the newest. */
    private static List<LoggedMessage> without(List<LoggedMessage> newest, List<LoggedMessage> oldest) {
        if (oldest.isEmpty() || oldest == newest) {
            return List.of();
        }
        Set<String> ids = newest.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return oldest.stream().filter(message -> !ids.contains(message.id())).toList();
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

    private void add(LoggedMessage logged) {
        ChatMessage message = logged.message();
        if (message instanceof UnknownMessage) {
            repair(logged, Reason.UNKNOWN_TYPE);
        } else if (message instanceof SystemMessage) {
            if (!isSame(logged, system)) {
                repair(logged, Reason.OLD_SYSTEM_MESSAGE);
            }
        } else if (message instanceof UserMessage user) {
            begin(logged, user);
        } else if (message instanceof ToolExecutionResultMessage result) {
            if (!answer(logged, result)) {
                repair(logged, Reason.ORPHAN_RESULT);
            }
        } else {
            (turns.isEmpty() ? headless : turns.getFirst().rounds).push(new OpenRound(logged));
        }
    }

    /** Begins a turn. A user message without text begins none: the messages after it belong to the previous turn. */
    private void begin(LoggedMessage logged, UserMessage user) {
        UserMessage shown = logged.later() instanceof UserMessage later ? later : user;
        if (logged.hasLaterForm()) {
            replaced.put(logged.id(), shown);
        }
        if (hasBlank(shown.contents())) {
            if (!ContextTurn.begins(shown)) {
                repair(logged, Reason.EMPTY_TEXT);
                return;
            }
            List<Content> contents = shown.contents().stream()
                    .filter(content -> !ContextTurn.isBlank(content))
                    .toList();
            // Blank text is removed even next to other contents such as an image, because providers refuse it there
            // too.
            replaced.put(logged.id(), shown.toBuilder().contents(contents).build());
        }
        OpenTurn previous = turns.peek();
        if (previous != null && previous.user.message().equals(user)) {
            previous.repeated = previous.rounds.stream().noneMatch(OpenRound::isShown);
        }
        turns.push(new OpenTurn(logged));
    }

    /**
     * Assigns a result to the newest call that waits for it, even in an older turn, because turns can interleave. A
     * turn that was retried gets no results, because it would be shown again.
     */
    private boolean answer(LoggedMessage logged, ToolExecutionResultMessage result) {
        Stream<OpenRound> read = turns.stream().filter(turn -> !turn.repeated).flatMap(turn -> turn.rounds.stream());
        return Stream.concat(read, headless.stream()).anyMatch(round -> round.takes(logged, result));
    }

    private List<LoggedMessage> headless() {
        List<LoggedMessage> messages = new ArrayList<>();
        headless.descendingIterator().forEachRemaining(round -> messages.addAll(round.messages));
        return messages;
    }

    private void close(Standing standing) {
        turns.descendingIterator().forEachRemaining(open -> closed.add(open.close(standing)));
        turns.clear();
    }

    private void repair(LoggedMessage message, Reason reason) {
        repaired.add(new Omission(message, reason));
    }

    private static boolean hasBlank(List<Content> contents) {
        for (Content content : contents) {
            if (ContextTurn.isBlank(content)) {
                return true;
            }
        }
        return false;
    }

    private static final class OpenTurn {
        private final LoggedMessage user;
        private final Deque<OpenRound> rounds = new ArrayDeque<>(FEW);
        private boolean repeated;

        OpenTurn(LoggedMessage user) {
            this.user = user;
        }

        ContextTurn close(Standing standing) {
            List<ContextTurn.Round> closed = new ArrayList<>(rounds.size());
            boolean callsFollow = false;
            for (OpenRound round : rounds) {
                boolean early = callsFollow && round.isAnswer() && round.isShown();
                closed.add(
                        0, new ContextTurn.Round(round.messages, early ? Reason.ANSWER_BEFORE_CALL : round.hidden()));
                if (!early && round.isShown()) {
                    callsFollow = !round.isAnswer();
                }
            }
            return new ContextTurn(
                    user,
                    closed,
                    repeated ? Standing.REPEATED : standing,
                    ContextTurn.NOT_PINNED,
                    ContextTurn.Form.WHOLE,
                    ContextTurn.Cut.NOTHING);
        }
    }
}
