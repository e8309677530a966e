package io.github.keepsake4j.memories.jdbc;

import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.memories.FactWords;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.store.GuardedMemoryStore;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.KeyColumns;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlSchema;
import io.github.keepsake4j.sql.SqliteMode;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Keeps long-term memories in PostgreSQL 14 and newer, in the database of the log or in another one. Needs
 * {@code org.postgresql:postgresql}. Nothing is prepared on the server, so any transaction pooler works. Thread-safe.
 */
public final class JdbcLongTermMemoryStore extends GuardedMemoryStore {

    /** In SQLite, WilmerAI names the tables. */
    private static final SqlSchema SCHEMA = new SqlSchema(
            "memories",
            "memories/",
            "keepsake_made_schema",
            SqlSchema.BESIDE_LOGS,
            "restore it, or move it to another place, so that its memories are created again",
            new SqlSchema.Foreign(
                    "memories",
                    "has a table memories in WilmerAI's own format, which this library cannot read or import."
                            + " Nothing was changed. Move the file aside; the facts are then created from the"
                            + " conversation"),
            List.of(new SqlSchema.Script("V1__keepsake_memories.sql", 3)));

    private static final List<String> TABLES =
            List.of("keepsake_made_word", "keepsake_made_memory", "keepsake_made_step");

    private static final int PAGE = 1_000;

    private final Connections connections;
    private final boolean isSqlite;
    private final FactWords words;
    private final long least;

    private JdbcLongTermMemoryStore(Connections connections, boolean isSqlite, Words words, long least) {
        this.connections = connections;
        this.isSqlite = isSqlite;
        this.words = new FactWords(words);
        this.least = least;
    }

    /**
     * Opens the facts of one discussion in a SQLite file, for one call. This method is for stores of files.
     *
     * @param file the file
     * @param isMade whether a missing file is created
     * @param words splits texts into words
     * @param least the revision if there is no progress yet
     * @return the store, which the caller closes
     */
    public static JdbcLongTermMemoryStore sqlite(Path file, boolean isMade, Words words, long least) {
        return new JdbcLongTermMemoryStore(
                Connections.sqlite(file, isMade ? SqliteMode.SMALL : SqliteMode.SMALL_IF_THERE, SCHEMA),
                true,
                words,
                least);
    }

    /**
     * Keeps memories in PostgreSQL. The tables must exist: run the scripts in
     * {@code io/github/keepsake4j/schema/memories/postgresql} of the jar by hand or by Flyway, or see
     * {@link #builder()}.
     *
     * @param dataSource provides connections, preferably from a pool; the caller closes it
     * @return the store
     */
    public static JdbcLongTermMemoryStore postgres(DataSource dataSource) {
        return builder().dataSource(dataSource).build();
    }

    /**
     * Starts the configuration of a store in PostgreSQL.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public <T> T reading(String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryReader, T> work) {
        return connections.single(what + " of " + key, session -> on(session, key, work));
    }

    @Override
    public <T> T writing(String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryWriter, T> work) {
        return connections.write(what + " of " + key, session -> on(session, key, work));
    }

    private <T> T on(Session session, MemoryKey key, Function<? super SqlMemories, T> work) throws SQLException {
        try {
            return work.apply(new SqlMemories(session, isSqlite, words, key, least));
        } catch (SqlMemories.UncheckedSqlException e) {
            throw e.getCause();
        }
    }

    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        byte[] end = KeyColumns.hash(tenant, -1);
        byte[] after = KeyColumns.hash(tenant, 0);
        while (true) {
            byte[] from = after;
            List<MemoryKey> page = connections.single(
                    "list of memories of tenant " + MemoryKey.encode(tenant),
                    session -> session.list(
                            MemorySql.DISCUSSIONS,
                            row -> MemoryKey.parse(Objects.requireNonNull(row.getString(2))),
                            from,
                            end,
                            PAGE));
            page.forEach(action);
            if (page.size() < PAGE) {
                return;
            }
            after = KeyColumns.hash(page.get(PAGE - 1));
        }
    }

    @Override
    public void compact() {
        connections.compact(TABLES);
    }

    @Override
    public String backend() {
        return "postgresql";
    }

    @Override
    public void close() {
        connections.close();
    }

    /** Configures a store in PostgreSQL: {@link #dataSource} or {@link #url} is required. Not thread-safe. */
    public static final class Builder extends PostgresBuilder<Builder> {

        private Words words = Words.standard();

        Builder() {}

        @Override
        protected Builder self() {
            return this;
        }

        /**
         * Sets how texts are split into the words by which facts are found. Facts that were stored with other words are
         * found too, but more slowly until the next change of the discussion. Default: {@link Words#standard()}.
         *
         * @param splitter splits texts
         * @return this builder
         */
        public Builder words(Words splitter) {
            this.words = Objects.requireNonNull(splitter, "words");
            return this;
        }

        /**
         * Creates the store. Nothing is connected before the first use.
         *
         * @return a new one
         * @throws InvalidInputException if not exactly one of data source and URL is given
         */
        public JdbcLongTermMemoryStore build() {
            return new JdbcLongTermMemoryStore(
                    Connections.postgresql(settings(), SCHEMA, null, session -> {}), false, words, 0);
        }
    }
}
