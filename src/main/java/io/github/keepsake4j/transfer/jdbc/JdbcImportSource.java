package io.github.keepsake4j.transfer.jdbc;

import dev.langchain4j.data.message.ChatMessageDeserializer;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.ForeignTables;
import io.github.keepsake4j.transfer.ImportSource;
import io.github.keepsake4j.transfer.ImportSource.ImportedMessage;
import java.util.List;
import javax.sql.DataSource;

/**
 * Reads the tables in which other libraries and applications keep conversations, with one or two statements for each
 * conversation. Nothing is written to them. Thread-safe.
 *
 * <p>Reading throws {@link io.github.keepsake4j.message.StorageUnavailableException} (retryable) if the database cannot be reached,
 * {@link io.github.keepsake4j.message.KeepsakeException} if a table or a permission is missing, and
 * {@link io.github.keepsake4j.message.UnreadableDataException} if a row cannot be read.
 */
public final class JdbcImportSource {

    private static final String SELECT_LIST =
            """
            SELECT content
            FROM chat_memory
            WHERE memory_id = ?
            """;

    private JdbcImportSource() {}

    /**
     * Reads the table of LangChain4j's community store: {@code chat_memory(memory_id, content)}, whose content is the list as
     * LangChain4j's JSON.
     *
     * @param dataSource provides the connections; the caller remains responsible for closing it
     * @return the source
     */
    public static ImportSource langChain4j(DataSource dataSource) {
        ForeignTables tables = tables(dataSource);
        return conversation -> list(tables, conversation);
    }

    /**
     * Reads the table of Spring AI's JDBC repository: {@code SPRING_AI_CHAT_MEMORY(conversation_id, content, type,
     * "timestamp")}, in the order of {@code sequence_id} if this column exists, else of the times. Spring AI stores no
     * calls and no results of tools, so rows of the type {@code TOOL} are left out.
     *
     * @param dataSource provides the connections; the caller remains responsible for closing it
     * @return the source
     */
    public static ImportSource springAi(DataSource dataSource) {
        return new SpringAiTable(tables(dataSource));
    }

    /**
     * Reads Dify's tables {@code messages} and {@code message_files}. A row is a question and its answer. The answer keeps the
     * row's id, its question has this id with {@code :query} behind it, and {@code parent_message_id} defines the
     * branches. A new row becomes a sibling of the imported rows with the same parent. A row that continues the newest
     * message is placed behind the messages that were added to the log since. Files become
     * {@linkplain io.github.keepsake4j.message.FileReference references}. A row without an answer is a question without
     * one.
     *
     * @param dataSource provides the connections; the caller remains responsible for closing it
     * @return the source
     */
    public static ImportSource dify(DataSource dataSource) {
        return new DifyTables(tables(dataSource));
    }

    /** Reads LangChain4j's community table: a row is a whole list. */
    private static List<ImportedMessage> list(ForeignTables tables, ConversationKey conversation) {
        List<String> contents = tables.list(SELECT_LIST, row -> row.getString(1), conversation.conversationId());
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
                            + e.getClass().getName() + ")");
        }
    }

    private static ForeignTables tables(DataSource dataSource) {
        return new ForeignTables(
                dataSource, "The tables to import from", "check that they are the tables of that application");
    }
}
