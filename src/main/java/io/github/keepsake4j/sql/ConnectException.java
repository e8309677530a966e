package io.github.keepsake4j.sql;

import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when no connection could be obtained. Connection pools report this in different ways, often without an
 * SQLSTATE.
 */
final class ConnectException extends SQLException {

    /** Host, port and database in a URL. User and parameters, which may have a password, are left out. */
    private static final Pattern URL = Pattern.compile("postgresql:/*(?:[^/?]*@)?([^? ]*)");

    private final String where;

    ConnectException(SQLException cause, DataSource source) {
        super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
        this.where = where(source, null);
    }

    /** Returns host, port and database as the URL has them, in brackets, or an empty text if it is not known. */
    static String where(SQLException e) {
        return e instanceof ConnectException connect ? connect.where : "";
    }

    /** Returns the same of a data source or, if there is none, of a URL. */
    static String where(@Nullable DataSource source, @Nullable String own) {
        // In HikariCP and c3p0; in the driver, Tomcat, DBCP and Spring.
        String urls = own + " " + text(source, "getJdbcUrl") + " " + text(source, "getUrl");
        OwnPool.refuseUserInHost(urls);
        Matcher url = URL.matcher(urls);
        return url.find() ? " (" + url.group(1) + ")" : "";
    }

    private static String text(@Nullable DataSource source, String getter) {
        try {
            return source == null
                    ? ""
                    : String.valueOf(source.getClass().getMethod(getter).invoke(source));
        } catch (ReflectiveOperationException | RuntimeException e) {
            return "";
        }
    }
}
