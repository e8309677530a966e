package io.github.keepsake4j.cli;

import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a database, in PostgreSQL's own form or in JDBC's form. It is checked here, because the driver and the
 * pool print an invalid address with its password. The driver gets a URL without user and password.
 *
 * @param url the URL of JDBC
 * @param user the user, or null
 * @param password the password, or null
 */
record PostgresUri(String url, @Nullable String user, @Nullable String password) {

    private static final String JDBC = "jdbc:";

    /** One server, with or without its port. */
    private static final Pattern SERVER = Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+\\])(?::([0-9]+))?");

    /** The name of a database, or none. */
    private static final Pattern DATABASE = Pattern.compile("(?:/[^/@]*)?");

    private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,10}");

    private static final List<String> SSL_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    /** The usual settings that the driver reads as numbers. */
    private static final Set<String> NUMBERS = Set.of(
            "connectTimeout",
            "loginTimeout",
            "socketTimeout",
            "cancelSignalTimeout",
            "prepareThreshold",
            "defaultRowFetchSize");

    private static final int MAX_PORT = 65_535;

    /** The port of a server whose address has none. */
    private static final int PORT = 5_432;

    /** One process needs few. */
    private static final int CONNECTIONS = 2;

    /** Reads {@code postgresql://user:password@host:port/database?setting=value}, or the same as a URL of JDBC. */
    static PostgresUri of(String field, String text) {
        URI uri = UriSettings.uri(field, plain(text));
        String authority = uri.getRawAuthority();
        if (authority == null
                || uri.getRawFragment() != null
                || !DATABASE.matcher(uri.getRawPath()).matches()) {
            throw unlike(field);
        }
        int at = authority.lastIndexOf('@');
        String servers = authority.substring(at + 1);
        checkServers(field, servers);
        String[] login = at < 0 ? new String[0] : authority.substring(0, at).split(":", 2);
        String user = login.length == 0 ? null : UriSettings.decoded(login[0]);
        String password = login.length < 2 ? null : UriSettings.decoded(login[1]);
        List<String> kept = new ArrayList<>();
        String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
        for (String setting : query.split("&+", -1)) {
            if (setting.isEmpty()) {
                continue;
            }
            String[] both = setting.split("=", 2);
            if (both.length < 2 || both[0].isEmpty() || setting.indexOf('@') >= 0) {
                throw new InvalidInputException(
                        field, "has invalid settings; write ?name=value&name=value, and write @ as %40 and ? as %3F");
            }
            // As the driver reads them.
            String value = URLDecoder.decode(both[1], StandardCharsets.UTF_8);
            switch (both[0]) {
                case "user" -> user = value;
                case "password" -> password = value;
                default -> {
                    check(field, both[0], value);
                    kept.add(setting);
                }
            }
        }
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String settings = kept.isEmpty() ? "" : "?" + String.join("&", kept);
        return new PostgresUri("jdbc:postgresql://" + servers + path + settings, user, password);
    }

    /** Returns PostgreSQL's own form. A URL of JDBC may have no server. */
    private static String plain(String text) {
        if (!text.startsWith(JDBC)) {
            return text;
        }
        String own = text.substring(JDBC.length());
        String rest = own.substring(own.indexOf(':') + 1);
        if (rest.startsWith("//") && !rest.startsWith("///")) {
            return own;
        }
        return "postgresql://localhost/" + (rest.startsWith("///") ? rest.substring(3) : rest);
    }

    private static void checkServers(String field, String servers) {
        for (String server : servers.split(",", -1)) {
            Matcher matcher = SERVER.matcher(server);
            if (!matcher.matches()) {
                throw unlike(field);
            }
            String port = matcher.group(2);
            if (port != null
                    && (port.length() > 5 || Integer.parseInt(port) < 1 || Integer.parseInt(port) > MAX_PORT)) {
                throw new InvalidInputException(field, "has an invalid port; it must be 1 to " + MAX_PORT);
            }
        }
    }

    /** Sets the address of a builder. User and password may be in PostgreSQL's own variables. */
    <B extends PostgresBuilder<B>> B set(B builder, Host.Environment environment) {
        String login = LogUri.or(user, LogUri.or(environment.get("PGUSER"), System.getProperty("user.name", "")));
        return builder.url(url, login, LogUri.or(password, LogUri.or(environment.get("PGPASSWORD"), "")))
                .maxPoolSize(CONNECTIONS);
    }

    /** Returns the servers, of which any may be used, or none if they are not reached by their addresses. */
    List<FirstAnswer.Server> servers() {
        // A factory of sockets, such as that of a cloud, has its own ways to a server.
        if (url.contains("socketFactory=")) {
            return List.of();
        }
        String authority = url.substring(url.indexOf("//") + 2, url.indexOf('/', url.indexOf("//") + 2));
        return SERVER.matcher(authority)
                .results()
                .map(server -> new FirstAnswer.Server(
                        server.group(1).replaceAll("[\\[\\]]", ""),
                        server.group(2) == null ? PORT : Integer.parseInt(server.group(2)),
                        false))
                .toList();
    }

    /** Refuses settings that the driver would refuse only when it connects, as if the server could not be reached. */
    private static void check(String field, String name, String value) {
        if (name.equals("sslmode") && !SSL_MODES.contains(value)) {
            throw new InvalidInputException(field + " " + name, "must be one of " + String.join(", ", SSL_MODES));
        }
        if (NUMBERS.contains(name) && !WHOLE.matcher(value).matches()) {
            throw new InvalidInputException(field + " " + name, "must be a whole number");
        }
    }

    private static InvalidInputException unlike(String field) {
        return new InvalidInputException(
                field,
                "must be such as postgresql://user@host/database; in a user or password, write / as %2F, ? as %3F, # as %23"
                        + " and @ as %40");
    }

    /** Leaves out the password. */
    @Override
    public String toString() {
        return "PostgresUri[user=" + user + "]";
    }
}
