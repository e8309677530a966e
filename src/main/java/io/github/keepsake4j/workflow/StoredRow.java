package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of an engine's row in a conversation's log.
 *
 * @param question the row's question, or null
 * @param answer the message with the row's id, or null, as long as the engine has stored only the question
 */
record StoredRow(@Nullable LoggedMessage question, @Nullable LoggedMessage answer) {

    /** Looks a row up by one request. */
    static StoredRow find(MessageLog log, MemoryKey key, String row) {
        return of(row, Reads.messages(log, key, Ids.ofRow(row)));
    }

    /** Returns the row of the messages that were found, in order of sequence. */
    static StoredRow of(String row, List<LoggedMessage> found) {
        LoggedMessage question = null;
        LoggedMessage answer = null;
        for (LoggedMessage logged : found) {
            if (logged.id().equals(row)) {
                answer = logged;
            } else if (question == null && Ids.ofRow(row).contains(logged.id())) {
                question = logged;
            }
        }
        return new StoredRow(question, answer);
    }

    /** Returns the id of the row's last message, or null if no message of the row is stored. */
    @Nullable
    String last() {
        return answer != null ? answer.id() : question == null ? null : question.id();
    }

    /** Returns whether the row is a question that has no answer yet. */
    boolean isAsked() {
        return question != null && answer == null;
    }

    /** Returns the parent of the row's answer while that is missing, otherwise the parent of its question. */
    Parent under() {
        return Parent.behind(isAsked() ? last() : before());
    }

    /** Returns the id of the message before the row, or null if there is none. */
    @Nullable
    String before() {
        LoggedMessage first = question != null ? question : answer;
        return first == null ? null : first.parentId();
    }
}
