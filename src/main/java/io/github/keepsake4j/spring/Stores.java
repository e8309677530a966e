package io.github.keepsake4j.spring;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.ClassUtils;

/**
 * Opens the configured store. It asks the bean factory only when a log is needed, so that an application that has the
 * jar but uses no memory needs no store. Classes of unused stores are not loaded.
 */
record Stores(KeepsakeProperties properties, ConfigurableListableBeanFactory beans, DataSources dataSources) {

    private static final String JEDIS = "redis.clients.jedis.UnifiedJedis";

    /** Opens the log of the conversations. */
    MessageLog messageLog() {
        Store named = properties.store();
        return open(named == null ? onlyOne() : named, "keepsake4j.store");
    }

    /** Opens the log of the nodes. */
    MessageLog nodeLog(Store store) {
        return open(store, "keepsake4j.node-log.store");
    }

    /** Opens the index: in the configured file, else in PostgreSQL if the memories are there, else in the heap. */
    MessageIndex index() {
        Path file = properties.index().file();
        if (file != null) {
            needDirectory(file, "index.file");
            need("org.sqlite.JDBC", file, "org.xerial:sqlite-jdbc");
            return index(
                    "The SQLite file " + file,
                    "Set keepsake4j.index.file to a file of its own.",
                    () -> JdbcMessageIndex.sqlite(file));
        }
        DataSource source = isJdbc() ? dataSources.postgres() : null;
        if (source == null) {
            return new InMemoryMessageIndex();
        }
        return index(
                "The DataSource",
                FirstRead.makeTables("index/postgresql/V1__keepsake_index.sql"),
                () -> JdbcMessageIndex.builder()
                        .dataSource(source)
                        .statementTimeout(properties.jdbc().statementTimeout())
                        .schema(properties.jdbc().initializeSchema())
                        .build());
    }

    private MessageIndex index(String place, String action, Supplier<MessageIndex> open) {
        return FirstRead.of(
                place + " cannot keep the index",
                action,
                open,
                index -> index.watermarks(List.of(ConversationKey.of(properties.tenant(), "keepsake4j"))));
    }

    /**
     * Opens the store of long-term memories: the configured directory, else PostgreSQL if the conversations are there.
     */
    LongTermMemoryStore memoryStore(Words words) {
        Path directory = properties.memories().directory();
        if (directory != null) {
            needWritable(directory, "memories.directory");
            return FileLongTermMemoryStore.of(directory, words);
        }
        boolean isJdbc = properties.memories().store() == Store.JDBC || isJdbc();
        DataSource source = isJdbc ? dataSources.postgres() : null;
        if (source == null) {
            throw new ConfigurationException(
                    "There is no store for the long-term memories. They are kept in PostgreSQL or in files.",
                    "Set keepsake4j.memories.directory"
                            + (isJdbc
                                    ? ", or add a DataSource of PostgreSQL."
                                    : ", or keepsake4j.memories.store=jdbc with a DataSource of PostgreSQL."));
        }
        return FirstRead.of(
                "The DataSource cannot keep the long-term memories",
                FirstRead.makeTables("memories/postgresql/V1__keepsake_memories.sql"),
                () -> JdbcLongTermMemoryStore.builder()
                        .dataSource(source)
                        .statementTimeout(properties.jdbc().statementTimeout())
                        .schema(properties.jdbc().initializeSchema())
                        .words(words)
                        .build(),
                store -> store.chunks(ConversationKey.of(properties.tenant(), "keepsake4j"), 0));
    }

    private boolean isJdbc() {
        return properties.store() == null || properties.store() == Store.JDBC;
    }

    /** Returns the store that is available without being named. */
    private Store onlyOne() {
        List<Store> found = configured();
        if (found.size() > 1) {
            // A file or directory that another property names is for that property.
            found.remove(properties.nodeLog().store());
        }
        if (found.size() == 1) {
            return found.get(0);
        }
        String set = "Set keepsake4j.store to one of: " + Store.all() + ".";
        if (!found.isEmpty()) {
            throw new ConfigurationException(
                    "Memories could be kept in several stores: "
                            + String.join(", ", found.stream().map(Store::value).toList()) + ".",
                    set);
        }
        String other = dataSources.otherKind();
        throw new ConfigurationException(
                other == null
                        ? "There is no store for memories."
                        : "There is no store for memories: the DataSource is of " + other + ", but memories need "
                                + "PostgreSQL or SQLite.",
                set + " Or add a DataSource of PostgreSQL or SQLite"
                        + (other == null ? "." : " with @KeepsakeDataSource."));
    }

    private List<Store> configured() {
        List<Store> found = new ArrayList<>();
        if (dataSources.platform() != null) {
            found.add(Store.JDBC);
        }
        if (properties.sqlite().file() != null) {
            found.add(Store.SQLITE);
        }
        if (properties.file().directory() != null) {
            found.add(Store.FILE);
        }
        if (properties.redis().url() != null || hasJedisBean()) {
            found.add(Store.REDIS);
        }
        if (properties.s3().bucket() != null) {
            found.add(Store.S3);
        }
        return found;
    }

    private boolean hasJedisBean() {
        ClassLoader loader = beans.getBeanClassLoader();
        return ClassUtils.isPresent(JEDIS, loader)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(JEDIS, loader), true, false).length > 0;
    }

    private MessageLog open(Store store, String property) {
        String named = property + "=" + store.value();
        return switch (store) {
            case JDBC -> dataSources.log();
            case SQLITE -> sqlite(required(properties.sqlite().file(), named, "sqlite.file"));
            case FILE -> {
                Path directory = required(properties.file().directory(), named, "file.directory");
                needWritable(directory, "file.directory");
                yield FileMessageLog.builder()
                        .directory(directory)
                        .fsync(properties.file().fsync())
                        .listedMetadata(properties.listed())
                        .build();
            }
            case REDIS -> {
                need(JEDIS, named, "redis.clients:jedis");
                yield named("redis", () -> RedisStore.open(properties.redis(), properties.listed(), beans));
            }
            case S3 -> {
                need("software.amazon.awssdk.services.s3.S3Client", named, "software.amazon.awssdk:s3");
                String bucket = required(properties.s3().bucket(), named, "s3.bucket");
                yield named("s3", () -> S3Store.open(properties.s3(), bucket, properties.listed(), beans));
            }
            case IN_MEMORY -> new InMemoryMessageLog(properties.listed());
        };
    }

    /** Names the property in place of the setting that a log's builder refuses. */
    private static MessageLog named(String group, Supplier<MessageLog> opened) {
        try {
            return opened.get();
        } catch (InvalidInputException e) {
            String[] parts = String.valueOf(e.getMessage()).split(":", 2);
            String field = parts[0].equals("server") ? "url" : DataObjectPropertyName.toDashedForm(parts[0]);
            throw new KeepsakeException("keepsake4j." + group + "." + field + ":" + parts[1], e);
        }
    }

    private MessageLog sqlite(Path file) {
        need("org.sqlite.JDBC", file, "org.xerial:sqlite-jdbc");
        return sqlite(file, properties.jdbc().initializeSchema(), properties.listed());
    }

    /** Opens a SQLite file, and creates its tables unless a property forbids it. */
    static MessageLog sqlite(Path file, SchemaMode mode, String... listedMetadata) {
        boolean exists = file.toFile().exists();
        if (mode == SchemaMode.NEVER && !(exists && SqliteMessageLog.isLog(file))) {
            throw new ConfigurationException(
                    "The SQLite file " + file + " has no tables of Keepsake4j.",
                    "Remove keepsake4j.jdbc.initialize-schema=never, so that they are created.");
        }
        needDirectory(file, "sqlite.file");
        return FirstRead.of(
                "The SQLite file " + file + " cannot keep memories",
                "Set keepsake4j.sqlite.file to another file, or move this one away.",
                () -> SqliteMessageLog.open(file, listedMetadata),
                log -> log.read(ConversationKey.of("default", "keepsake4j"), ReadQuery.newest(0)));
    }

    /** Refuses a place at which a SQLite file can be neither created nor opened. */
    private static void needDirectory(Path file, String property) {
        Path directory = file.toAbsolutePath().getParent();
        String problem = null;
        if (directory != null && !Files.exists(directory)) {
            problem = " is in a directory that does not exist.";
        } else if (Files.isDirectory(file)) {
            problem = " is a directory.";
        } else if (Files.exists(file) ? !Files.isWritable(file) : directory != null && !isUsable(directory)) {
            problem = " cannot be written by this process.";
        }
        if (problem != null) {
            throw new ConfigurationException(
                    "The SQLite file " + file + problem,
                    "Set keepsake4j." + property
                            + " to a file in a directory that exists and that this process may write.");
        }
    }

    /** Refuses a path that is not a directory, or a directory that cannot be written or created. */
    private static void needWritable(Path directory, String property) {
        Path there = directory.toAbsolutePath();
        while (there.getParent() != null && !Files.exists(there)) {
            there = there.getParent();
        }
        if (!isUsable(there)) {
            throw new ConfigurationException(
                    "The directory " + directory + " cannot be used: " + there
                            + (Files.isDirectory(there)
                                    ? " may not be written by this process."
                                    : " is not a directory."),
                    "Set keepsake4j." + property + " to a directory that this process may write.");
        }
    }

    private static boolean isUsable(Path directory) {
        return Files.isDirectory(directory) && Files.isWritable(directory);
    }

    private void need(String type, Object what, String artifact) {
        if (!ClassUtils.isPresent(type, beans.getBeanClassLoader())) {
            throw new ConfigurationException(
                    what + " needs a library that is not on the class path.",
                    "Add " + artifact + " to the dependencies.");
        }
    }

    private static <T> T required(@Nullable T value, String named, String property) {
        if (value == null) {
            throw new ConfigurationException(
                    named + " needs the property keepsake4j." + property + ".", "Set keepsake4j." + property + ".");
        }
        return value;
    }
}
