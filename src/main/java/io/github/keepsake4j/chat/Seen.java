package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Turn;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What was read last, with what was appended since.
 *
 * @param tail the tail
 * @param shown what was handed out of it
 * @param running the newest turn's last round, if it waits for tool results: it is not handed out, since a model must
 *     not see calls without results, but a list that somebody sets does not mean to drop it
 * @param cut whether a limit left something older out
 * @param forms what else stands for what was handed out
 */
record Seen(Tail tail, List<LoggedMessage> shown, List<LoggedMessage> running, boolean cut, Forms forms) {

    static Seen of(Tail tail, Context context) {
        List<Turn> turns = context.turns();
        List<Turn.Round> rounds =
                turns.isEmpty() ? List.of() : turns.get(turns.size() - 1).rounds();
        Turn.Round last = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1);
        List<LoggedMessage> running =
                last != null && last.hidden() == Context.Reason.UNANSWERED_CALL ? last.messages() : List.of();
        boolean cut = !tail.complete()
                || context.omitted().stream()
                        .anyMatch(omission -> omission.reason() == Context.Reason.MESSAGE_LIMIT
                                || omission.reason() == Context.Reason.TOKEN_LIMIT);
        return new Seen(tail, context.logged(), running, cut, Forms.of(context));
    }

    /** What a list is compared with while the newest turn goes on. */
    List<LoggedMessage> shownAndRunning() {
        List<LoggedMessage> all = new ArrayList<>(shown);
        all.addAll(running);
        return all;
    }

    /**
     * Also with what was handed out before and has left what is shown since, because somebody else has added more or a limit
     * has changed: whoever was given it may add it again.
     */
    Seen withLost(@Nullable Seen handedOut) {
        if (handedOut == null || handedOut.tail.epoch() != tail.epoch()) {
            return this;
        }
        Set<String> known = shown.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        List<LoggedMessage> all = new ArrayList<>();
        for (LoggedMessage message : handedOut.shown) {
            if (!known.contains(message.id())) {
                all.add(message);
            }
        }
        all.addAll(shown);
        return new Seen(tail, all, running, cut, forms.and(handedOut.forms));
    }

    /**
     * What the memory holds after an append of ours, or null if somebody else changed it in between.
     *
     * @param batch what was appended under the head
     */
    @Nullable
    Seen after(List<NewMessage> batch, AppendResult result) {
        if (result.replayed()
                || result.epoch() != tail.epoch()
                || result.revision() != tail.revision()
                || !Objects.equals(result.previousHead(), tail.head())) {
            return null;
        }
        List<LoggedMessage> messages = new ArrayList<>(tail.messages());
        List<LoggedMessage> nowShown = shownAndRunning();
        LoggedMessage system = tail.system();
        LoggedMessage user = tail.user();
        String parent = tail.head();
        long sequence = result.lastSequence() - batch.size();
        for (NewMessage added : batch) {
            LoggedMessage logged = new LoggedMessage(
                    added.id(),
                    parent,
                    ++sequence,
                    added.message(),
                    added.tokens(),
                    added.tokenCounter(),
                    Instant.now());
            messages.add(logged);
            nowShown.add(logged);
            system = added.message() instanceof SystemMessage ? logged : system;
            user = added.message() instanceof UserMessage ? logged : user;
            parent = added.id();
        }
        LoggedMessage last = nowShown.get(nowShown.size() - 1);
        boolean waits = OpenTurn.calls(last.message()) > 0;
        return new Seen(
                new Tail(
                        parent,
                        tail.epoch(),
                        tail.revision(),
                        messages,
                        oldest(messages),
                        system,
                        user,
                        tail.view(),
                        tail.summary(),
                        tail.complete(),
                        tail.missingParent()),
                waits ? nowShown.subList(0, nowShown.size() - 1) : nowShown,
                waits ? List.of(last) : List.of(),
                cut,
                forms);
    }

    /**
     * The oldest messages stay what they are, unless they were all that there was: then they go on. How many were asked for
     * is not known here, so whoever wants n of them takes the first n.
     *
     * @param messages the tail's messages and what was appended to them
     */
    private List<LoggedMessage> oldest(List<LoggedMessage> messages) {
        List<LoggedMessage> oldest = tail.oldest();
        int before = tail.messages().size();
        if (oldest.isEmpty()
                || before == 0
                || !oldest.get(oldest.size() - 1)
                        .id()
                        .equals(messages.get(before - 1).id())) {
            return oldest;
        }
        List<LoggedMessage> longer = new ArrayList<>(oldest);
        longer.addAll(messages.subList(before, messages.size()));
        return longer;
    }
}
