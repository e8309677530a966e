package io.github.keepsake4j.workflow.files.jdbc;

import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.TransferMethod;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.sql.ForeignTables;
import io.github.keepsake4j.workflow.files.FileResolver;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Looks up files in the tables of a workflow engine: by default {@code upload_files} for uploaded files and
 * {@code tool_files} for files that tools made. It runs one query for each table, however many files are requested,
 * and on PostgreSQL reads the types of a table's ids once. Every query is restricted to the tenant, so a file of
 * another tenant is not found. Thread-safe.
 */
public final class JdbcFileResolver implements FileResolver {

    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)?");

    private static final String FIND =
            """
            SELECT %s, %s, %s, %s, %s
            FROM %s
            WHERE %s = ? AND %s IN (%s)
            """;

    /**
     * The names of a table and its columns. They consist of letters, digits and underscores; the table's name may be
     * preceded by a schema and a dot.
     *
     * @param table the table
     * @param id the column of the file's id
     * @param tenantId the column of the tenant's id
     * @param storageKey the column of the key under which the bytes are stored
     * @param name the column of the file's name
     * @param mimeType the column of the MIME type
     * @param size the column of the size in bytes
     */
    public record Table(
            String table, String id, String tenantId, String storageKey, String name, String mimeType, String size) {

        /** Dify's table of uploaded files. */
        public static final Table UPLOAD_FILES =
                new Table("upload_files", "id", "tenant_id", "key", "name", "mime_type", "size");

        /** Dify's table of the files that tools made. */
        public static final Table TOOL_FILES =
                new Table("tool_files", "id", "tenant_id", "file_key", "name", "mimetype", "size");

        /** Checks the names, because they become part of a statement. */
        public Table {
            for (String given : List.of(table, id, tenantId, storageKey, name, mimeType, size)) {
                if (!NAME.matcher(given).matches()) {
                    throw new InvalidInputException(
                            "table", "each name must consist of letters, digits and underscores");
                }
            }
        }

        private String find(int files) {
            String places = String.join(", ", Collections.nCopies(files, "?"));
            return FIND.formatted(id, storageKey, name, mimeType, size, table, tenantId, id, places);
        }
    }

    private final DataSource dataSource;
    private final Files uploadFiles;
    private final Files toolFiles;

    private JdbcFileResolver(DataSource dataSource, Table uploadFiles, Table toolFiles) {
        this.dataSource = dataSource;
        this.uploadFiles = new Files(dataSource, uploadFiles, TransferMethod.LOCAL_FILE);
        this.toolFiles = new Files(dataSource, toolFiles, TransferMethod.TOOL_FILE);
    }

    /**
     * Creates a resolver that uses {@link Table#UPLOAD_FILES} and {@link Table#TOOL_FILES}. The ids of
     * files and tenants may have a text type, or PostgreSQL's type {@code uuid}, as in Dify's database. An id that is not a UUID
     * is then not found.
     *
     * @param dataSource provides the connections; the caller remains responsible for closing it
     * @return the resolver
     */
    public static JdbcFileResolver of(DataSource dataSource) {
        return new JdbcFileResolver(dataSource, Table.UPLOAD_FILES, Table.TOOL_FILES);
    }

    /**
     * Sets the tables. Default: {@link Table#UPLOAD_FILES} and {@link Table#TOOL_FILES}.
     *
     * @param forUploads the table of uploaded files
     * @param forTools the table of files that tools made
     * @return a copy
     */
    public JdbcFileResolver tables(Table forUploads, Table forTools) {
        return new JdbcFileResolver(dataSource, forUploads, forTools);
    }

    @Override
    public Map<FileReference, ResolvedFile> resolve(String tenantId, List<FileReference> files) {
        Map<FileReference, ResolvedFile> found = new HashMap<>();
        uploadFiles.find(found, tenantId, files);
        toolFiles.find(found, tenantId, files);
        return found;
    }

    /** The files of a table. */
    private static final class Files {

        private final Table table;
        private final TransferMethod method;
        private final ForeignTables rows;

        Files(DataSource dataSource, Table table, TransferMethod method) {
            this.table = InvalidInputException.given("table", table);
            this.method = method;
            this.rows = new ForeignTables(dataSource, "The rows of " + table.table(), "name the tables with tables(…)");
        }

        void find(Map<FileReference, ResolvedFile> found, String tenantId, List<FileReference> files) {
            List<FileReference> asked = files.stream()
                    .filter(file -> file.transferMethod() == method)
                    .toList();
            if (asked.isEmpty()) {
                return;
            }
            String sql = table.find(1);
            Object tenant = rows.parameter(sql, 1, tenantId);
            Map<@Nullable Object, List<FileReference>> byId = new LinkedHashMap<>();
            for (FileReference file : asked) {
                Object id = rows.parameter(sql, 2, file.id());
                if (id != null) {
                    byId.computeIfAbsent(id, i -> new ArrayList<>()).add(file);
                }
            }
            if (byId.isEmpty() || tenant == null) {
                return;
            }
            List<Object> parameters = new ArrayList<>(List.of(tenant));
            parameters.addAll(byId.keySet());
            rows.list(
                    table.find(byId.size()),
                    row -> {
                        String id = row.getString(1);
                        return id == null || read(found, row, byId.getOrDefault(rows.parameter(sql, 2, id), List.of()));
                    },
                    parameters.toArray());
        }

        private static boolean read(Map<FileReference, ResolvedFile> found, ResultSet row, List<FileReference> files)
                throws SQLException {
            String storageKey = row.getString(2);
            long size = row.getLong(5);
            long known = row.wasNull() ? -1 : size;
            for (FileReference file : storageKey == null ? List.<FileReference>of() : files) {
                found.put(file, new ResolvedFile(file, storageKey, row.getString(3), row.getString(4), known));
            }
            return true;
        }
    }
}
