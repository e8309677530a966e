package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Turns;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.TurnPlace;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.turn.Turn;
import io.github.keepsake4j.view.Reading;
import io.github.keepsake4j.view.ViewReader;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The place where a turn reads and appends. A new question follows the newest message, and all that the turn adds later
 * follows it, wherever other turns have moved the head. The turn's requests show what was shown before its question, and
 * its own messages. The caller guards access.
 */
final class TurnPosition {

    /** The number of messages of the first read that looks for a question. Each further one is larger by this factor. */
    private static final int FEW = 16;

    /** The number of conflicts with other writers after which the turn goes on beside the head. */
    private static final int MOST_CONFLICTS = 20;

    /** The reason of a question that is asked again while its first try may still run. */
    private static final String RETRIED = "retried";

    /**
     * A stored question, and what it has on a branch.
     *
     * @param question the question
     * @param position the position of the branch
     * @param rounds the messages of its complete tool rounds
     * @param isThere whether the question is on the branch
     * @param before the parent of its answer, or null if there is none
     */
    private record Found(
            LoggedMessage question,
            Position position,
            List<LoggedMessage> rounds,
            boolean isThere,
            @Nullable String before) {

        List<LoggedMessage> messages() {
            return Stream.concat(Stream.of(question), rounds.stream()).toList();
        }

        /** Returns the id of the message with which its turn can go on. */
        String end() {
            return messages().get(rounds.size()).id();
        }
    }

    /**
     * What was shown before the turn's question.
     *
     * @param end the newest message of the branch that was read, or null if it was empty
     * @param view the list that was set, or null
     * @param newest the highest sequence that was read
     */
    private record Shown(@Nullable String end, @Nullable View view, long newest) {}

    private final MemoryKey key;
    private final SharedParts memories;
    private final MessageLog log;

    /** The name of the branch, or null for the memory's current one. */
    final @Nullable String branch;

    /** The stored question that the turn asks again, or null if it asks a new one. */
    final @Nullable LoggedMessage question;

    /** That question, and the complete rounds of an earlier try. */
    private final List<LoggedMessage> earlier;

    /** Whether the question has another answer already, so that it has not failed if this turn fails. */
    final boolean anotherAnswer;

    /** The parent of the next message, or null for the branch's newest message. */
    private @Nullable Parent next;

    /** The required newest message of the branch for the next append, or null for any. */
    private @Nullable String expected;

    /** Whether another turn may answer the same question, so that nobody may have appended anything. */
    private boolean exactly;

    /** The end of the branch that the turn knows, or null before it matters. */
    private @Nullable Position known;

    /** The newest message of this turn, or that of an earlier try; null before the question. */
    private @Nullable String own;

    /** The id of the new question, or null before it is written. */
    private @Nullable String asked;

    /** Whether the turn goes on beside the head until others move the head to it. */
    private boolean beside;

    /** Whether the turn stays beside the head. */
    private boolean aside;

    /** The ids of the messages that this turn has added. */
    private final Set<String> added = new LinkedHashSet<>();

    /** The head before the first message of this turn, or null. */
    private @Nullable String before;

    /** Where the turn begins to read; null for the newest message of its branch. */
    private final @Nullable Parent from;

    private @Nullable Shown shown;

    /** Whether the list that is shown was set by this turn, and was not read since. */
    private boolean isOwnList;

    /** Whether other turns have added messages since this one read. */
    private boolean met;

    private TurnPosition(
            MemoryKey key,
            SharedParts memories,
            @Nullable String branch,
            @Nullable Parent from,
            @Nullable Parent next,
            @Nullable Found again) {
        this.key = key;
        this.memories = memories;
        this.log = memories.log(key);
        this.branch = branch;
        this.from = from;
        this.next = next;
        this.question = again == null ? null : again.question();
        this.earlier = again == null ? List.of() : again.messages();
        this.known = again == null ? null : again.position();
        this.own = again == null ? null : again.end();
        this.exactly = again != null && next == null;
        this.anotherAnswer = again != null && again.before() != null;
    }

    /**
     * Finds the beginning of a turn.
     *
     * @param check gets a stored question that the turn asks again, before anything is written
     * @throws InvalidInputException if the memory has no such message
     */
    static TurnPosition of(@Nullable Turn turn, MemoryKey key, SharedParts memories, Consumer<LoggedMessage> check) {
        String id = turn == null ? null : turn.messageId();
        if (turn == null || id == null) {
            return new TurnPosition(key, memories, turn == null ? null : turn.branch(), null, null, null);
        }
        LoggedMessage named = Reads.message(memories.log(key), key, id)
                .orElseThrow(() -> new InvalidInputException(
                        "turn", "names the message " + id + ", which is not in memory " + key));
        Beginning beginning = new Beginning(turn, key, memories, named);
        return switch (turn.kind()) {
            case RETRY -> beginning.retry(check);
            case REGENERATE -> beginning.regenerate(check);
            default -> beginning.edit();
        };
    }

    /** The beginning of a turn that names a message. */
    private record Beginning(Turn turn, MemoryKey key, SharedParts memories, LoggedMessage named) {

        TurnPosition edit() {
            check(named.message() instanceof UserMessage, "edit", "a user message");
            return at(named, parentOf(named), null);
        }

        TurnPosition retry(Consumer<LoggedMessage> check) {
            check(named.message() instanceof UserMessage, "retry", "a user message");
            check.accept(named);
            Found found = find(named);
            if (found.before() == null && named.outcome() == null && named.id().equals(named.question())) {
                // The first try may still run. If it ends later, it meets a new revision, and then finds this one's
                // answer.
                Outcome retried = Outcome.failed(RETRIED);
                log().change(key, new Change.SetOutcome(named.id(), retried, null));
                found = find(named.withOutcome(retried));
            }
            // A sibling of its answer; or where the question is, if that is not on the branch.
            String parent = found.before() != null ? found.before() : found.isThere() ? null : found.end();
            return at(named, parent == null ? null : Parent.of(parent), found);
        }

        TurnPosition regenerate(Consumer<LoggedMessage> check) {
            boolean isAnswer = named.message() instanceof AiMessage ai && !ai.hasToolExecutionRequests();
            check(isAnswer, "regenerate", "an answer");
            Optional<Asked> found = asked(log(), key, named.id()).filter(asked -> named.parentId() != null);
            check(found.isPresent(), "regenerate", "an answer to a question");
            LoggedMessage question = found.orElseThrow().question();
            check.accept(question);
            Tail tail = found.orElseThrow().tail();
            List<LoggedMessage> messages = tail.messages();
            List<LoggedMessage> between = messages.subList(messages.indexOf(question) + 1, messages.size() - 1);
            Position end = turn.branch() == null ? tail.position() : position();
            List<LoggedMessage> rounds = Turns.restOf(question, between).rounds();
            return at(question, parentOf(named), new Found(question, end, rounds, true, named.parentId()));
        }

        private TurnPosition at(LoggedMessage question, @Nullable Parent next, @Nullable Found again) {
            return new TurnPosition(key, memories, turn.branch(), parentOf(question), next, again);
        }

        private Found find(LoggedMessage question) {
            try {
                Tail after = log().read(
                                key,
                                ReadQuery.wholeBranch().onBranch(turn.branch()).after(question.id()));
                Turns.Rest rest = Turns.restOf(question, after.messages());
                return new Found(question, after.position(), rest.rounds(), true, rest.beforeAnswer());
            } catch (UnknownMessageException e) {
                // The question is on another branch, so nothing that follows it is known.
                return new Found(question, position(), List.of(), false, null);
            }
        }

        private Position position() {
            return log().read(key, ReadQuery.newest(0).onBranch(turn.branch())).position();
        }

        private MessageLog log() {
            return memories.log(key);
        }

        private void check(boolean holds, String kind, String needed) {
            if (!holds) {
                throw new InvalidInputException(
                        "turn",
                        "Turn." + kind + " needs the id of " + needed + "; message " + named.id() + " of memory " + key
                                + " is of another kind");
            }
        }
    }

    /** A question, and the branch from there to a message that belongs to it. */
    private record Asked(LoggedMessage question, Tail tail) {}

    private static Optional<Asked> asked(MessageLog log, MemoryKey key, String messageId) {
        for (int most = FEW; ; most *= FEW) {
            Tail tail = log.read(key, ReadQuery.newest(most).endingIn(messageId));
            Optional<LoggedMessage> question = Turns.questionOf(messageId, tail.messages());
            if (question.isPresent() || tail.user() == null || tail.complete() || most > Integer.MAX_VALUE / FEW) {
                return question.map(found -> new Asked(found, tail));
            }
        }
    }

    /**
     * Returns the question to which a message belongs: the one that its turn names, or else the one whose turn it
     * continues. Usually costs one read.
     *
     * @throws UnknownMessageException if the message is not in the memory
     */
    static Optional<LoggedMessage> questionOf(MessageLog log, MemoryKey key, String messageId) {
        return asked(log, key, messageId).map(Asked::question);
    }

    /**
     * Returns the id of the question whose turn a message continues that is added by hand: an answer to a question of a
     * bound turn, or a part of an open round; null for any other message.
     */
    static @Nullable String continued(MessageLog log, MemoryKey key, Parent parent, ChatMessage message) {
        boolean mayContinue = message instanceof AiMessage || message instanceof ToolExecutionResultMessage;
        if (!mayContinue || !(parent instanceof Parent.Of of) || of.id().equals(Ids.BEFORE_IN_TIME)) {
            return null;
        }
        return Reads.message(log, key, of.id())
                .filter(named -> !(named.message() instanceof AiMessage ai) || ai.hasToolExecutionRequests())
                .map(LoggedMessage::question)
                .orElse(null);
    }

    static Parent parentOf(LoggedMessage message) {
        return Parent.behind(message.parentId());
    }

    /** Returns whether the AI service asks a question again that is shown before tool rounds. */
    boolean repeatsQuestion() {
        return earlier.size() > 1;
    }

    /** Places the next messages under a parent, if a message is the branch's newest one. */
    void next(Parent parent, String newest) {
        next = parent;
        expected = newest;
    }

    /** Places all next messages under a parent, beside the head. */
    void aside(Parent parent) {
        next = parent;
        expected = null;
        aside = true;
    }

    /** Places the next messages behind the messages of this turn, beside the head. */
    void aside() {
        aside |= own != null;
    }

    /** Returns the append of the next messages. It may be refused if other writers moved the head. */
    Append place(List<NewMessage> batch) {
        String last = own;
        Parent parent = next != null ? next : aside && last != null ? Parent.of(last) : Parent.head();
        Append append = Append.under(parent, batch).onBranch(aside ? TurnPlace.ASIDE : branch);
        Position end = known;
        if (!aside && expected != null) {
            return append.expectingHead(expected);
        }
        if (aside || last == null || end == null) {
            return append;
        }
        return TurnPlace.fenced(exactly ? append.expectingHead(end.head()) : append, end);
    }

    /** Appends the next messages of the turn where it goes on. */
    AppendResult append(List<NewMessage> batch, UnaryOperator<Append> inEpoch) {
        Append append = inEpoch.apply(place(batch));
        if (beside && own != null && !aside) {
            append = again(append, own);
        }
        for (int conflicts = 1; ; conflicts++) {
            try {
                return memories.append(key, append);
            } catch (HeadConflictException e) {
                String last = own;
                if (last == null || expected != null) {
                    throw e;
                }
                met = true;
                exactly = true;
                append = conflicts > MOST_CONFLICTS ? goBeside(append, last) : again(append, last);
            }
        }
    }

    private Append again(Append refused, String last) {
        // The first message of a repeated turn has a place of its own. The head moves there if nobody moved it away.
        Position end = Objects.requireNonNull(known, "known");
        String there = next != null && end.head() != null ? end.head() : last;
        String asked = next != null ? null : questionId();
        beside = false;
        return TurnPlace.again(refused, there, asked, query -> log.read(key, query))
                .orElseGet(() -> goBeside(refused, last));
    }

    private Append goBeside(Append refused, String last) {
        beside = true;
        return TurnPlace.beside(refused, next != null ? next : Parent.of(last));
    }

    /** Returns the message behind which the turn goes on: usually the head, and otherwise its own newest one or its place. */
    Parent end() {
        if (branch == null && from == null && !beside && !aside) {
            return Parent.head();
        }
        String last = own;
        if (last != null && !added.isEmpty()) {
            return Parent.of(last);
        }
        Shown first = shown;
        return from != null ? from : first == null ? Parent.head() : Parent.behind(first.end());
    }

    /** Returns the id of the question, or null if it is not stored. */
    @Nullable
    String questionId() {
        return question != null ? question.id() : asked;
    }

    /** Reads the position behind a change of this turn, if the head is still its own message. */
    void learn() {
        Position now = branch == null ? Reads.position(log, key) : null;
        known = now != null && Objects.equals(now.head(), own) ? now : known;
    }

    /** Records what was written. */
    void wrote(List<NewMessage> batch, AppendResult result) {
        NewMessage newest = batch.get(batch.size() - 1);
        if (added.isEmpty()) {
            before = result.previousHead();
        }
        batch.forEach(message -> added.add(message.id()));
        expected = null;
        known = own == null && newest.message() instanceof SystemMessage ? null : result.position();
        if (newest.message() instanceof SystemMessage) {
            // A changed system message comes before the messages of the turn.
            next = next == null ? null : Parent.of(newest.id());
            return;
        }
        if (own == null) {
            asked = newest.id();
        }
        own = newest.id();
        next = null;
    }

    /** Returns the append of an answer in place of the turn's newest message. */
    Append inPlaceOfNewest(Parent parent, List<NewMessage> batch) {
        Append sibling = Append.under(parent, batch);
        return beside || aside
                ? sibling.onBranch(TurnPlace.ASIDE)
                : sibling.onBranch(branch).expectingHead(own);
    }

    /** Moves the head back to its place before this turn, if only this turn has moved it since. */
    void back(@Nullable Long epoch) {
        String first = before;
        boolean isUnderHead = branch == null && !beside && !aside;
        if (first != null
                && isUnderHead
                && Objects.equals(own, Reads.position(log, key).head())) {
            log.change(key, new Change.MoveHead(first, epoch));
        }
    }

    /** Returns the sequence up to which the turn knows all messages. */
    long known() {
        Shown first = shown;
        return !met || first == null ? Long.MAX_VALUE : first.newest();
    }

    /** Returns a tail with the messages that this turn has added to what it has read, whatever others added. */
    @Nullable
    Tail after(Tail tail, List<NewMessage> batch, AppendResult result) {
        Tail after = met ? null : tail.after(batch, result);
        if (after != null || result.replayed() || (own == null && from == null)) {
            return after;
        }
        // A turn that begins at another place has met nobody there.
        met |= own != null && from == null;
        return tail.behindOthers(batch, result);
    }

    /** Records that the turn itself changed the list that the memory shows. */
    void changedList(Reading now) {
        Shown first = shown;
        if (first != null) {
            added.addAll(now.idsBehind(first.newest()));
            isOwnList = true;
        }
    }

    /**
     * Reads the messages that a turn at this place sees. How much is read depends on what is left of it.
     *
     * @param isAsked whether the turn has its question
     * @param leavingOut leaves out what the turn does not see before it has its question
     */
    Tail read(Object id, int atLeast, boolean isAsked, UnaryOperator<Tail> leavingOut) {
        Shown first = shown;
        if (!isAsked || first == null || isOwnList) {
            Tail tail = begin(id, atLeast, isAsked ? UnaryOperator.identity() : leavingOut);
            long newest = first != null && isAsked ? first.newest() : tail.newest();
            isOwnList = false;
            String end = from == null ? tail.position().head() : from instanceof Parent.Of of ? of.id() : null;
            shown = new Shown(end, tail.view(), newest);
            // The stored question is shown with its complete rounds, if the turn continues behind these.
            return isAsked ? withOwn(tail, newest) : tail.with(repeatsQuestion() ? earlier : List.of());
        }
        try {
            String end = first.end();
            if (end == null) {
                return withOwn(Tail.empty(Reads.position(log, key)), first.newest());
            }
            return memories.load(
                    id,
                    key,
                    atLeast,
                    query -> withOwn(ViewReader.showing(log, key, query.endingIn(end), first.view()), first.newest()));
        } catch (UnknownMessageException e) {
            long epoch = Objects.requireNonNull(known, "known").epoch();
            long inForce = Reads.position(log, key).epoch();
            if (inForce != epoch) {
                throw new ErasedException(key, epoch, inForce);
            }
            throw e;
        }
    }

    private Tail begin(Object id, int atLeast, UnaryOperator<Tail> leavingOut) {
        if (from instanceof Parent.Root) {
            return Tail.empty(
                    log.read(key, ReadQuery.newest(0).onBranch(branch)).position());
        }
        UnaryOperator<ReadQuery> place =
                from instanceof Parent.Of of ? query -> query.endingIn(of.id()) : query -> query.onBranch(branch);
        return memories.load(id, key, atLeast, query -> leavingOut.apply(memories.read(key, place.apply(query))));
    }

    /** Returns what was read without what others added since, and with what this turn added. */
    private Tail withOwn(Tail tail, long newest) {
        Set<String> own = new LinkedHashSet<>(added);
        earlier.forEach(message -> own.add(message.id()));
        Set<String> missing = new LinkedHashSet<>(own);
        tail.messages().forEach(message -> missing.remove(message.id()));
        // If the turn cleared its memory, what it has added since follows its question, too.
        Set<String> behind = missing.contains(String.valueOf(questionId())) ? own : missing;
        Tail known = tail;
        for (LoggedMessage message : tail.messages()) {
            boolean stays = own.contains(message.id()) ? !behind.contains(message.id()) : message.sequence() <= newest;
            known = stays ? known : known.without(message.id());
        }
        return behind.isEmpty() ? known : known.with(Reads.messages(log, key, behind));
    }
}
