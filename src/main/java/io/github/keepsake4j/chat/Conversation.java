package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.summary.SummaryFailedException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One memory as an application or its user interface sees it: what is shown, everything that was ever said, and its
 * branches. A handle without state: cheap, thread-safe, and never out of date.
 */
public final class Conversation {

    private final Object id;
    private final MemoryKey key;
    private final ChatMemorySettings settings;

    /**
     * Makes a handle; no I/O. Users get one from {@code Keepsake.conversation(id)}.
     *
     * @param id the id as the user gave it
     * @param key the memory that it names
     * @param settings what all memories share
     */
    Conversation(Object id, MemoryKey key, ChatMemorySettings settings) {
        this.id = id;
        this.key = key;
        this.settings = settings;
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
     * Returns what a model sees. Unlike a chat memory this never fails because of a limit: what does not fit is left out.
     *
     * @return a new list, oldest first; empty for a memory that was never written
     */
    public List<ChatMessage> messages() {
        return context().messages();
    }

    /**
     * Returns what a model sees, and what it does not see and why, with the messages themselves.
     *
     * @return the context
     */
    public Context context() {
        return context(tail());
    }

    /**
     * Explains what a model sees, what it does not see, and why, without message text.
     *
     * @return the explanation
     */
    public Explanation explain() {
        Tail tail = tail();
        return Explanation.of(key, tail, context(tail));
    }

    /**
     * Reads one page of everything that was ever said, all branches.
     *
     * @param query the page
     * @return the page
     */
    public HistoryPage history(HistoryQuery query) {
        return settings.log().history(key, query);
    }

    /**
     * Lists the branches by their leaves.
     *
     * @return one entry for each branch, newest first
     */
    public List<Branch> branches() {
        return settings.log().branches(key);
    }

    /**
     * Reads the current branch as it was logged, whatever view or limit there is.
     *
     * @param maxMessages how many of its newest messages at most, 0 or more
     * @return the messages, oldest first; it tells if the oldest one's parent is missing
     */
    public Tail branch(int maxMessages) {
        return settings.meter().read(settings.log().read(key, ReadQuery.newest(maxMessages)));
    }

    /**
     * Reads the branch that ends in a message.
     *
     * @param messageId the branch's newest message
     * @param maxMessages how many messages at most, 0 or more
     * @return the messages, oldest first; it tells if the oldest one's parent is missing
     */
    public Tail branch(String messageId, int maxMessages) {
        return settings.meter()
                .read(settings.log().read(key, ReadQuery.newest(maxMessages).endingIn(messageId)));
    }

    /**
     * Goes on from another message: it becomes the head. The branch that was current stays. A {@code clear()} holds on the
     * branches that go on from where it was said, not on others.
     *
     * @param messageId the new head, such as a {@link Branch#leafId()}
     */
    public void switchTo(String messageId) {
        settings.log().moveHead(key, messageId, null);
    }

    /**
     * Appends a message. Under an older message this begins a branch, which becomes the current one.
     *
     * @param parent what it follows
     * @param messageId its id, unique within the memory; with the same id the same message is never stored twice
     * @param message the message
     * @return what was done
     */
    public AppendResult append(Parent parent, String messageId, ChatMessage message) {
        return settings.append(key, Append.under(parent, List.of(newMessage(messageId, message, null))));
    }

    /**
     * Takes over a message from another system, with its ids. Parents come first; one that is not there is kept and
     * reported when the branch is read.
     *
     * @param messageId its id, unique within the memory; with the same id the same message is never stored twice
     * @param parentId its parent's id; null for none; the all-zero UUID for the message before it
     * @param message the message
     * @param createdAt when it was made, or null for now
     * @return what was done
     */
    public AppendResult importMessage(
            String messageId, @Nullable String parentId, ChatMessage message, @Nullable Instant createdAt) {
        Parent parent = parentId == null ? Parent.root() : Parent.of(parentId);
        NewMessage imported = newMessage(messageId, message, createdAt);
        return settings.append(key, Append.under(parent, List.of(imported)).asImport());
    }

    /**
     * Makes the summaries that are due, now and on this thread, as a batch job does. In a conversation that was never
     * summarized that may take several calls of the summarizer.
     *
     * @return how many summaries were made; 0 if none was due
     * @throws InvalidInputException if there is no summarizer
     * @throws SummaryFailedException if one could not be made; retryable, and those that were made before are kept
     */
    public int summarizeNow() {
        return settings.summaries().now(id, key);
    }

    /**
     * Reads every summary that was ever made, also those that newer ones have replaced.
     *
     * @return all of them, in the order in which they were made
     */
    public List<Summary> summaries() {
        return settings.log().summaries(key);
    }

    /**
     * Sets what a list of conversations shows.
     *
     * @param title the title, or null for none
     * @param metadata any short texts by name; replaces what was there
     */
    public void describe(@Nullable String title, Map<String, String> metadata) {
        settings.log().describe(key, title, metadata);
    }

    /**
     * Looks for damage in everything that is stored of this memory. Changes nothing.
     *
     * @return what is damaged, at most {@link Damage#MAX_REPORTED} entries; empty for a sound memory
     */
    public List<Damage> check() {
        return settings.log().check(key);
    }

    /**
     * Makes a damaged memory usable again, as {@link io.github.keepsake4j.log.MessageLog#repair} says. Deletes no messages.
     *
     * @return what was done
     */
    public Repair repair() {
        return settings.log().repair(key);
    }

    /** Deletes the memory: messages, views, summaries, title. Nothing brings it back; its id is free for a new one. */
    public void erase() {
        settings.log().erase(key);
    }

    /** Whether no summary is being made in this process. */
    boolean isSummarized() {
        return settings.summaries().isIdle(key);
    }

    private Tail tail() {
        return settings.load(key, settings.strategy().reach(id));
    }

    private Context context(Tail tail) {
        return settings.strategy().select(TailLoader.context(id, tail));
    }

    private NewMessage newMessage(String messageId, ChatMessage message, @Nullable Instant createdAt) {
        TokenCounter.Count count = settings.counter().count(message);
        return new NewMessage(messageId, message, count.tokens(), count.counter(), createdAt);
    }
}
