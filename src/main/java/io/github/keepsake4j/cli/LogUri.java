package io.github.keepsake4j.cli;

import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The address of a log, as a user writes it. Errors do not quote it, because it may contain a password.
 *
 * @param field the user's name for it
 * @param text the URI
 * @param creates whether a log that does not exist is created
 * @param makesTables whether missing tables are created
 * @param environment provides passwords and Amazon's settings
 */
record LogUri(String field, String text, boolean creates, boolean makesTables, Host.Environment environment) {

    private static final String KNOWN =
            "must begin with sqlite:, file:, jdbc:postgresql:, postgresql:, redis:, rediss:, s3: or memory:";

    private static final Set<String> REDIS_SETTINGS = Set.of("prefix", "time-to-live");

    private static final Set<String> S3_SETTINGS =
            Set.of("endpoint", "region", "path-style", "quoted-etags", "chunked-signing", "default-tenant");

    private static final Pattern LOCAL =
            Pattern.compile("(?:jdbc:)?(?:sqlite|file):(.*)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    /** A directory of a tenant in a log of files. A backup may have these without the lock. */
    private static final Pattern TENANT = Pattern.compile("[0-9a-f]{24}");

    private static final Pattern REGION = Pattern.compile("[a-z0-9-]{4,30}");

    private static final int HTTP = 80;
    private static final int HTTPS = 443;

    /** Opens the log, which the caller closes. */
    MessageLog open() {
        // The scheme of JDBC is part of ours.
        int colon = text.indexOf(':', text.regionMatches(true, 0, "jdbc:", 0, 5) ? 5 : 0);
        String scheme = colon < 0 ? "" : text.substring(0, colon).toLowerCase(Locale.ROOT);
        String rest = text.substring(colon + 1);
        return switch (scheme) {
            case "sqlite", "jdbc:sqlite" -> sqlite(rest);
            case "file" -> files(rest);
            case "postgresql", "postgres", "jdbc:postgresql" -> postgres();
            case "redis", "rediss" -> redis();
            case "s3" -> s3();
            case "memory" -> inMemory();
            default -> throw wrong(KNOWN + suggestion(KNOWN, scheme, text));
        };
    }

    /**
     * Returns what to write for a scheme that is misspelt, or for a text that looks like a path. It has no colon, and so
     * no password.
     */
    static String suggestion(String known, String scheme, String text) {
        if (scheme.isEmpty()) {
            return "; for a file, write sqlite:" + text;
        }
        return Stream.of(known.split("[ ,]+"))
                .filter(word -> word.endsWith(":") && word.regionMatches(0, scheme, 0, 2))
                .findFirst()
                .map(word -> "; did you mean " + word + "?")
                .orElse("");
    }

    private InvalidInputException wrong(String problem) {
        return new InvalidInputException(field, problem);
    }

    private MessageLog inMemory() {
        if (!creates) {
            throw wrong("memory: is always empty at the start; name a log with memories");
        }
        return new InMemoryMessageLog();
    }

    private MessageLog sqlite(String path) {
        Library.require(Library.SQLITE);
        Path file = path(path);
        if (Files.isDirectory(file)) {
            throw wrong(file + " is a directory; write file:" + file);
        }
        checkThere(file, "file");
        if (!creates && !SqliteMessageLog.isLog(file)) {
            throw wrong(file + " has no tables of Keepsake4j; the commands add, import and copy --to create them");
        }
        return SqliteMessageLog.open(file);
    }

    private MessageLog files(String path) {
        Path directory = path(path);
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw wrong(directory + " is a file; write sqlite:" + directory);
        }
        checkThere(directory, "directory");
        if (!creates && !isLog(directory)) {
            throw wrong(directory + " is not a log; the commands add, import and copy --to create one there");
        }
        return FileMessageLog.in(directory);
    }

    /** Checks a directory before a log is opened in it, because opening creates files. */
    private static boolean isLog(Path directory) {
        if (Files.exists(directory.resolve("keepsake.lock"))) {
            return true;
        }
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.anyMatch(
                    entry -> TENANT.matcher(String.valueOf(entry.getFileName())).matches() && Files.isDirectory(entry));
        } catch (IOException e) {
            throw new StorageUnavailableException("directory " + directory + " cannot be read at the moment", e);
        }
    }

    private void checkThere(Path path, String kind) {
        Path parent = path.getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw wrong("the directory " + parent + " does not exist; create it first");
        }
        if (!creates && !Files.exists(path)) {
            throw wrong(
                    "the " + kind + " " + path + " does not exist; the commands add, import and copy --to create it");
        }
    }

    /** Returns whether two addresses lead to the same file or directory, or are equal. */
    static boolean areSame(LogUri one, LogUri other) {
        Path path = one.local();
        Path otherPath = other.local();
        if (path == null || otherPath == null || !Files.exists(path) || !Files.exists(otherPath)) {
            return one.text.equals(other.text);
        }
        try {
            return Files.isSameFile(path, otherPath);
        } catch (IOException e) {
            throw new StorageUnavailableException(
                    one.field + " and " + other.field + " cannot be compared: a path cannot be read at the moment", e);
        }
    }

    private @Nullable Path local() {
        Matcher matcher = LOCAL.matcher(text);
        return matcher.matches() ? path(matcher.group(1)) : null;
    }

    private Path path(String path) {
        return path(field, path, "sqlite:chat.db or file:chats");
    }

    /** Returns the path of an address. */
    static Path path(String field, String path, String example) {
        if (path.isEmpty()) {
            throw new InvalidInputException(field, "must have a path, such as " + example);
        }
        try {
            // Taken unchanged, so that names may have any character. Three slashes also begin an absolute path.
            return Path.of(path.startsWith("///") ? path.substring(2) : path);
        } catch (InvalidPathException e) {
            throw new InvalidInputException(field, "has an invalid path: " + e.getReason());
        }
    }

    private MessageLog postgres() {
        return server(field, text)
                .set(JdbcMessageLog.builder(), environment)
                .schema(makesTables ? SchemaMode.ALWAYS : SchemaMode.EMBEDDED)
                .build();
    }

    /** Returns the address of a database that answers. */
    static PostgresUri server(String field, String text) {
        Library.require(Library.POSTGRESQL, Library.HIKARI);
        PostgresUri server = PostgresUri.of(field, text);
        FirstAnswer.await(field, FirstAnswer.Protocol.POSTGRESQL, server.servers(), FirstAnswer.LIMIT);
        return server;
    }

    /** Returns a text, or another one if it is null. */
    static String or(@Nullable String text, String other) {
        return text == null ? other : text;
    }

    private MessageLog redis() {
        Library.require(Library.REDIS);
        UriSettings settings = UriSettings.of(field, text, REDIS_SETTINGS);
        if (settings.rest().getHost() == null) {
            throw wrong("must begin with redis:// or rediss://, such as redis://localhost:6379");
        }
        // The warnings about the server's settings would be repeated for each command.
        RedisMessageLog.Builder builder =
                RedisMessageLog.builder().server(settings.rest()).checks(RedisMessageLog.Checks.NONE);
        settings.ifSet("prefix", builder::prefix);
        settings.ifSet("time-to-live", period -> builder.timeToLive(Periods.parse(field + " time-to-live", period)));
        // An address without a port is left to the driver's own check.
        if (settings.rest().getPort() > 0) {
            boolean tls = "rediss".equalsIgnoreCase(settings.rest().getScheme());
            await(FirstAnswer.Protocol.REDIS, settings.rest(), settings.rest().getPort(), tls);
        }
        return builder.build();
    }

    private void await(FirstAnswer.Protocol protocol, URI server, int port, boolean tls) {
        // A number of IPv6 is in brackets.
        String host = server.getHost().replaceAll("[\\[\\]]", "");
        FirstAnswer.await(field, protocol, List.of(new FirstAnswer.Server(host, port, tls)), FirstAnswer.LIMIT);
    }

    /** Waits for the answer of a bucket's server, unless it is reached through a proxy. */
    private void awaitEndpoint(URI endpoint) {
        if (endpoint.getHost() != null && isDirect(endpoint, environment)) {
            boolean tls = isTls(endpoint);
            int usual = tls ? HTTPS : HTTP;
            await(FirstAnswer.Protocol.S3, endpoint, endpoint.getPort() < 0 ? usual : endpoint.getPort(), tls);
        }
    }

    private static boolean isTls(URI endpoint) {
        return "https".equalsIgnoreCase(endpoint.getScheme());
    }

    /** Returns whether the SDK uses no proxy. */
    static boolean isDirect(URI endpoint, Host.Environment environment) {
        String proxy = isTls(endpoint) ? "https_proxy" : "http_proxy";
        return environment.get(proxy) == null
                && environment.get(proxy.toUpperCase(Locale.ROOT)) == null
                && System.getProperty(isTls(endpoint) ? "https.proxyHost" : "http.proxyHost") == null;
    }

    /** Returns Amazon's own server of a region, or null if the region is not in the address or a variable. */
    private @Nullable URI amazon(UriSettings settings) {
        String usual = or(environment.get("AWS_REGION"), or(environment.get("AWS_DEFAULT_REGION"), ""));
        String region = or(settings.values().get("region"), usual);
        return REGION.matcher(region).matches()
                ? URI.create("https://s3." + region + ".amazonaws.com" + (region.startsWith("cn-") ? ".cn" : ""))
                : null;
    }

    private MessageLog s3() {
        Library.require(Library.S3, Library.S3_HTTP);
        UriSettings settings = UriSettings.of(field, text, S3_SETTINGS);
        String bucket = settings.rest().getRawAuthority();
        if (bucket == null) {
            throw wrong("must have a bucket, such as s3://bucket/prefix");
        }
        S3MessageLog.Builder builder = S3MessageLog.builder()
                .bucket(bucket)
                .prefix(settings.rest().getPath().replaceAll("^/|/$", ""));
        // The SDK reads this variable too. It is passed on because servers other than Amazon's need the bucket in the
        // path.
        String usual = or(environment.get("AWS_ENDPOINT_URL_S3"), or(environment.get("AWS_ENDPOINT_URL"), ""));
        String used = or(settings.values().get("endpoint"), usual);
        URI server = amazon(settings);
        if (!used.isEmpty()) {
            server = UriSettings.uri(field + " endpoint", used);
            builder.endpoint(server);
        }
        ifSet(settings, "path-style", builder::pathStyle);
        ifSet(settings, "quoted-etags", builder::quotedEtags);
        ifSet(settings, "chunked-signing", builder::chunkedSigning);
        settings.ifSet("region", builder::region);
        settings.ifSet("default-tenant", builder::defaultTenant);
        if (server != null) {
            awaitEndpoint(server);
        }
        return builder.build();
    }

    private void ifSet(UriSettings settings, String name, Consumer<Boolean> use) {
        settings.ifSet(name, value -> {
            if (!value.equals("true") && !value.equals("false")) {
                throw new InvalidInputException(field + " " + name, "must be true or false");
            }
            use.accept(value.equals("true"));
        });
    }

    /** Leaves out the URI, which may contain a password. */
    @Override
    public String toString() {
        return "LogUri[field=" + field + "]";
    }
}
