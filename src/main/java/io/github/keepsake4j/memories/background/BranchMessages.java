package io.github.keepsake4j.memories.background;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.SourceMessage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.text.OwnText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a conversation's current branch as sources of memories, each with its trust.
 *
 * <ul>
 *   <li>A user message has the text that the user wrote, and {@link Trust#USER}. Retrieved texts are left out.
 *   <li>A tool's result has {@link Trust#TOOL}, or {@link Trust#RETRIEVED} if it contains memories or recalled
 * messages.
 *   <li>An answer has the least trust of the texts that the model was shown for it, and {@link Trust#ASSISTANT} at
 * most. If these texts are not known, everything before the answer on its branch counts. Memories that the model was
 * shown count with their own trust if their store is known and has them, otherwise as {@link Trust#RETRIEVED}.
 * </ul>
 *
 * <p>Failed and rejected messages and system messages are left out. Thread-safe.
 */
public final class BranchMessages {

    private static final int REMEMBERED = 100_000;

    /** The number of answers whose notes are read at once. */
    private static final int AT_ONCE = 500;

    private final Function<MemoryKey, MessageLog> logs;
    private final @Nullable LongTermMemoryReader memories;

    /**
     * The least trust of the texts up to a message. The ancestors of a message never change, so this does not change
     * either.
     */
    private final RecentlyUsed<BranchPoint, Trust> exposures = new RecentlyUsed<>(REMEMBERED);

    private record BranchPoint(MemoryKey key, long epoch, String messageId) {}

    /**
     * Reads from one log.
     *
     * @param log the log
     */
    public BranchMessages(MessageLog log) {
        this(key -> log, null);
    }

    /**
     * Creates a reader for several logs whose conversations are shown memories.
     *
     * @param logs returns the log of a memory
     * @param memories returns the trust of memories that answers were shown, or null if it is not known
     */
    public BranchMessages(Function<MemoryKey, MessageLog> logs, @Nullable LongTermMemoryReader memories) {
        this.logs = Objects.requireNonNull(logs, "logs");
        this.memories = memories;
    }

    /**
     * A branch as it was read.
     *
     * @param epoch the epoch of the memory; when it has changed, the memory was erased
     * @param messages the messages from the beginning of the conversation, oldest first
     */
    public record Branch(long epoch, List<SourceMessage> messages) {

        /** Copies the messages. */
        public Branch {
            messages = List.copyOf(messages);
        }
    }

    /**
     * Reads the current branch. It costs one statement, and one for each 500 answers that this object has not read
     * before.
     *
     * @param key the conversation
     * @return the messages; empty if there is none
     */
    public Branch read(MemoryKey key) {
        MessageLog log = logs.apply(key);
        var tail = log.read(key, ReadQuery.wholeBranch());
        Map<Long, Trust> exposed = new LinkedHashMap<>();
        List<SourceMessage> messages = new ArrayList<>();
        LoggedMessage before = null;
        Map<String, Trust> known = new HashMap<>();
        List<String> unknown = new ArrayList<>();
        for (LoggedMessage logged : tail.messages()) {
            Trust exposure = exposures.get(new BranchPoint(key, tail.epoch(), logged.id()));
            if (exposure != null) {
                known.put(logged.id(), exposure);
            } else if (logged.message() instanceof AiMessage) {
                unknown.add(logged.id());
            }
        }
        Map<String, Made> made = made(log, key, unknown);
        for (LoggedMessage logged : tail.messages()) {
            ChatMessage message = logged.message();
            String recorded = logged.textForModels();
            // The trust is that of all texts that were sent.
            OwnText own = recorded == null
                    ? OwnText.of(message)
                    : new OwnText(
                            recorded.strip(),
                            !logged.isRetrieved() && OwnText.of(message).isAll());
            Trust exposure = known.get(logged.id());
            if (exposure == null) {
                exposure = exposure(key, logged, made.getOrDefault(logged.id(), Made.NOTHING), before, own, exposed);
                exposures.put(new BranchPoint(key, tail.epoch(), logged.id()), exposure);
            }
            exposed.put(logged.sequence(), exposure);
            before = logged;
            if (isSource(logged)) {
                // What a guardrail made of a question with retrieved texts may still have them.
                boolean isMixed = logged.isRetrieved() && !logged.hasLaterForm();
                Trust trust = message instanceof UserMessage && !isMixed ? Trust.USER : exposure;
                messages.add(new SourceMessage(
                        logged.id(), own.isAll() && recorded == null ? message : withText(message, own), trust));
            }
        }
        return new Branch(tail.epoch(), messages);
    }

    /** Returns how answers were made, without the large parts. */
    private static Map<String, Made> made(MessageLog log, MemoryKey key, List<String> answers) {
        Map<String, Made> made = new HashMap<>();
        for (int from = 0; from < answers.size(); from += AT_ONCE) {
            Reads.made(log, key, answers.subList(from, Math.min(answers.size(), from + AT_ONCE)))
                    .forEach((id, each) -> made.put(id, each.withRequest(null)));
        }
        return made;
    }

    private static boolean isSource(LoggedMessage logged) {
        Outcome outcome = logged.outcome();
        boolean endedBadly = outcome != null && outcome.kind() != Outcome.Kind.INCOMPLETE;
        return !endedBadly && !(logged.message() instanceof SystemMessage);
    }

    /**
     * Returns the least trust of the texts that a model was shown with a message. An answer's question counts even if
     * the notes do not name it, because it was stored with the answer.
     */
    private Trust exposure(
            MemoryKey key,
            LoggedMessage logged,
            Made made,
            @Nullable LoggedMessage before,
            OwnText own,
            Map<Long, Trust> exposed) {
        ChatMessage message = logged.message();
        if (message instanceof AiMessage) {
            Seen seen = made.seen();
            Trust question = before != null && before.message() instanceof UserMessage
                    ? exposed.getOrDefault(before.sequence(), Trust.RETRIEVED)
                    : Trust.USER;
            return seen == null
                    ? least(Trust.ASSISTANT, exposed)
                    : Trust.least(List.of(shownTo(key, seen, exposed), question));
        }
        if (message instanceof UserMessage) {
            return own.isAll() ? Trust.USER : Trust.RETRIEVED;
        }
        if (message instanceof ToolExecutionResultMessage) {
            // A tool may return memories that are trusted less than a tool.
            return own.isAll() ? Trust.TOOL : Trust.RETRIEVED;
        }
        return message instanceof SystemMessage ? Trust.USER : Trust.RETRIEVED;
    }

    private Trust shownTo(MemoryKey key, Seen seen, Map<Long, Trust> exposed) {
        if (seen.altered()) {
            // The source of the rest of the request is unknown.
            return Trust.RETRIEVED;
        }
        List<Trust> all = new ArrayList<>(List.of(Trust.ASSISTANT));
        seen.memories().forEach(id -> all.add(trust(key, id)));
        if (seen.summary() > 0) {
            // It may be of all that is older.
            return least(Trust.least(all), exposed);
        }
        seen.sequences().forEach(sequence -> all.add(exposed.getOrDefault(sequence, Trust.RETRIEVED)));
        return Trust.least(all);
    }

    /** Returns the trust of a memory. The trust of an erased memory is unknown. */
    private Trust trust(MemoryKey key, String memoryId) {
        return memories == null
                ? Trust.RETRIEVED
                : memories.find(key, memoryId).map(MadeMemory::trust).orElse(Trust.RETRIEVED);
    }

    private static Trust least(Trust most, Map<Long, Trust> exposed) {
        List<Trust> all = new ArrayList<>(exposed.values());
        all.add(most);
        return Trust.least(all);
    }

    private static ChatMessage withText(ChatMessage message, OwnText own) {
        // A message of LangChain4j has a text.
        String text = own.text().isBlank() ? " " : own.text();
        if (message instanceof UserMessage user) {
            return OwnText.with(user, text);
        }
        if (message instanceof AiMessage ai) {
            return ai.toBuilder().text(text).build();
        }
        return message instanceof ToolExecutionResultMessage result
                ? ToolExecutionResultMessage.from(result.id(), result.toolName(), text)
                : message;
    }
}
