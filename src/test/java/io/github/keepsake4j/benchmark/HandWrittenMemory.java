package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.ConversationKey;
import java.sql.SQLException;

/** What an application would write by hand to keep the messages of a turn. */
interface HandWrittenMemory {

    /** Appends a message. */
    void append(ConversationKey key, ChatMessage message) throws SQLException;

    /** Appends both results of two tool calls at once. */
    void append(ConversationKey key, ToolExecutionResultMessage first, ToolExecutionResultMessage second)
            throws SQLException;

    /** Reads and decodes the newest messages. Fails if there are fewer than the limit. */
    void read(ConversationKey key, int limit) throws SQLException;
}
