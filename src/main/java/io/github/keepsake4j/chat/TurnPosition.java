package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.turn.Turn;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The place where a turn reads and appends. Usually this is the head. A repeated turn begins at an older message and
 * then continues at the head, which has moved there. The caller guards access.
 */
final class TurnPosition {

    /** The branch of answers that came too late to become the current ones. */
    static final String ASIDE = "keepsake.aside";

    /** A number larger than any branch's length, but small enough to calculate with. */
    private static final int MOST = 1 << 30;

    /** The number of messages of the first read that looks for a question. Each further one is larger by this factor. */
    private static final int FEW = 16;

    /**
     * Where a turn can go on.
     *
     * @param id the last message of its last complete tool round, or its question
     * @param answered whether there is an answer behind it
     */
    private record End(String id, boolean answered) {}

    /** The name of the branch, or null for the memory's current one. */
    private @Nullable String branch;

    /** The parent of the next message, or null for the branch's newest message. */
    private @Nullable Parent next;

    /** The required newest message of the branch for the next append, or null for any. */
    private @Nullable String expected;

    /** Whether messages of other turns may not come between the messages of this one. */
    private boolean alone;

    /** The stored question that the turn asks again, or null if it asks a new one. */
    final @Nullable LoggedMessage question;

    /** Whether reads leave out the question, because the AI service adds it at the end. */
    private boolean withoutQuestion;

    private final boolean anotherAnswer;

    /** The head before the first message of this turn, or null. */
    private @Nullable String before;

    /** The newest message of this turn, or null. */
    private @Nullable String own;

    private TurnPosition(
            @Nullable String branch,
            @Nullable Parent next,
            @Nullable LoggedMessage question,
            boolean withoutQuestion,
            boolean anotherAnswer) {
        this.branch = branch;
        this.next = next;
        this.question = question;
        this.withoutQuestion = withoutQuestion;
        this.anotherAnswer = anotherAnswer;
    }

    /**
     * Finds the beginning of a turn.
     *
     * @throws InvalidInputException if the memory has no such message
     */
    static TurnPosition of(@Nullable Turn turn, MemoryKey key, SharedParts memories) {
        if (turn == null) {
            return new TurnPosition(null, null, null, false, false);
        }
        String id = turn.messageId();
        if (id == null) {
            return new TurnPosition(turn.branch(), null, null, false, false);
        }
        LoggedMessage named = Reads.message(memories.log(key), key, id)
                .orElseThrow(() -> new InvalidInputException(
                        "turn", "names the message " + id + ", which is not in memory " + key));
        return switch (turn.kind()) {
            case RETRY -> retry(turn, key, memories, named);
            case REGENERATE -> regenerate(turn, key, memories, named);
            default -> edit(turn, key, named);
        };
    }

    private static TurnPosition edit(Turn turn, MemoryKey key, LoggedMessage named) {
        check(named.message() instanceof UserMessage, "edit", "a user message", key, named);
        return new TurnPosition(turn.branch(), parentOf(named), null, false, false);
    }

    private static TurnPosition retry(Turn turn, MemoryKey key, SharedParts memories, LoggedMessage named) {
        check(named.message() instanceof UserMessage, "retry", "a user message", key, named);
        End end = endOf(memories.log(key), key, turn.branch(), named);
        return new TurnPosition(
                turn.branch(),
                Parent.of(end.id()),
                named,
                end.id().equals(named.id()),
                end.answered() && named.outcome() == null);
    }

    private static TurnPosition regenerate(Turn turn, MemoryKey key, SharedParts memories, LoggedMessage named) {
        check(
                named.message() instanceof AiMessage ai && !ai.hasToolExecutionRequests(),
                "regenerate",
                "an answer",
                key,
                named);
        String parent = named.parentId();
        check(parent != null, "regenerate", "an answer to a question", key, named);
        LoggedMessage question = questionOf(memories.log(key), key, named);
        check(question != null, "regenerate", "an answer to a question", key, named);
        boolean directly = Objects.requireNonNull(question, "question").id().equals(parent);
        return new TurnPosition(
                turn.branch(), Parent.of(Objects.requireNonNull(parent, "parent")), question, directly, true);
    }

    /**
     * Returns where a failed turn goes on: behind its last complete tool round, or behind its question.
     *
     * @param branch the branch on which the turn is looked for, or null for the current one
     * @param question the turn's question
     */
    private static End endOf(MessageLog log, MemoryKey key, @Nullable String branch, LoggedMessage question) {
        Tail after;
        try {
            after = log.read(key, ReadQuery.wholeBranch().onBranch(branch).after(question.id()));
        } catch (UnknownMessageException e) {
            // The question is on another branch, so nothing that follows it is known.
            return new End(question.id(), false);
        }
        String end = question.id();
        int waiting = 0;
        for (LoggedMessage logged : after.messages()) {
            ChatMessage message = logged.message();
            if (message instanceof UserMessage) {
                break;
            }
            if (message instanceof AiMessage ai) {
                waiting = ai.toolExecutionRequests().size();
                if (waiting == 0) {
                    return new End(end, true);
                }
            } else if (message instanceof ToolExecutionResultMessage && --waiting == 0) {
                end = logged.id();
            }
        }
        return new End(end, false);
    }

    /** Returns the question of an answer, or null if there is none on its branch. */
    private static @Nullable LoggedMessage questionOf(MessageLog log, MemoryKey key, LoggedMessage answer) {
        for (int most = FEW; ; most *= FEW) {
            Tail tail = log.read(key, ReadQuery.newest(most).endingIn(answer.id()));
            for (int i = tail.messages().size() - 1; i >= 0; i--) {
                if (tail.messages().get(i).message() instanceof UserMessage) {
                    return tail.messages().get(i);
                }
            }
            if (tail.complete() || most > Integer.MAX_VALUE / FEW) {
                return null;
            }
        }
    }

    private static void check(boolean holds, String turn, String kind, MemoryKey key, LoggedMessage named) {
        if (!holds) {
            throw new InvalidInputException(
                    "turn",
                    "Turn." + turn + " needs the id of " + kind + "; message " + named.id() + " of memory " + key
                            + " is of another kind");
        }
    }

    static Parent parentOf(LoggedMessage message) {
        return Parent.behind(message.parentId());
    }

    /** Returns whether the AI service asks a question again that is shown before tool rounds. */
    boolean repeatsQuestion() {
        return question != null && !withoutQuestion && next != null;
    }

    /** Returns the name of the branch, or null for the memory's current one. */
    @Nullable
    String branch() {
        return branch;
    }

    /** Returns whether the question has another answer already, so that it has not failed if this turn fails. */
    boolean isAnotherAnswer() {
        return anotherAnswer;
    }

    /** Places the next messages under a parent, if a message is the branch's newest one. */
    void next(Parent parent, String newest) {
        next = parent;
        expected = newest;
    }

    /** Places all next messages under a parent on a branch that is not the current one. */
    void aside(Parent parent) {
        next = parent;
        expected = null;
        branch = ASIDE;
        alone = true;
    }

    /** Places the next messages behind the messages of this turn, on a branch that is not the current one. */
    void aside() {
        if (own != null && !alone) {
            aside(Parent.of(own));
        }
    }

    Append place(List<NewMessage> batch) {
        Append append = onBranch(Append.under(next == null ? Parent.head() : next, batch));
        return expected == null ? append : append.expectingHead(expected);
    }

    Append onBranch(Append append) {
        return append.onBranch(branch);
    }

    /** Records the newest message that was written. */
    void wrote(String newest, boolean onlySystem, AppendResult result) {
        if (own == null) {
            before = result.previousHead();
        }
        own = newest;
        // A changed system message comes before the messages of the turn.
        boolean begins = onlySystem && next != null;
        next = alone || begins ? Parent.of(newest) : null;
        expected = null;
        withoutQuestion = withoutQuestion && begins;
    }

    /** Moves the head back to its place before this turn, if only this turn has moved it since. */
    void back(MessageLog log, MemoryKey key, @Nullable Long epoch) {
        String first = before;
        if (first != null && own != null && branch == null) {
            String head = Reads.position(log, key).head();
            if (own.equals(head)) {
                log.change(key, new Change.MoveHead(first, epoch));
            }
        }
    }

    /** Reads the messages that a turn at this place sees. */
    Tail read(Object id, MemoryKey key, SharedParts memories, int atLeast, @Nullable List<String> round) {
        if (next instanceof Parent.Root) {
            ReadQuery position = ReadQuery.newest(0).onBranch(branch);
            return Tail.empty(memories.log(key).read(key, position).position());
        }
        if (next instanceof Parent.Of of) {
            String left = withoutQuestion && question != null ? question.id() : null;
            // The question takes no place in the view.
            int more = left == null
                    ? atLeast
                    : Math.max(
                            atLeast,
                            1 + Math.min(MOST, memories.strategy().bounds(id).messages()));
            Tail tail = memories.load(id, key, more, round, query -> query.endingIn(of.id()));
            return left == null ? tail : tail.without(left);
        }
        return branch == null
                ? memories.load(id, key, atLeast, round)
                : memories.load(id, key, atLeast, round, query -> query.onBranch(branch));
    }
}
