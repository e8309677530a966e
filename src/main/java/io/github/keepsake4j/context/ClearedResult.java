package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;

/** The form of a tool result that was cleared. */
final class ClearedResult {

    /** The text of every cleared result. */
    static final String TEXT = "[Old tool result cleared]";

    private ClearedResult() {}

    static ChatMessage of(ToolExecutionResultMessage whole) {
        return whole.toBuilder().contents(TextContent.from(TEXT)).build();
    }

    static boolean is(ChatMessage message) {
        return message instanceof ToolExecutionResultMessage result
                && result.hasSingleText()
                && result.text().equals(TEXT);
    }
}
