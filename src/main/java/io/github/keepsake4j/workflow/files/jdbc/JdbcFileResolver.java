package io.github.keepsake4j.workflow.files.jdbc;

import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.TransferMethod;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqlStates;
import io.github.keepsake4j.workflow.files.FileResolver;
import io.github.keepsake4j.workflow.files.ResolvedFile;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Looks up files in the tables of a workflow engine: by default {@code upload_files} for uploaded files and
 * {@code tool_files} for files that tools made. It runs one query for each table, however many files are requested,
 * and on PostgreSQL asks once for the types of a table's ids.
 * Every query is restricted to the tenant, so a file of another tenant is not found. Thread-safe.
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
    private final Table uploadFiles;
    private final Table toolFiles;
    private final Map<Table, Types> types = new ConcurrentHashMap<>();

    private JdbcFileResolver(DataSource dataSource, Table uploadFiles, Table toolFiles) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        this.uploadFiles = Objects.requireNonNull(uploadFiles, "uploadFiles");
        this.toolFiles = Objects.requireNonNull(toolFiles, "toolFiles");
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

    /**
     * Which columns of a table have PostgreSQL's type {@code uuid}, which is compared with no text.
     *
     * @param tenant whether the column of the tenant's id has
     * @param id whether the column of the file's id has
     */
    private record Types(boolean tenant, boolean id) {}

    @Override
    public Map<FileReference, ResolvedFile> resolve(String tenantId, List<FileReference> files) {
        Map<FileReference, ResolvedFile> found = new HashMap<>();
        find(found, tenantId, uploadFiles, files, TransferMethod.LOCAL_FILE);
        find(found, tenantId, toolFiles, files, TransferMethod.TOOL_FILE);
        return found;
    }

    private void find(
            Map<FileReference, ResolvedFile> found,
            String tenantId,
            Table table,
            List<FileReference> files,
            TransferMethod method) {
        List<FileReference> asked =
                files.stream().filter(file -> file.transferMethod() == method).toList();
        if (asked.isEmpty()) {
            return;
        }
        try (SqlConnection connection = SqlConnection.reader(dataSource)) {
            Types known = types.get(table);
            if (known == null) {
                Set<Integer> uuids = connection.uuidParameters(table.find(1));
                known = new Types(uuids.contains(1), uuids.contains(2));
                types.put(table, known);
            }
            find(found, tenantId, table, asked, known, connection);
        } catch (SQLException e) {
            String text = "The rows of " + table.table() + " cannot be read" + SqlStates.inBrackets(e);
            String mistake = SqlStates.mistake(e, "name the tables with tables(…)");
            throw mistake == null
                    ? new StorageUnavailableException(text, e)
                    : new KeepsakeException(text + ": " + mistake, e);
        }
    }

    private static void find(
            Map<FileReference, ResolvedFile> found,
            String tenantId,
            Table table,
            List<FileReference> files,
            Types types,
            SqlConnection connection)
            throws SQLException {
        Object tenant = parameter(types.tenant(), tenantId);
        Map<Object, List<FileReference>> byId = new HashMap<>();
        for (FileReference file : files) {
            Object id = parameter(types.id(), file.id());
            if (id != null) {
                byId.computeIfAbsent(id, i -> new ArrayList<>()).add(file);
            }
        }
        if (byId.isEmpty() || tenant == null) {
            return;
        }
        try (PreparedStatement query = connection.prepare(table.find(byId.size()))) {
            query.setObject(1, tenant);
            int place = 2;
            for (Object id : byId.keySet()) {
                query.setObject(place++, id);
            }
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    Object id = parameter(types.id(), rows.getString(1));
                    String storageKey = rows.getString(2);
                    if (id != null && storageKey != null) {
                        read(found, rows, storageKey, byId.getOrDefault(id, List.of()));
                    }
                }
            }
        }
    }

    private static void read(
            Map<FileReference, ResolvedFile> found, ResultSet row, String storageKey, List<FileReference> files)
            throws SQLException {
        String name = row.getString(3);
        String mimeType = row.getString(4);
        long size = row.getLong(5);
        long known = row.wasNull() ? -1 : size;
        for (FileReference file : files) {
            found.put(file, new ResolvedFile(file, storageKey, name, mimeType, known));
        }
    }

    private static @Nullable Object parameter(boolean isUuid, @Nullable String id) {
        if (!isUuid || id == null) {
            return id;
        }
        try {
            return UUID.fromString(id);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
