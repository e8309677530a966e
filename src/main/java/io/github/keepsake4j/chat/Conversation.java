package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.summary.SummaryFailedException;
import io.github.keepsake4j.text.MessageText;
import io.github.keepsake4j.text.OwnText;
import io.github.keepsake4j.turn.Turn;
import io.github.keepsake4j.turn.TurnConflictException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A handle for one memory, for an application or its user interface. It gives access to the messages that a model sees,
 * to the whole history, and to the branches. It has no state, so it is cheap and never out of date. Thread-safe.
 */
public final class Conversation {

    /** The number of messages that are searched for a preview. */
    private static final int PREVIEWED = 8;

    private static final int MAX_BRANCHES = 1_000;
    private static final int MAX_TREE = 10_000;

    private final Object id;
    private final MemoryKey key;
    private final SharedParts memories;

    /**
     * Creates a handle. Does no I/O. Applications obtain one from {@code Keepsake.conversation(id)}.
     *
     * @param id the id as the application passed it
     * @param key the memory that the id names
     * @param memories the parts that all memories share
     */
    Conversation(Object id, MemoryKey key, SharedParts memories) {
        this.id = id;
        this.key = key;
        this.memories = memories;
    }

    /**
     * Returns the memory's key.
     *
     * @return the key
     */
    public MemoryKey key() {
        return key;
    }

    /**
     * Returns the messages that a model sees. Unlike a chat memory, this method never fails because of a limit.
     * Messages that exceed the limit are left out.
     *
     * @return a new list, oldest first; empty for a memory that was never written
     */
    public List<ChatMessage> messages() {
        Context context = context();
        context.logged().forEach(shown -> memories.views.tellId(key, shown.message(), shown.id()));
        return context.messages();
    }

    /**
     * Returns the messages that a model sees and the messages that it does not see, with a reason for each of the
     * latter.
     *
     * @return the context
     */
    public Context context() {
        return context(tail());
    }

    /**
     * Explains which messages a model sees, which it does not see, and why. The explanation contains no message text.
     *
     * @return the explanation
     */
    public Explanation explain() {
        Tail tail = tail();
        return Explanation.of(key, tail, context(tail));
    }

    /**
     * Returns the messages that a model would see with another strategy, and those that it would not see. Use it to show what
     * a setting would change. This method only reads: nothing is stored, and no model is called. To find out what the strategy
     * would summarize, pass the context to {@link ContextStrategy#foldUpTo}.
     *
     * @param strategy the strategy to try
     * @return the context
     */
    public Context context(ContextStrategy strategy) {
        TailLoader loader = memories.loader(InvalidInputException.given("strategy", strategy));
        return memories.select(loader, strategy, id, key, tail(loader));
    }

    /**
     * Explains which messages a model would see with another strategy, which it would not see, and why. This method only
     * reads, as {@link #context(ContextStrategy)} does.
     *
     * @param strategy the strategy to try
     * @return the explanation
     */
    public Explanation explain(ContextStrategy strategy) {
        TailLoader loader = memories.loader(InvalidInputException.given("strategy", strategy));
        Tail tail = tail(loader);
        return Explanation.of(key, tail, memories.select(loader, strategy, id, key, tail));
    }

    /**
     * Reads one page of the whole history. It includes all branches.
     *
     * @param query the page to return
     * @return the page
     */
    public HistoryPage history(HistoryQuery query) {
        return memories.log(key).history(key, query);
    }

    /**
     * Reads the newest page of the whole history, as {@code history(HistoryQuery.newest(maxMessages))} does.
     *
     * @param maxMessages the maximum number of messages, 1 to 10,000
     * @return the page, oldest message first
     * @throws InvalidInputException if the number is out of range
     */
    public HistoryPage history(int maxMessages) {
        return history(HistoryQuery.newest(maxMessages));
    }

    /**
     * Returns the whole history as a stream, including all branches. The stream keeps only one page in the heap, so the
     * history may have any length. No resource stays open between pages, so the stream need not be closed, and messages
     * may be appended meanwhile. A stream that goes back does not return these messages; a stream that goes forward
     * may.
     *
     * @param firstPage the first page: its limit is the size of all pages, and its direction is the direction of the
     *     stream. {@code HistoryQuery.newest(200)} begins with the newest message, {@code HistoryQuery.oldest(200)}
     *     with the oldest
     * @return a sequential stream in order of sequence, which is descending if the pages go back
     */
    public Stream<LoggedMessage> historyStream(HistoryQuery firstPage) {
        return StreamSupport.stream(new HistoryPages(InvalidInputException.given("firstPage", firstPage)), false);
    }

    /**
     * Returns the id of a message object. The id is known for an instance that was read from this memory or added to it
     * in this process, if it was stored exactly once. Any other message is compared with the messages
     * that a model sees; if exactly one of them is equal, its id is returned. Costs one look-up or one read.
     *
     * @param message the message
     * @return the id of the stored message; empty if there is none, or if several messages are equal
     */
    public Optional<String> idOf(ChatMessage message) {
        Set<String> ids = memories.views.idsOf(key, InvalidInputException.given("message", message));
        if (ids.size() == 1 && !Reads.messages(memories.log(key), key, ids).isEmpty()) {
            return ids.stream().findFirst();
        }
        Context context = context();
        Map<String, LoggedMessage> originals = context.originals();
        List<String> equal = context.logged().stream()
                .filter(shown -> shown.message().equals(message)
                        || originals.getOrDefault(shown.id(), shown).message().equals(message))
                .map(LoggedMessage::id)
                .toList();
        return equal.size() == 1 ? Optional.of(equal.get(0)) : Optional.empty();
    }

    /**
     * Returns the question that a message belongs to, whatever other turns asked in between. Costs one read, unless many
     * messages are in between.
     *
     * @param messageId the id of an answer, of a tool's result, or of the question itself
     * @return the question, or empty if the branch has none
     * @throws InvalidInputException if the message is not in the memory
     */
    public Optional<LoggedMessage> questionOf(String messageId) {
        return TurnPosition.questionOf(memories.log(key), key, messageId);
    }

    /**
     * Returns the beginning of the newest message of a user or a model on the current branch, for a list of
     * conversations. Costs one read of a few messages.
     *
     * @return the preview; empty if no such message is among the newest {@value #PREVIEWED} messages
     */
    public Optional<MessagePreview> preview() {
        return branch(PREVIEWED).messages().stream()
                .filter(row -> row.message() instanceof UserMessage
                        || (row.message() instanceof AiMessage
                                && !MessageText.of(row.message()).isBlank()))
                .reduce((older, newer) -> newer)
                .map(MessagePreview::of);
    }

    /**
     * Lists the branches with the beginnings of their messages, so that a user can choose one. Costs the list of
     * branches and one look-up, regardless of the branches' lengths.
     *
     * @param maxBranches the maximum number of branches, 1 to 1,000. If there are more, the branches with the newest
     * leaves and the current branch are returned
     * @return the branches, newest first
     * @throws InvalidInputException if the number is out of range
     */
    public List<BranchPreview> branchPreviews(int maxBranches) {
        InvalidInputException.checkRange("maxBranches", 1, MAX_BRANCHES, maxBranches);
        List<Branch> all = branches();
        List<Branch> chosen = new ArrayList<>(all.subList(0, Math.min(all.size(), maxBranches)));
        if (chosen.stream().noneMatch(Branch::current)) {
            all.stream().filter(Branch::current).findFirst().ifPresent(current -> {
                chosen.set(chosen.size() - 1, current);
            });
        }
        Set<String> ids = new HashSet<>();
        chosen.forEach(branch -> ids.addAll(List.of(branch.firstOwnId(), branch.leafId())));
        Map<String, MessagePreview> previews = new HashMap<>();
        Reads.messages(memories.log(key), key, ids)
                .forEach(found -> previews.put(found.id(), MessagePreview.of(found)));
        List<BranchPreview> shown = new ArrayList<>();
        for (Branch branch : chosen) {
            MessagePreview first = previews.get(branch.firstOwnId());
            MessagePreview last = previews.get(branch.leafId());
            // Otherwise the memory was erased meanwhile.
            if (first != null && last != null) {
                shown.add(new BranchPreview(branch, first, last));
            }
        }
        return shown;
    }

    /**
     * Lists the branches by their leaves. If other branches continue from the newest message of the current branch,
     * that message is not a leaf, and no entry is the current one.
     *
     * @return one entry for each branch, newest first
     */
    public List<Branch> branches() {
        return memories.log(key).branches(key);
    }

    /**
     * Returns the newest messages of all branches as a tree, for a user interface that draws it or that shows "2 of 3"
     * beside an answer. Costs one page of the history and one look-up. The tree is in the heap at once.
     *
     * @param maxMessages the maximum number of messages, 1 to 10,000. If there are more, the oldest returned messages
     * name parents that are not in the tree
     * @return the messages, oldest first
     * @throws InvalidInputException if the number is out of range
     */
    public List<TreeNode> tree(int maxMessages) {
        InvalidInputException.checkRange("maxMessages", 1, MAX_TREE, maxMessages);
        List<LoggedMessage> messages = history(HistoryQuery.newest(maxMessages)).messages();
        Set<Long> current = memories.log(key)
                .onBranch(key, messages.stream().map(LoggedMessage::sequence).toList());
        Map<String, List<String>> children = new HashMap<>();
        for (LoggedMessage message : messages) {
            children.computeIfAbsent(message.parentId(), parent -> new ArrayList<>())
                    .add(message.id());
        }
        return messages.stream()
                .map(message -> new TreeNode(
                        message, current.contains(message.sequence()), children.getOrDefault(message.id(), List.of())))
                .toList();
    }

    /**
     * Returns the messages of this memory that a model was shown when it gave an answer. They are known for answers of
     * AI services whose turns are bound (see {@code Keepsake.attach}), and of nodes that {@code LlmNode} runs. Costs
     * one look-up and one read for each run of messages. The whole request is included only if
     * {@code Keepsake.Builder.keepRequests()}, or {@code WorkflowMemories.Builder.keepRequests()} for nodes, stored it.
     *
     * @param answerId the id of an assistant message
     * @return the messages that the model was shown, or empty if they are not known
     * @throws InvalidInputException if the message is not in the memory
     */
    public Optional<SeenMessages> seenBy(String answerId) {
        MessageLog log = memories.log(key);
        Made made = made(answerId);
        return Optional.ofNullable(made.seen())
                .map(seen -> SeenMessages.read(log, key, answerId, seen, made.request()));
    }

    /**
     * Returns how an answer was made: the model, its tokens, why it ended, and the request if it was kept. These are
     * known for answers of AI services whose turns are bound, as far as the model's provider returns them. Costs one
     * look-up.
     *
     * @param answerId the id of an assistant message
     * @return the notes; {@link Made#NOTHING} if there are none
     * @throws InvalidInputException if the message is not in the memory
     */
    public Made made(String answerId) {
        return Reads.made(memories.log(key), key, List.of(answerId)).getOrDefault(answerId, Made.NOTHING);
    }

    /**
     * Reads the newest messages of the current branch as they were logged, regardless of views and limits.
     *
     * @param maxMessages the maximum number of messages, 0 or more
     * @return the messages, oldest first; {@link Tail#missingParent()} names the oldest message's parent if that is not
     *     in the memory
     * @throws InvalidInputException if the number is negative
     */
    public Tail branch(int maxMessages) {
        return memories.meter.read(key, memories.log(key).read(key, ReadQuery.newest(maxMessages)));
    }

    /**
     * Reads the newest messages of the branch that ends in the given message.
     *
     * @param messageId the branch's newest message
     * @param maxMessages the maximum number of messages, 0 or more
     * @return the messages, oldest first; {@link Tail#missingParent()} names the oldest message's parent if that is not
     *     in the memory
     * @throws InvalidInputException if the number is negative or the message is not in the memory
     */
    public Tail branch(String messageId, int maxMessages) {
        return memories.meter.read(
                key, memories.log(key).read(key, ReadQuery.newest(maxMessages).endingIn(messageId)));
    }

    /**
     * Compares two branches, such as two answers to one question. If the branches fork in their newest 64 messages,
     * costs two reads, or three for a long common part. Otherwise, wider reads follow. The whole result is in the heap
     * at once.
     *
     * @param firstId the newest message of the first branch, such as a {@link Branch#leafId()}
     * @param secondId the newest message of the second branch
     * @return the common messages of the branches, and the messages of only one of them
     * @throws InvalidInputException if one of the messages is not in the memory
     */
    public BranchComparison compare(String firstId, String secondId) {
        return BranchComparison.of(firstId, secondId, this::branch);
    }

    /**
     * Makes another message the head, so that the conversation continues from there. The previous branch is kept. A
     * {@code clear()} applies only to branches that continue from the message that was the head when it was called.
     *
     * @param messageId the new head, such as a {@link Branch#leafId()}
     * @throws InvalidInputException if the message is not in the memory
     */
    public void switchTo(String messageId) {
        memories.log(key).change(key, new Change.MoveHead(messageId, null));
    }

    /**
     * Appends a message. If its parent is not the head, the message begins a new branch, which becomes the current one.
     * An assistant message under a question, or a result of a tool under its calls, belongs to that question. With a
     * named parent, it costs one look-up more.
     *
     * @param parent the parent of the message
     * @param messageId the message's id, unique within the memory; a message is never stored twice under the same id
     * @param message the message
     * @return the outcome
     */
    public AppendResult append(Parent parent, String messageId, ChatMessage message) {
        NewMessage added = memories.prepare(messageId, message, null)
                .ofTurn(TurnPosition.continued(memories.log(key), key, parent, message));
        return memories.append(key, Append.under(parent, List.of(added)));
    }

    /**
     * Imports a message from another system, with its id and its parent's id. Import parents before their children. A
     * message whose parent is not in the memory is stored, and reads of its branch report the missing parent.
     *
     * @param messageId the message's id, unique within the memory; a message is never stored twice under the same id
     * @param parentId the parent's id, null if there is no parent, or the all-zero UUID
     *     ({@link io.github.keepsake4j.message.Ids#BEFORE_IN_TIME}) if the parent is the last stored one
     * @param message the message
     * @param createdAt when the message was created, or null for now
     * @return the outcome
     */
    public AppendResult importMessage(
            String messageId, @Nullable String parentId, ChatMessage message, @Nullable Instant createdAt) {
        // Checks the parent's id before the message is encoded.
        Parent parent = Parent.behind(parentId);
        NewMessage imported = memories.prepare(messageId, message, createdAt)
                .ofTurn(TurnPosition.continued(memories.log(key), key, parent, message));
        return memories.append(key, Append.under(parent, List.of(imported)).asImport());
    }

    /**
     * Imports the conversation from the store that {@code Keepsake.Builder.importFrom} names, as its first use does. Call
     * it for each id to move all conversations at once. Without such a store, it imports nothing.
     *
     * @return the number of messages that the conversation has afterwards, on all branches
     */
    public long importNow() {
        return info().map(MemoryInfo::messages).orElse(0L);
    }

    /**
     * Creates the due summaries on the caller's thread. This is meant for batch jobs. A conversation that was never
     * summarized may require several calls of the summarizer.
     *
     * @return the number of summaries that were created; 0 if none was due
     * @throws InvalidInputException if there is no summarizer
     * @throws SummaryFailedException if a summary could not be created; retryable; earlier summaries are kept
     */
    public int summarizeNow() {
        return memories.summaries.now(id, key);
    }

    /**
     * Starts the creation of the due summaries in the background. A chat memory does this whenever it is read; this
     * method is meant for applications that only use this handle. Reads once, and calls no summarizer on the caller's
     * thread. Does nothing without a summarizer.
     */
    public void summarizeInBackground() {
        Tail tail = tail();
        memories.summaries.check(id, key, tail, () -> context(tail));
    }

    /**
     * Reads all summaries, including those that newer summaries have replaced.
     *
     * @return the summaries, in the order in which they were created
     */
    public List<Summary> summaries() {
        return Reads.summaries(memories.log(key), key);
    }

    /**
     * Reads the entry of this conversation in a list: title, metadata, counts and times. The cost is the same as of
     * {@link MessageLog#details}.
     *
     * @return the entry, or empty if the memory was never written or was erased
     */
    public Optional<MemoryInfo> info() {
        return Optional.ofNullable(Reads.info(memories.log(key), key));
    }

    /**
     * Sets the title that a list of conversations shows, and keeps the metadata.
     *
     * @param title the title, without NUL and at most 1,000 characters, or null for none
     */
    public void setTitle(@Nullable String title) {
        memories.log(key).change(key, Change.Describe.title(title));
    }

    /**
     * Sets the title and the metadata that a list of conversations shows. The previous ones are replaced.
     *
     * @param title the title, or null for none
     * @param metadata short texts by name
     */
    public void describe(@Nullable String title, Map<String, String> metadata) {
        memories.log(key).change(key, Change.Describe.as(title, InvalidInputException.given("metadata", metadata)));
    }

    /**
     * Changes a part of the metadata in one step, as {@link Change.Describe} describes.
     *
     * @param changes texts by name; null removes a name; an empty map only reads
     * @return the metadata after the changes
     * @throws InvalidInputException if a name is null
     */
    public Map<String, String> mergeMetadata(Map<String, @Nullable String> changes) {
        return memories.log(key).change(key, Change.Describe.merging(changes));
    }

    /**
     * Lets the memory expire after it was not used for a period. An append is a use, a read is not. The next {@code CleanUp}
     * then removes it; until then, it can be used. A clean-up also removes it when it is idle for the clean-up's own
     * period. The period is in the metadata {@link MemoryInfo#EXPIRE_AFTER_USE}, so
     * {@code describe} without it ends the expiry, and {@code metadataAtCreation} can set it for new memories.
     *
     * @param period the period, longer than zero and at most 1,000 years, or null for none
     * @throws InvalidInputException if the period is out of range
     */
    public void expireAfterUse(@Nullable Duration period) {
        mergeMetadata(Collections.singletonMap(MemoryInfo.EXPIRE_AFTER_USE, period == null ? null : period.toString()));
    }

    /**
     * Lets the memory expire at a time, even if it is used. The next {@code CleanUp} then removes it. The time is in the
     * metadata {@link MemoryInfo#EXPIRE_AT}, as {@link #expireAfterUse} describes.
     *
     * @param time the time, or null for none
     */
    public void expireAt(@Nullable Instant time) {
        mergeMetadata(Collections.singletonMap(MemoryInfo.EXPIRE_AT, time == null ? null : time.toString()));
    }

    /**
     * Looks for damage in all stored data of this memory. Changes nothing.
     *
     * @return the damage, at most {@link Damage#MAX_REPORTED} entries; empty for a sound memory
     */
    public List<Damage> check() {
        return memories.log(key).check(key);
    }

    /**
     * Makes a damaged memory usable again, as {@link io.github.keepsake4j.log.MessageLog#repair} describes. Deletes no
     * messages.
     *
     * @return a report of the repair
     */
    public Repair repair() {
        return memories.log(key).repair(key);
    }

    /**
     * Deletes the memory with its messages, views, summaries, leases and title. This cannot be undone. The id can be used
     * for a new memory.
     *
     * <p>A tombstone remains: a hash of the id, and an epoch that serves to refuse late writes. The memories of the
     * conversation's nodes remain too, with all that belongs to them; {@link #eraseWithNodes()} deletes them as
     * well. Files that messages refer to, backups of the store, and versions that a bucket keeps are not touched.
     *
     * @return the number of messages that were deleted, on all branches. Messages that cannot be counted, because the
     *     memory is damaged or was not imported yet, are deleted too
     */
    public long erase() {
        return memories.settings.outside().erase(key);
    }

    /**
     * Deletes the conversation as {@link #erase()} does, and also the memories of its nodes in all applications.
     * They are looked up in the node log and in the message log. This cannot be undone. If this method throws, some
     * memories may not have been deleted; a further call deletes the rest. A turn of a node that is in progress can make a
     * new memory, so end the conversation's turns before.
     *
     * @return the number of nodes' memories that were deleted
     * @throws InvalidInputException if this is a node's memory
     */
    public int eraseWithNodes() {
        return memories.settings.outside().eraseWithNodes(key);
    }

    /**
     * Forks the conversation: the branch up to a message becomes a separate conversation, as {@code MemoryFork} describes.
     * The same call can be repeated; it changes nothing after the fork exists.
     *
     * @param messageId the newest message of the fork, on any branch of the conversation
     * @param newMemoryId an id without messages, or this fork's id if it exists
     * @return a handle for the fork
     * @throws InvalidInputException if an id is of another type or breaks a rule, if the tenants differ, if only one id
     * names a conversation, or if the message is not in the conversation
     * @throws KeepsakeException if the new id has messages of its own; they are unchanged
     */
    public Conversation fork(String messageId, Object newMemoryId) {
        MemoryKey into = memories.key(newMemoryId);
        memories.settings.outside().fork(key, messageId, into);
        return new Conversation(newMemoryId, into, memories);
    }

    /**
     * Forks the conversation as it is now: its current branch becomes a separate conversation.
     *
     * @param newMemoryId an id without messages
     * @return a handle for the fork
     * @throws InvalidInputException if this conversation has no messages, or for a reason of {@link #fork(String, Object)}
     * @throws KeepsakeException if the new id has messages of its own; they are unchanged
     */
    public Conversation fork(Object newMemoryId) {
        String head = branch(1).head();
        if (head == null) {
            throw new InvalidInputException(
                    "memory id", "must name a conversation with messages to fork, but has none: " + key);
        }
        return fork(head, newMemoryId);
    }

    /**
     * Runs a turn as {@code Keepsake.turn} does, at another place than the newest message. Use it to retry, regenerate
     * or edit when the method of the AI service has no parameter for a {@link Turn}. The message of the turn applies to
     * the first call that the body makes with this memory on the caller's thread; a branch applies to all calls. A
     * {@link Turn} that is passed to a call takes precedence, and works on any thread.
     *
     * <pre>{@code
     * String other = keepsake.conversation("42").turn(Turn.regenerate(answerId), () -> assistant.chat("42", question));
     * }</pre>
     *
     * @param turn how the turn begins
     * @param body the turn
     * @param <T> the type of the turn's result
     * @return the body's result
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
     * @throws InvalidInputException if an id breaks a rule, or if the turn names a message and the body first calls an AI
     *     service with another memory of this {@code Keepsake}; nothing is written then
     * @throws KeepsakeException if the turn names a message and the body returns although no call has used it, for
     *     example because the call was on another thread; what such a call asked is stored as a new question. A call
     *     that returned a stream or a future has used it
     */
    public <T extends @Nullable Object> T turn(Turn turn, Supplier<? extends T> body) {
        List<?> calls = CallsOfThread.all();
        return memories.settings.turns().run(key, null, () -> memories.turns.with(key, turn, calls, body));
    }

    /**
     * Regenerates an answer with its question, as {@link Turn#regenerate} describes.
     *
     * <pre>{@code
     * String other = keepsake.conversation("42").regenerate(answerId, question -> assistant.chat("42", question.singleText()));
     * }</pre>
     *
     * @param answerId the id of the stored answer
     * @param call calls the AI service once with the given question and the same memory id, on the caller's thread.
     *     The question has only the user's own text, so that retrieval, guardrails and format instructions are applied
     *     once. The call may return a stream that is started later
     * @param <T> the type of the call's result
     * @return the call's result
     * @throws TurnConflictException as {@code Keepsake.turn} does
     * @throws InvalidInputException if an id breaks a rule, or the message is not an answer to a question in the memory
     * @throws KeepsakeException if the function makes no such call, as {@link #turn(Turn, Supplier)} describes
     */
    public <T extends @Nullable Object> T regenerate(String answerId, Function<UserMessage, ? extends T> call) {
        return again(Turn.regenerate(answerId), "answerId", answerId, call);
    }

    /**
     * Asks a question again that got no answer, as {@link Turn#retry} describes. If the question has an answer, the new one
     * is a sibling of it.
     *
     * @param userMessageId the id of the stored question
     * @param call calls the AI service, as in {@link #regenerate}
     * @param <T> the type of the call's result
     * @return the call's result
     * @throws TurnConflictException as {@code Keepsake.turn} does
     * @throws InvalidInputException if an id breaks a rule, or the message is not a question in the memory
     * @throws KeepsakeException if the function makes no such call, as {@link #turn(Turn, Supplier)} describes
     */
    public <T extends @Nullable Object> T retry(String userMessageId, Function<UserMessage, ? extends T> call) {
        return again(Turn.retry(userMessageId), "userMessageId", userMessageId, call);
    }

    /**
     * Asks another question in place of a stored one, as {@link Turn#edit} describes.
     *
     * <pre>{@code
     * keepsake.conversation("42").edit(questionId, UserMessage.from("Who?"), asked -> assistant.chat("42", asked.singleText()));
     * }</pre>
     *
     * @param userMessageId the id of the stored question
     * @param message the question that replaces it
     * @param call calls the AI service with this question, as in {@link #regenerate}
     * @param <T> the type of the call's result
     * @return the call's result
     * @throws TurnConflictException as {@code Keepsake.turn} does
     * @throws InvalidInputException if an id breaks a rule, or the message is not a question in the memory
     * @throws KeepsakeException if the function makes no such call, as {@link #turn(Turn, Supplier)} describes
     */
    public <T extends @Nullable Object> T edit(
            String userMessageId, UserMessage message, Function<UserMessage, ? extends T> call) {
        InvalidInputException.given("message", message);
        Turn turn = Turn.edit(userMessageId);
        question("userMessageId", userMessageId);
        return turn(turn, () -> call.apply(message));
    }

    private <T extends @Nullable Object> T again(
            Turn turn, String parameter, String messageId, Function<UserMessage, ? extends T> call) {
        LoggedMessage question = question(parameter, messageId);
        UserMessage stored = (UserMessage) question.message();
        UserMessage own = question.asked() == null
                ? OwnText.without(stored)
                : OwnText.with(stored, question.asked().text());
        return turn(turn, () -> call.apply(own));
    }

    /** Returns the question that a caller's message belongs to. */
    private LoggedMessage question(String parameter, String messageId) {
        Optional<LoggedMessage> asked;
        try {
            asked = questionOf(messageId);
        } catch (UnknownMessageException e) {
            throw UnknownMessageException.notThere(key, parameter, messageId);
        }
        return asked.filter(found -> found.message() instanceof UserMessage)
                .orElseThrow(() -> new InvalidInputException(
                        parameter,
                        "must belong to a question; message " + messageId + " of memory " + key
                                + " has none before it"));
    }

    /**
     * Stops the answers that models are streaming in this memory. Use it when a user presses a stop button. Each stream
     * is stopped as if its handle was cancelled. Afterwards, no token is delivered except one that is already being
     * delivered. The delivered part is kept as an incomplete answer. If no part was delivered, as with output guardrails,
     * the turn has failed. LangChain4j calls no listener of a cancelled stream, so the caller must end the response to the
     * user itself. If LangChain4j cannot cancel a model, the model completes its answer on a branch that is not shown.
     * Answers of other processes, calls without a stream, and running tools continue. Only streams of AI services with a
     * {@code Keepsake.remembering} model can be stopped; {@code Keepsake.aiServices} and {@code Keepsake.attach} set such a
     * model.
     *
     * @return the number of answers that were in progress
     */
    public int stop() {
        return memories.turns.stop(key);
    }

    /** Returns the class and the key, without text of messages. */
    @Override
    public String toString() {
        return "Conversation[" + key + "]";
    }

    /** Returns whether no summary is being made in this process. */
    boolean isSummarized() {
        return memories.summaries.isIdle(key);
    }

    /** Goes through the history page by page, in the direction of its query. Holds one page. Used by one thread. */
    private final class HistoryPages extends AbstractSpliterator<LoggedMessage> {

        private final Deque<LoggedMessage> page = new ArrayDeque<>();
        private Optional<HistoryQuery> next;

        HistoryPages(HistoryQuery first) {
            super(Long.MAX_VALUE, ORDERED | DISTINCT | NONNULL);
            this.next = Optional.of(first);
        }

        @Override
        public boolean tryAdvance(Consumer<? super LoggedMessage> action) {
            while (page.isEmpty() && next.isPresent()) {
                HistoryPage read = history(next.get());
                read.messages().forEach(next.get().forward() ? page::addLast : page::addFirst);
                next = read.next();
            }
            LoggedMessage message = page.pollFirst();
            if (message == null) {
                return false;
            }
            action.accept(message);
            return true;
        }

        /** A split would read ahead. */
        @Override
        public @Nullable Spliterator<LoggedMessage> trySplit() {
            return null;
        }
    }

    private Tail tail() {
        return memories.load(id, key, 0);
    }

    private Tail tail(TailLoader loader) {
        return memories.meter.read(key, loader.load(id, key, 0, query -> loader.read(memories.log(key), key, query)));
    }

    private Context context(Tail tail) {
        return memories.select(id, key, tail, memories.remembered(key, tail));
    }

    /**
     * A message in the tree of a conversation. Its parent is {@link LoggedMessage#parentId()}.
     *
     * @param message the message
     * @param current whether it is on the current branch
     * @param childIds the ids of the messages that follow it, oldest first: several where branches fork, none for a leaf
     */
    public record TreeNode(LoggedMessage message, boolean current, List<String> childIds) {

        /** Copies the ids. */
        public TreeNode {
            childIds = List.copyOf(childIds);
        }
    }

    /**
     * One branch of a conversation as a list of branches shows it.
     *
     * @param branch the branch
     * @param first the oldest message that no other branch has, which distinguishes the branches
     * @param last the branch's newest message; the same as the first one if only one message is not shared
     */
    public record BranchPreview(Branch branch, MessagePreview first, MessagePreview last) {}
}
