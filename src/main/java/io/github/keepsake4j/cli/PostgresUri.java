package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The address of a database. PostgreSQL's own form has user and password before the host, which that of JDBC has not.
 *
 * @param url the URL of JDBC
 * @param user the user, or null
 * @param password the password, or null
 */
record PostgresUri(String url, @Nullable String user, @Nullable String password) {

    /** Reads PostgreSQL's own form: {@code postgresql://user:password@host:port/database?setting=value}. */
    static PostgresUri of(String field, URI uri) {
        String authority = uri.getRawAuthority();
        if (authority == null) {
            throw new InvalidInputException(field, "must be such as postgresql://user@host/database");
        }
        int at = authority.lastIndexOf('@');
        String server = authority.substring(at + 1);
        String query = uri.getRawQuery();
        String url = "jdbc:postgresql://" + server + uri.getRawPath() + (query == null ? "" : "?" + query);
        if (at < 0) {
            return new PostgresUri(url, null, null);
        }
        String[] login = authority.substring(0, at).split(":", 2);
        return new PostgresUri(url, decoded(login[0]), login.length == 1 ? null : decoded(login[1]));
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** Leaves out the password, which may also be in the URL. */
    @Override
    public String toString() {
        return "PostgresUri[user=" + user + "]";
    }
}
