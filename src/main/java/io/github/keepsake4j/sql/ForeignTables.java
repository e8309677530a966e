package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Reads tables of other programs, in any database. Nothing is written to them. */
public final class ForeignTables {

    private final DataSource dataSource;
    private final String what;
    private final String whenMissing;

    /** The places of the parameters that have PostgreSQL's type {@code uuid}, by the text of the query. */
    private final Map<String, Set<Integer>> uuids = new ConcurrentHashMap<>();

    /**
     * Creates the object without connecting.
     *
     * @param dataSource provides connections
     * @param what the data that is read, for errors
     * @param whenMissing what to do about a missing table, for errors
     */
    public ForeignTables(DataSource dataSource, String what, String whenMissing) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        this.what = what;
        this.whenMissing = whenMissing;
    }

    /**
     * Runs a query.
     *
     * @param <T> the values' type
     * @param sql the text
     * @param mapper converts a row
     * @param parameters the values of the parameters
     * @return the converted rows
     */
    public <T> List<T> list(String sql, Session.Mapper<T> mapper, Object... parameters) {
        return with(connection -> new Session(connection).list(sql, mapper, parameters));
    }

    /**
     * Returns an id as a parameter of a query. PostgreSQL's type {@code uuid} cannot be compared with a text. The
     * server is asked for the type once, since other schemas may have tables of the same name.
     *
     * @param sql the text
     * @param place the parameter's place, from 1
     * @param id the id
     * @return the parameter, or null if no row can have the id
     */
    public @Nullable Object parameter(String sql, int place, String id) {
        Set<Integer> known = uuids.computeIfAbsent(sql, text -> with(asked -> asked.uuidParameters(text)));
        if (!known.contains(place)) {
            return id;
        }
        try {
            return UUID.fromString(id);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * Returns a name as the database quotes it: a double quote is a text in MySQL.
     *
     * @param name the name
     * @return the name in quotes
     */
    public String quoted(String name) {
        return with(connection -> {
            String quote = connection.metaData().getIdentifierQuoteString().strip();
            return quote + name + quote;
        });
    }

    /**
     * Returns the names of a table's columns.
     *
     * @param table the table
     * @return the names in lower case
     */
    public Set<String> columns(String table) {
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

    /** Uses a connection. */
    private interface Work<T> {
        T on(SqlConnection connection) throws SQLException;
    }

    private <T> T with(Work<T> work) {
        try (SqlConnection connection = SqlConnection.reader(dataSource)) {
            return work.on(connection);
        } catch (SQLException e) {
            String text = what + " cannot be read" + SqlStates.inBrackets(e);
            String mistake = SqlStates.mistake(e, whenMissing);
            throw mistake == null
                    ? new StorageUnavailableException(text, e)
                    : new KeepsakeException(text + ": " + mistake, e);
        } catch (DamagedException e) {
            throw new UnreadableDataException(what + " cannot be read: " + e.problem(), e);
        }
    }
}
