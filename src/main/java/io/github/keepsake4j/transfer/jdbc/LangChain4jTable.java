package io.github.keepsake4j.transfer.jdbc;

import dev.langchain4j.data.message.ChatMessageDeserializer;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.ForeignTables;
import io.github.keepsake4j.transfer.ImportSource;
import io.github.keepsake4j.transfer.ImportedMessage;
import java.util.List;

/** LangChain4j's community table: a row is a whole list. */
final class LangChain4jTable implements ImportSource {

    private static final String SELECT =
            """
            SELECT content
            FROM chat_memory
            WHERE memory_id = ?
            """;

    private final ForeignTables tables;

    LangChain4jTable(ForeignTables tables) {
        this.tables = tables;
    }

    @Override
    public List<ImportedMessage> messages(ConversationKey conversation) {
        List<String> contents = tables.list(SELECT, row -> row.getString(1), conversation.conversationId());
        if (contents.isEmpty() || contents.get(0) == null) {
            return List.of();
        }
        try {
            return ChatMessageDeserializer.messagesFromJson(contents.get(0)).stream()
                    .map(ImportedMessage::of)
                    .toList();
        } catch (RuntimeException e) {
            throw new UnreadableDataException(
                    "The content of " + conversation + " in chat_memory is not LangChain4j's JSON ("
                            + e.getClass().getName() + ")",
                    null);
        }
    }
}
