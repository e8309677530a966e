package io.github.keepsake4j.transfer.jdbc;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.ForeignTables;
import io.github.keepsake4j.transfer.ImportSource;
import io.github.keepsake4j.transfer.ImportSource.ImportedMessage;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Dify's tables: a row is a question and its answer. */
record DifyTables(ForeignTables tables) implements ImportSource {

    private static final String MESSAGES =
            """
            SELECT id, parent_message_id, query, answer, created_at
            FROM messages
            WHERE conversation_id = ?
            ORDER BY created_at, id
            """;

    private static final String FILES =
            """
            SELECT f.message_id, f.type, f.transfer_method, f.url, f.belongs_to, f.upload_file_id
            FROM message_files f
            JOIN messages m ON m.id = f.message_id
            WHERE m.conversation_id = ?
            ORDER BY f.created_at, f.id
            """;

    private static final Logger LOG = LoggerFactory.getLogger(DifyTables.class);

    private record Exchange(
            String id, @Nullable String parent, String query, String answer, @Nullable Instant createdAt) {}

    @Override
    public List<ImportedMessage> messages(ConversationKey conversation) {
        Object id = tables.parameter(MESSAGES, 1, conversation.conversationId());
        List<Exchange> exchanges = id == null ? List.of() : tables.list(MESSAGES, DifyTables::exchange, id);
        if (id == null || exchanges.isEmpty()) {
            return List.of();
        }
        Map<String, List<FileReference>> files = new HashMap<>();
        tables.list(
                FILES,
                row -> files.computeIfAbsent(row.getString(1), message -> new ArrayList<>())
                        .addAll(file(conversation, row)),
                id);
        List<ImportedMessage> messages = new ArrayList<>();
        Map<String, String> ends = new HashMap<>();
        String newest = null;
        for (Exchange exchange : parentsFirst(conversation, exchanges)) {
            // Rows from before Dify had branches have a parent of only zeros: the row before in time.
            String parent = Ids.BEFORE_IN_TIME.equals(exchange.parent())
                    ? newest
                    : exchange.parent() == null ? null : ends.getOrDefault(exchange.parent(), exchange.parent());
            newest = add(messages, exchange, parent, files.getOrDefault(exchange.id(), List.of()));
            ends.put(exchange.id(), newest);
        }
        return messages;
    }

    /**
     * Orders rows so that each is behind its parent, and else by time and id. Time and id alone are not an order:
     * Dify's times have seconds and its ids are random.
     *
     * @param exchanges by time and id
     */
    private static List<Exchange> parentsFirst(ConversationKey conversation, List<Exchange> exchanges) {
        Map<String, Integer> places = new HashMap<>();
        for (Exchange exchange : exchanges) {
            places.put(exchange.id(), places.size());
        }
        Map<Integer, List<Integer>> children = new HashMap<>();
        PriorityQueue<Integer> ready = new PriorityQueue<>();
        for (int i = 0; i < exchanges.size(); i++) {
            Integer parent = places.get(exchanges.get(i).parent());
            if (parent == null) {
                ready.add(i);
            } else {
                children.computeIfAbsent(parent, place -> new ArrayList<>()).add(i);
            }
        }
        List<Exchange> ordered = new ArrayList<>(exchanges.size());
        while (!ready.isEmpty()) {
            int next = ready.remove();
            ordered.add(exchanges.get(next));
            ready.addAll(children.getOrDefault(next, List.of()));
        }
        if (ordered.size() < exchanges.size()) {
            throw cycle(conversation, exchanges, places, ordered);
        }
        return ordered;
    }

    private static UnreadableDataException cycle(
            ConversationKey conversation,
            List<Exchange> exchanges,
            Map<String, Integer> places,
            List<Exchange> ordered) {
        Set<Exchange> sound = new HashSet<>(ordered);
        Exchange at = exchanges.stream()
                .filter(each -> !sound.contains(each))
                .findFirst()
                .orElseThrow();
        // Every remaining row leads to a cycle, and reaches it within this number of steps.
        Set<String> ids = new LinkedHashSet<>();
        while (ids.add(at.id())) {
            at = exchanges.get(Objects.requireNonNull(places.get(at.parent())));
        }
        List<String> path = List.copyOf(ids);
        return new UnreadableDataException(
                "Memory " + conversation + ": in the table messages these rows are each other's parents: "
                        + path.subList(path.indexOf(at.id()), path.size())
                        + ". Nothing of the conversation was imported. Correct parent_message_id of one of them");
    }

    /**
     * Adds the existing messages of a question and its answer, and returns the id of the last message, or of the
     * parent.
     */
    private static @Nullable String add(
            List<ImportedMessage> messages, Exchange exchange, @Nullable String parent, List<FileReference> files) {
        String end = parent;
        if (!exchange.query().isBlank()) {
            UserMessage user =
                    FileReference.attach(UserMessage.from(exchange.query()), of(files, FileReference.Owner.USER));
            String id = exchange.id() + Ids.IMPORTED_QUESTION;
            messages.add(new ImportedMessage(user, exchange.createdAt(), id, end));
            end = id;
        }
        if (!exchange.answer().isEmpty()) {
            AiMessage answer =
                    FileReference.attach(AiMessage.from(exchange.answer()), of(files, FileReference.Owner.ASSISTANT));
            messages.add(new ImportedMessage(answer, exchange.createdAt(), exchange.id(), end));
            end = exchange.id();
        }
        return end;
    }

    private static List<FileReference> of(List<FileReference> files, FileReference.Owner owner) {
        return files.stream().filter(file -> file.belongsTo() == owner).toList();
    }

    private static Exchange exchange(ResultSet row) throws SQLException {
        Timestamp createdAt = row.getTimestamp(5);
        return new Exchange(
                row.getString(1),
                row.getString(2),
                Objects.requireNonNullElse(row.getString(3), ""),
                Objects.requireNonNullElse(row.getString(4), ""),
                createdAt == null ? null : createdAt.toInstant());
    }

    /** Returns the reference to a file, or none if the row is malformed. */
    private static List<FileReference> file(ConversationKey conversation, ResultSet row) throws SQLException {
        String owner = row.getString(5);
        String upload = row.getString(6);
        try {
            FileReference.TransferMethod method = FileReference.TransferMethod.valueOf(upper(row.getString(3)));
            boolean made = method == FileReference.TransferMethod.TOOL_FILE;
            String url = row.getString(4);
            if (made && upload == null && url != null) {
                // Older rows name the file only at the end of its URL.
                upload = url.substring(url.lastIndexOf('/') + 1).split("\\.", 2)[0];
            }
            return List.of(new FileReference(
                    FileReference.Type.valueOf(upper(row.getString(2))),
                    method,
                    made ? null : upload,
                    made ? upload : null,
                    url,
                    owner == null ? null : FileReference.Owner.valueOf(upper(owner))));
        } catch (IllegalArgumentException | InvalidInputException e) {
            LOG.warn(
                    "Memory {}: a file of message {} is left out, because its row in message_files is malformed ({})",
                    conversation,
                    row.getString(1),
                    e.getClass().getName());
            return List.of();
        }
    }

    private static String upper(@Nullable String value) {
        return Objects.requireNonNullElse(value, "").toUpperCase(Locale.ROOT);
    }
}
