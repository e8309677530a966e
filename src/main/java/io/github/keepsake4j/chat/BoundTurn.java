package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.observability.api.event.AiServiceResponseReceivedEvent;
import dev.langchain4j.observability.api.event.OutputGuardrailExecutedEvent;
import dev.langchain4j.service.tool.ToolExecution;
import io.github.keepsake4j.base.Uninterrupted;
import io.github.keepsake4j.codec.RequestCodec;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Omission;
import io.github.keepsake4j.context.Turns;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.turn.Turn;
import io.github.keepsake4j.view.Reading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turn of one call of an AI service. It receives the events of the call and stores the outcomes of its messages, so
 * that the memory agrees with the texts that the user got. An answer may follow an error or a completion, so neither is
 * final. Thread-safe.
 */
final class BoundTurn extends OpenTurn implements RunningTurns.Waiting {

    private static final String KILLED = "killed";

    /** The number of checks of a result whose calls are not added yet. */
    private static final int MOST_WAITS = 60;

    private static final Logger LOG = LoggerFactory.getLogger(BoundTurn.class);

    final KeepsakeChatMemory memory;
    private final Invocation invocation;

    /** How the turn begins, or null if it begins behind the newest message. Known before another thread continues. */
    private final @Nullable Turn begin;

    private final GuardrailPasses passes = new GuardrailPasses();
    private final ShownMessages sightings = new ShownMessages();
    private final SlowResults slow = new SlowResults();

    /** The place of the next messages, or null before the first use. */
    private @Nullable TurnPosition course;

    private @Nullable String question;

    /** The question as it is sent, or null if it is sent as it was stored. */
    private @Nullable NewMessage sent;

    /** The question as the AI service asks it again, if it is sent in another form; or null. */
    private @Nullable ChatMessage passed;

    /** Questions of other turns that were without an answer when this turn began. */
    private final Map<String, LoggedMessage> unanswered = new LinkedHashMap<>();

    /** When the question was written, by {@link SharedParts#nanoTime}. */
    private long askedAt;

    /** Whether the question was read before tool rounds, and the AI service adds it again behind them. */
    private boolean repeated;

    private @Nullable Written answer;

    /** An interrupted answer. */
    private @Nullable Written partial;

    private @Nullable Long epoch;
    private @Nullable AnswerEnd end;

    /** The end of the reported answer that no guardrail has checked yet, or null. */
    private @Nullable AnswerEnd reported;

    /** The answer that is being streamed, or null. */
    private volatile @Nullable StreamedAnswer streamed;

    /** Whether the caller has a stream that reports the tokens that it returns. */
    private volatile boolean streamWatched;

    /** For each token on its way through a flux, its answer. */
    private final Queue<StreamedAnswer> onTheWay = new ConcurrentLinkedQueue<>();

    /** Completes when an answer was stopped and its last token was returned. */
    final CompletableFuture<Void> streamStopped = new CompletableFuture<>();

    /** The type of the model that streams the turn's answers, or null if none is known to be a stream. */
    private @Nullable Class<?> streaming;

    /** Whether the question has an outcome, which its answer removes. */
    private boolean marked;

    /** Whether the store kept this turn waiting in vain, and nothing was written since. */
    private volatile boolean hangs;

    /** Whether the turn's end is stored in the background. Two events may report a failure. */
    private volatile boolean endsLater;

    private boolean failed;
    private boolean cancelled;
    private boolean completed;

    /** An answer that was written. */
    private record Written(String id, AiMessage message) {}

    /** Creates a turn in place of a provisional one, which the call had in another memory, if there is one. */
    BoundTurn(KeepsakeChatMemory memory, Invocation invocation, @Nullable BoundTurn provisional) {
        super(memory.unbound.id, memory.unbound.key, memory.unbound.memories);
        this.memory = memory;
        this.invocation = invocation;
        this.begin = provisional != null && provisional.key.equals(key)
                ? provisional.begin
                : memories.turns.turn(invocation.parameters, key, CallsOfThread.all());
    }

    // Reads and additions of the AI service.

    @Override
    void add(List<ChatMessage> list) {
        locked(() -> {
            LoggedMessage again = question == null ? course().question : null;
            Optional<UserMessage> user = list.stream()
                    .filter(UserMessage.class::isInstance)
                    .map(UserMessage.class::cast)
                    .findFirst();
            if (again != null && user.isPresent()) {
                asksAgain(again, user.get());
            } else if (list.stream().anyMatch(AiMessage.class::isInstance)) {
                reopen();
                if (partial == null || !isStored(list, partial)) {
                    replacePartial(list);
                }
            } else {
                List<ChatMessage> rest = withoutWritten(list);
                rest.replaceAll(this::asStored);
                if (!rest.isEmpty()) {
                    super.add(rest);
                }
            }
        });
    }

    private void asksAgain(LoggedMessage again, UserMessage message) {
        question = again.id();
        UserMessage asks = invocation.forms().inWordsOf(again, message);
        passed = asks.equals(message) ? null : message;
        if (!asks.equals(again.message())) {
            sent = memories.prepare(asks);
        }
        boolean repeats = course().repeatsQuestion();
        if (repeats || passed != null) {
            memories.turns.repeats(key, this);
        }
        repeated = repeats && sightings.shows(again.sequence());
        if (!repeated) {
            sightings.asked(again.sequence(), again.message());
        }
        Tail read = buffer().tail();
        if (read != null && !repeats) {
            buffer().read(read.with(List.of(again)));
        }
        marked |= again.outcome() != null;
    }

    /** Refuses other words than the stored ones, such as those of a template, if the service would send them. */
    private void checkWords(LoggedMessage again) {
        if (!invocation.attached && !invocation.forms().hasWordsOf(again)) {
            throw new InvalidInputException(
                    "question",
                    "the service sent another text than message " + again.id() + " of memory " + key
                            + " has. Make it with Keepsake.aiServices or Keepsake.attach, or use Turn.edit");
        }
    }

    /**
     * Returns the question as it is stored. If an AI service is not to store what was retrieved, its listeners get the
     * question as it was before input guardrails, and an attached service the sent one.
     */
    @SuppressWarnings("ReferenceEquality")
    private ChatMessage asStored(ChatMessage message) {
        if (question != null || !(message instanceof UserMessage user)) {
            return message;
        }
        AskedForms forms = invocation.forms();
        if (invocation.leavesOutRetrieved) {
            UserMessage kept = forms.withoutRetrieved(user);
            if (!kept.equals(user)) {
                sent = memories.prepare(user);
            }
            return kept;
        }
        if (user != invocation.question || !forms.isRewritten()) {
            return user;
        }
        memories.turns.storesOriginal(key);
        return forms.withoutRetrieved(Objects.requireNonNull(forms.rewritten(), "rewritten"));
    }

    /** Leaves out the tool results that were written while other tools of their round still ran. */
    private List<ChatMessage> withoutWritten(List<ChatMessage> list) {
        List<ChatMessage> rest = new ArrayList<>(list);
        for (ChatMessage message : list) {
            NewMessage early = message instanceof ToolExecutionResultMessage result ? slow.added(result) : null;
            if (early != null && early.message().equals(message)) {
                rest.remove(message);
            } else if (early != null) {
                // It was compensated since. The later form is valid.
                mark(early.id(), Outcome.rejected("replaced"));
                buffer().awaited++;
            }
        }
        return rest;
    }

    /** Records that a tool has run. Writes its result if it waits too long for the results of the other tools. */
    void executed(ToolExecution execution) {
        locked(() -> later(slow.executed(execution), MOST_WAITS));
    }

    private void later(ToolExecutionResultMessage result, int waits) {
        long nanos = SlowResults.LONGEST_WAIT.toNanos();
        CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, memories.executor())
                .execute(() -> writeSlow(result, waits));
    }

    private void writeSlow(ToolExecutionResultMessage result, int waits) {
        locked(() -> {
            if (completed || failed) {
                return;
            }
            quietly(() -> {
                if (writeWaiting()) {
                    memories.log(key).flush(key);
                } else if (slow.isWaiting(result) && waits > 0) {
                    // A streaming model's tools may run before their calls are added.
                    later(result, waits - 1);
                }
            });
        });
    }

    /** Writes the results of an incomplete round. Otherwise the memory would not show that these tools have run. */
    private boolean writeWaiting() {
        List<NewMessage> waiting = slow.waiting().stream()
                .map(result -> memories.prepare(result).ofTurn(question))
                .toList();
        boolean written = writeEarly(waiting);
        if (written) {
            slow.written(waiting);
        }
        return written;
    }

    /** A question whose turn continues after an error has not failed. */
    private void reopen() {
        endsLater = false;
        if (failed && !cancelled && question != null) {
            failed = false;
            marked = true;
        }
    }

    /** Returns whether a late answer is the partial answer that is stored already. */
    private boolean isStored(List<ChatMessage> list, Written stored) {
        boolean same = list.size() == 1
                && list.get(0) instanceof AiMessage ai
                && !ai.hasToolExecutionRequests()
                && Objects.equals(ai.text(), stored.message().text());
        if (same && !cancelled && (end == null || end.outcome() == null)) {
            partial = null;
            mark(stored.id(), null);
        }
        return same;
    }

    /**
     * Adds an answer. An answer that follows a partial answer of this turn replaces it, unless other turns have
     * continued. An answer that comes after a cancellation goes to a separate branch.
     */
    private void replacePartial(List<ChatMessage> list) {
        Written replaced = partial;
        if (replaced == null) {
            if (cancelled && failed) {
                course().aside();
            }
            super.add(list);
            return;
        }
        partial = null;
        Parent parent = parentOf(replaced.id());
        if (!cancelled) {
            course().next(parent, replaced.id());
            try {
                super.add(list);
                return;
            } catch (HeadConflictException e) {
                LOG.debug("Memory {}: an answer came after the conversation had gone on", key);
            }
        }
        course().aside(parent);
        super.add(list);
    }

    @Override
    NewMessage prepare(ChatMessage message) {
        NewMessage prepared = super.prepare(message);
        if (message instanceof UserMessage user && question == null) {
            prepared = memories.asked(prepared, invocation.forms().of(user));
            question = prepared.id();
        }
        prepared = prepared.ofTurn(question);
        if (!(message instanceof AiMessage ai)) {
            return prepared;
        }
        AnswerEnd ended = end;
        end = null;
        if (ended != null) {
            prepared = prepared.withMade(ended.made());
            prepared = ai.hasToolExecutionRequests() ? prepared : prepared.withOutcome(ended.outcome());
        }
        return withRequest(prepared.withSeen(sightings.seen()));
    }

    /** Stores the request with its answer. If the request cannot be encoded, the answer must still be stored. */
    private NewMessage withRequest(NewMessage prepared) {
        ChatRequest request = sightings.untold();
        if (request == null || !memories.settings.keepsRequests()) {
            return prepared;
        }
        try {
            return prepared.withRequest(RequestCodec.encode(request));
        } catch (InvalidInputException e) {
            LOG.warn("Memory {}: the request of answer {} is not kept ({})", key, prepared.id(), e.toString());
            return prepared;
        }
    }

    @Override
    Append place(List<NewMessage> batch) {
        return course().place(batch);
    }

    @Override
    AppendResult send(WriteBuffer open, List<NewMessage> batch) {
        return inEpoch(() -> course().append(batch, open::inEpoch));
    }

    @Override
    @Nullable
    Tail after(Tail tail, List<NewMessage> batch, AppendResult result) {
        return course().after(tail, batch, result);
    }

    @Override
    @Nullable
    Tail known(WriteBuffer open) {
        return question == null ? super.known(open) : open.tail();
    }

    @Override
    long mostKnown() {
        return course().known();
    }

    @Override
    WriteBuffer next(WriteBuffer open) {
        WriteBuffer next = super.next(open);
        next.read(open.tail());
        return next;
    }

    @Override
    void changedList(Reading now) {
        course().changedList(now);
    }

    @Override
    void wrote(List<NewMessage> batch, AppendResult result) {
        hangs = false;
        NewMessage newest = batch.get(batch.size() - 1);
        course().wrote(batch, result);
        if (newest.id().equals(question)) {
            askedAt = memories.nanoTime();
            quietly(this::markKilled);
        }
        epoch = result.epoch();
        long sequence = result.lastSequence() - batch.size();
        for (NewMessage message : batch) {
            sequence++;
            if (message.message() instanceof UserMessage && !result.replayed()) {
                sightings.asked(sequence, message.message());
            }
        }
        if (newest.message() instanceof AiMessage ai && !ai.hasToolExecutionRequests()) {
            answer = new Written(newest.id(), ai);
            String asked = question;
            boolean isLate = memories.nanoTime() - askedAt
                    >= memories.settings.turnLimit().toNanos();
            // Another turn may have treated this one as dead.
            if (asked != null && (marked || isLate)) {
                mark(asked, null);
            }
        }
    }

    @Override
    Tail read(int atLeast) {
        return course().read(id, atLeast, question != null, this::withoutUnanswered);
    }

    @Override
    Tail asSent(Tail tail) {
        String asked = question;
        return asked == null ? tail : tail.showing(row -> row.id().equals(asked) ? asSent(row) : row);
    }

    private LoggedMessage asSent(LoggedMessage stored) {
        NewMessage now = sent;
        return now == null
                ? stored.asSent()
                : stored.asSent(((UserMessage) now.message()).toBuilder().build(), now.tokens(), now.tokenCounter());
    }

    /** Leaves out the questions that this turn's own one leaves out. An AI service reads before it adds that. */
    private Tail withoutUnanswered(Tail tail) {
        Tail shown = tail;
        for (LoggedMessage older : Turns.unanswered(tail.messages())) {
            unanswered.put(older.id(), older);
            shown = shown.without(older.id());
        }
        return shown;
    }

    @Override
    void shown(Tail tail, Context context, List<ChatMessage> messages) {
        sightings.shown(tail, context, messages);
        context.omitted().stream()
                .filter(omission -> omission.reason() == Omission.Reason.UNANSWERED_QUESTION)
                .map(Omission::message)
                .filter(message -> message.id().equals(message.question()))
                .forEach(message -> unanswered.put(message.id(), message));
    }

    /**
     * Marks questions whose turns have probably ended because their processes were killed. The clock of this process
     * decides whether to check. Two times of the store decide the result.
     */
    private void markKilled() {
        Instant since = Instant.now().minus(memories.settings.turnLimit());
        String asked = question;
        if (asked == null
                || unanswered.values().stream()
                        .noneMatch(message -> message.createdAt().isBefore(since))) {
            return;
        }
        Instant latest = stored(asked).createdAt().minus(memories.settings.turnLimit());
        List<LoggedMessage> killed = unanswered.values().stream()
                .filter(message -> message.createdAt().isBefore(latest))
                .toList();
        if (!killed.isEmpty()) {
            killed.forEach(message -> set(message.id(), Outcome.failed(KILLED)));
            course().learn();
        }
    }

    @Override
    @Nullable
    String branch() {
        return course().branch;
    }

    /** Returns the message behind which this turn goes on. */
    Parent end() {
        return underLock(() -> course().end());
    }

    /** Returns what this turn was shown last, with what it has added since; or null if the log must be read. */
    @Nullable
    Tail lastShown() {
        return underLock(() -> buffer().tail());
    }

    private TurnPosition course() {
        TurnPosition known = course;
        if (known == null) {
            memories.turns.begins(key);
            known = TurnPosition.of(begin, key, memories, this::checkWords);
            course = known;
        }
        return known;
    }

    @Override
    @SuppressWarnings("ReferenceEquality")
    public ChatRequest asAsked(ChatRequest request) {
        return underLock(() -> {
            LoggedMessage again = Objects.requireNonNull(course().question, "question");
            ChatMessage asks = sent == null ? again.message() : sent.message();
            List<ChatMessage> messages = new ArrayList<>(request.messages());
            messages.replaceAll(message -> message == passed ? asks : message);
            ChatRequest asked = request.toBuilder().messages(messages).build();
            return repeated && sightings.isFollowedByQuestion(asked)
                    ? sightings.asking(again.sequence(), asked)
                    : asked;
        });
    }

    // Events of the AI service.

    void requested(ChatRequest request) {
        locked(() -> sightings.requested(request, sent != null));
    }

    /** Records that the caller's stream returned a token. */
    void handOut(String token, Runnable consumer) {
        StreamedAnswer of = invocation.flux ? onTheWay.poll() : streamed;
        if (of == null) {
            consumer.run();
        } else {
            of.handOut(token, consumer);
        }
    }

    /** Returns whether the stream reports the tokens that it returns. */
    boolean isStreamWatched() {
        return streamWatched || invocation.flux;
    }

    /** Records that a token of an answer goes to the caller's stream. A flux may return it later. */
    void sends(StreamedAnswer answer) {
        if (invocation.flux) {
            onTheWay.add(answer);
        }
    }

    /** Stops the answer that is being streamed, if there is one. */
    void stopStream() {
        StreamedAnswer current = streamed;
        if (current != null) {
            current.stop();
        }
    }

    /** Records that a model of a type streams the answer to the last request. */
    void streams(StreamedAnswer next, Class<?> type) {
        locked(() -> {
            streamed = next;
            streaming = type;
        });
    }

    void responded(AiServiceResponseReceivedEvent event) {
        locked(() -> {
            // Without this library's model in front, only the reporter shows a stream. The thread does not: the one
            // that starts a stream reads it, too, if the response is there first.
            if (streaming == null && invocation.mayStream() && AnswerEnd.Streams.isReported()) {
                streaming = event.response().metadata().getClass();
            }
            end = endOf(event.response());
            reported = end;
        });
    }

    private AnswerEnd endOf(ChatResponse response) {
        boolean cut = streaming != null
                && (memories.turns.streamEnds.ended(streaming, response) || failed || partial != null);
        return AnswerEnd.of(response, cut);
    }

    /** Records a guardrail's result. No event reports the answers for which guardrails ask the model again. */
    void outputChecked(OutputGuardrailExecutedEvent event) {
        locked(() -> {
            AnswerEnd known = reported;
            reported = null;
            passes.checked(event, response -> known == null ? endOf(response) : known);
        });
    }

    /** Ends the turn when the call returned. The memory must show the answer that the user got. */
    void completed() {
        locked(() -> {
            completed = true;
            memories.turns.ended(key, this);
            end(() -> {
                flush();
                showGiven();
                memories.log(key).flush(key);
            });
        });
    }

    /** Replaces an answer that a guardrail refused or rewrote by the answer that the user got. */
    private void showGiven() {
        Written stored = answer;
        AiMessage given = passes.given();
        if (stored == null
                || given == null
                || Objects.equals(given.text(), stored.message().text())) {
            return;
        }
        NewMessage shown = passes.ended(memories.prepare(given)).ofTurn(question);
        List<NewMessage> batch = List.of(shown);
        try {
            memories.append(key, inEpoch(course().inPlaceOfNewest(parentOf(stored.id()), batch)));
        } catch (HeadConflictException e) {
            // Other turns have continued, so it follows what they said.
            course().append(batch, this::inEpoch);
        }
        answer = new Written(shown.id(), given);
        mark(stored.id(), Outcome.rejected(String.valueOf(passes.by())));
    }

    /** Records that the call returned a stream, which the caller must start. */
    void returned() {
        streamWatched = true;
        memories.turns.returned(key, this);
    }

    /** Ends the turn after the call threw an exception, or its stream reported an error. */
    void failed(Throwable error) {
        hangs |=
                error instanceof StorageUnavailableException || error.getCause() instanceof StorageUnavailableException;
        memories.turns.ended(key, this);
        failed(error.getClass().getName());
    }

    @Override
    public void failed(String reason) {
        if (endsLater) {
            return;
        }
        locked(() -> {
            if (completed || question == null || course().questionId() == null) {
                return;
            }
            Written refused = answer;
            String by = passes.by();
            boolean fails = partial == null && !failed;
            failed |= fails;
            end(() -> {
                if (!slow.waiting().isEmpty()) {
                    writeWaiting();
                }
                flush();
                if (refused != null) {
                    // The user got the error and not this answer.
                    set(refused.id(), Outcome.rejected(by == null ? reason : by));
                }
                if (fails) {
                    unanswered(reason);
                }
                memories.log(key).flush(key);
            });
        });
    }

    private void unanswered(String reason) {
        if (course().anotherAnswer) {
            course().back(epoch);
        } else if (question != null) {
            set(question, Outcome.failed(reason));
        }
    }

    /** Ends the turn when the stream ended before the answer was complete. */
    void brokeOff(String text, String reason, boolean byUser) {
        locked(() -> {
            cancelled |= byUser;
            if (answer != null || partial != null || question == null) {
                return;
            }
            if (text.isBlank()) {
                failed(reason);
                return;
            }
            AiMessage said = AiMessage.from(text);
            end = new AnswerEnd(Made.NOTHING, Outcome.incomplete(byUser ? AnswerEnd.CANCELLED : AnswerEnd.CUT));
            end(() -> {
                super.add(List.of(said));
                partial = answer;
                answer = null;
                memories.log(key).flush(key);
            });
        });
    }

    private Append inEpoch(Append append) {
        return epoch == null ? append : append.inEpoch(epoch);
    }

    private LoggedMessage stored(String messageId) {
        return Reads.message(memories.log(key), key, messageId)
                .orElseThrow(() -> UnknownMessageException.notThere(key, "message", messageId));
    }

    private Parent parentOf(String messageId) {
        return TurnPosition.parentOf(stored(messageId));
    }

    private void set(String messageId, @Nullable Outcome outcome) {
        memories.log(key).change(key, new Change.SetOutcome(messageId, outcome, epoch));
    }

    private void mark(String messageId, @Nullable Outcome outcome) {
        quietly(() -> set(messageId, outcome));
    }

    /** Ends the turn. A caller who has waited for the store in vain does not wait again. */
    private void end(Runnable step) {
        if (!hangs) {
            quietly(step);
        }
        if (hangs) {
            endsLater = true;
            quietly(() -> memories.executor().execute(() -> locked(() -> quietly(step))));
        }
    }

    /**
     * Runs the work after a turn's end. It must not replace the turn's own result or error. A turn also ends if its
     * thread is interrupted.
     */
    private void quietly(Runnable step) {
        try {
            Uninterrupted.call(() -> {
                step.run();
                return null;
            });
        } catch (ErasedException | UnknownMessageException e) {
            LOG.debug("Memory {}: the outcome of a turn is not stored, because its messages no longer exist", key);
        } catch (RuntimeException e) {
            hangs |= e instanceof StorageUnavailableException;
            LOG.warn("Memory {}: how a turn ended could not be kept ({})", key, e.toString());
        }
    }
}
