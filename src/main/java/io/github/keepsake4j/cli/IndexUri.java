package io.github.keepsake4j.cli;

import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.sql.SqlSchema;
import io.github.keepsake4j.sql.SqliteFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The address of a search index, as a user writes it. Errors do not quote it, because it may contain a password.
 *
 * @param field the user's name for it
 * @param text the URI
 * @param creates whether an index that does not exist is created
 * @param makesTables whether missing tables of a PostgreSQL database are created
 * @param environment provides passwords
 */
record IndexUri(String field, String text, boolean creates, boolean makesTables, Host.Environment environment) {

    private static final String KNOWN = "must begin with sqlite:, postgresql: or jdbc:postgresql:";

    /** To look whether a file is an index. */
    private static final SqlSchema TABLES =
            new SqlSchema("index", "index/", "keepsake_index_schema", 0, "", null, List.of());

    /** Opens the index, which the caller closes. */
    MessageIndex open() {
        int colon = text.indexOf(':', text.regionMatches(true, 0, "jdbc:", 0, 5) ? 5 : 0);
        String scheme = colon < 0 ? "" : text.substring(0, colon).toLowerCase(Locale.ROOT);
        return switch (scheme) {
            case "sqlite", "jdbc:sqlite" -> sqlite(text.substring(colon + 1));
            case "postgresql", "postgres", "jdbc:postgresql" ->
                LogUri.server(field, text)
                        .set(JdbcMessageIndex.builder(), environment)
                        .schema(makesTables ? SchemaMode.ALWAYS : SchemaMode.EMBEDDED)
                        .build();
            default -> throw wrong(KNOWN + LogUri.suggestion(KNOWN, scheme, text));
        };
    }

    private InvalidInputException wrong(String problem) {
        return new InvalidInputException(field, problem);
    }

    private MessageIndex sqlite(String path) {
        Library.require(Library.SQLITE);
        Path file = LogUri.path(field, path, "sqlite:index.db");
        Path parent = file.getParent();
        if (Files.isDirectory(file)) {
            throw wrong(file + " is a directory; name a file");
        }
        if (parent != null && !Files.isDirectory(parent)) {
            throw wrong("the directory " + parent + " does not exist; create it first");
        }
        if (!Files.exists(file)) {
            if (!creates) {
                throw wrong("the file " + file + " does not exist; the command index creates it");
            }
            return JdbcMessageIndex.sqlite(file);
        }
        boolean isIndex = new SqliteFile(file).has(TABLES);
        if (!isIndex && SqliteMessageLog.isLog(file)) {
            throw wrong(file + " is a log; an index has a file of its own, because SQLite has one writer");
        }
        if (!isIndex && !creates) {
            throw wrong(file + " has no index; the command index makes it");
        }
        return JdbcMessageIndex.sqlite(file);
    }

    /** Leaves out the URI, which may contain a password. */
    @Override
    public String toString() {
        return "IndexUri[field=" + field + "]";
    }
}
