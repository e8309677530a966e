package io.github.keepsake4j.spring;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The values of {@code keepsake4j.store}, the store of the memories. */
enum Store {
    /** The tables of a PostgreSQL data source, or the file of a SQLite data source. */
    JDBC("a DataSource bean of PostgreSQL or SQLite"),

    /** A SQLite file. */
    SQLITE("keepsake4j.sqlite.file"),

    /** A directory of JSON lines. */
    FILE("keepsake4j.file.directory"),

    /** A Redis server. */
    REDIS("keepsake4j.redis.url or a UnifiedJedis bean"),

    /** A bucket. */
    S3("keepsake4j.s3.bucket"),

    /** The heap. Its memories are lost when the process ends, so this is used only if it is named. */
    IN_MEMORY("nothing else");

    /** The requirements of this store, for an error. */
    private final String needs;

    Store(String needs) {
        this.needs = needs;
    }

    /** Returns the value as it is written in a property. */
    String value() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns all values with their requirements, for an error. */
    static String all() {
        return Stream.of(values())
                .map(store -> store.value() + " (needs " + store.needs + ")")
                .collect(Collectors.joining(", "));
    }
}
