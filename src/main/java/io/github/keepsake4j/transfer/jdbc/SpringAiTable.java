package io.github.keepsake4j.transfer.jdbc;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.ForeignTables;
import io.github.keepsake4j.transfer.ImportSource;
import io.github.keepsake4j.transfer.ImportSource.ImportedMessage;
import java.sql.Timestamp;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Spring AI's table: a row is a message. */
final class SpringAiTable implements ImportSource {

    private static final String SELECT =
            """
            SELECT type, content, %s
            FROM SPRING_AI_CHAT_MEMORY
            WHERE conversation_id = ?
            ORDER BY %s
            """;

    /**
     * The column of Spring AI 2 for the order, because times repeat. Rows that are older than the column may all have
     * the same number.
     */
    private static final String SEQUENCE = "sequence_id";

    private final ForeignTables tables;
    private @Nullable String select;

    SpringAiTable(ForeignTables tables) {
        this.tables = tables;
    }

    @Override
    public List<ImportedMessage> messages(ConversationKey conversation) {
        return tables
                .list(
                        select(),
                        row -> Stream.ofNullable(
                                message(conversation, row.getString(1), row.getString(2), row.getTimestamp(3))),
                        conversation.conversationId())
                .stream()
                .flatMap(stream -> stream)
                .toList();
    }

    private synchronized String select() {
        String known = select;
        if (known == null) {
            String time = tables.quoted("timestamp");
            boolean isNumbered = tables.columns("SPRING_AI_CHAT_MEMORY").contains(SEQUENCE);
            known = SELECT.formatted(time, isNumbered ? SEQUENCE + ", " + time : time);
            select = known;
        }
        return known;
    }

    private static @Nullable ImportedMessage message(
            ConversationKey conversation,
            @Nullable String type,
            @Nullable String content,
            @Nullable Timestamp timestamp) {
        String text = Objects.requireNonNullElse(content, "");
        ChatMessage message =
                switch (Objects.requireNonNullElse(type, "")) {
                    case "USER" -> text.isBlank() ? null : UserMessage.from(text);
                    case "ASSISTANT" -> AiMessage.from(text);
                    case "SYSTEM" -> text.isBlank() ? null : SystemMessage.from(text);
                    case "TOOL" -> null;
                    default ->
                        throw new UnreadableDataException("A row of " + conversation
                                + " in SPRING_AI_CHAT_MEMORY has none of the types USER, ASSISTANT, SYSTEM and TOOL");
                };
        return message == null ? null : ImportedMessage.of(message, timestamp == null ? null : timestamp.toInstant());
    }
}
