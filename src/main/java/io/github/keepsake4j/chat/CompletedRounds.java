package io.github.keepsake4j.chat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the parts of a stored turn. */
final class CompletedRounds {

    /** The number of messages of the first read. Each further read is larger by the same factor. */
    private static final int FEW = 16;

    private CompletedRounds() {}

    /**
     * The place where a turn can continue.
     *
     * @param id the last message of its last complete tool round, or its question
     * @param answered whether there is an answer behind it
     */
    record End(String id, boolean answered) {}

    /**
     * Returns the place where a failed turn continues: behind its last complete tool round, or behind its question.
     *
     * @param branch the branch on which the turn is searched, or null for the current one
     * @param question the turn's question
     */
    static End end(MessageLog log, MemoryKey key, @Nullable String branch, LoggedMessage question) {
        Tail after;
        try {
            after = log.read(key, ReadQuery.wholeBranch().onBranch(branch).after(question.id()));
        } catch (UnknownMessageException e) {
            // The question is on another branch, so the messages behind it are unknown.
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
                List<ToolExecutionRequest> calls = ai.toolExecutionRequests();
                waiting = calls.size();
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
    static @Nullable LoggedMessage question(MessageLog log, MemoryKey key, LoggedMessage answer) {
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
}
