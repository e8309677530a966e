package io.github.keepsake4j.transfer.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqlStates;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import javax.sql.DataSource;

/** Sends a query with one parameter. */
final class Rows {

    private final DataSource dataSource;

    /** Reads a row. */
    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    Rows(DataSource dataSource) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
    }

    /** Returns a name as the database quotes it: a double quote is a text in MySQL. */
    String quoted(String name) {
        return with(connection -> {
            String quote = connection.metaData().getIdentifierQuoteString().strip();
            return quote + name + quote;
        });
    }

    /** Returns whether the parameter of a query has PostgreSQL's type {@code uuid}, which is compared with no text. */
    boolean isUuid(String sql) {
        return with(connection -> connection.uuidParameters(sql).contains(1));
    }

    /** Returns the names of a table's columns, in lower case. */
    Set<String> columns(String table) {
        return with(connection -> {
            Set<String> names = new HashSet<>();
            try (PreparedStatement statement = connection.prepare("SELECT * FROM " + table + " WHERE 1 = 0");
                    ResultSet none = statement.executeQuery()) {
                ResultSetMetaData columns = none.getMetaData();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    names.add(columns.getColumnName(i).toLowerCase(Locale.ROOT));
                }
            }
            return names;
        });
    }

    <T> List<T> query(String sql, Object parameter, Reader<T> reader) {
        return with(connection -> {
            try (PreparedStatement statement = connection.prepare(sql)) {
                statement.setObject(1, parameter);
                List<T> found = new ArrayList<>();
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        found.add(reader.read(rows));
                    }
                }
                return found;
            }
        });
    }

    /** Uses a connection. */
    private interface Work<T> {
        T on(SqlConnection connection) throws SQLException;
    }

    private <T> T with(Work<T> work) {
        try (SqlConnection connection = SqlConnection.reader(dataSource)) {
            return work.on(connection);
        } catch (SQLException e) {
            String text = "The tables to import from cannot be read" + SqlStates.inBrackets(e);
            String mistake = SqlStates.mistake(e, "check that they are the tables of that application");
            throw mistake == null
                    ? new StorageUnavailableException(text, e)
                    : new KeepsakeException(text + ": " + mistake, e);
        }
    }
}
