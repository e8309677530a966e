package io.github.keepsake4j.transfer;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.keepsake4j.sql.SchemaScriptsTest;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.resps.Tuple;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A place where data is stored, as lines of text: all that is there, and the same put into an empty place. */
interface Dump {

    List<String> dump() throws Exception;

    /** Fills an empty place. */
    void load(List<String> lines) throws Exception;

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String line(String... parts) {
        return Stream.of(parts)
                .map(part -> "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(part)) + "\"")
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static String[] parts(String line) throws IOException {
        return new ObjectMapper().readValue(line, String[].class);
    }

    private static List<String> strings(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> strings = new ArrayList<>();
            while (rows.next()) {
                strings.add(rows.getString(1));
            }
            return strings;
        }
    }

    /** A file, as the statements that fill its tables. */
    record SqliteFile(Path file, String script) implements Dump {

        private Connection connect() throws SQLException {
            return DriverManager.getConnection("jdbc:sqlite:" + file);
        }

        @Override
        public List<String> dump() throws Exception {
            List<String> lines = new ArrayList<>();
            try (Connection connection = connect()) {
                // Not what a full-text table keeps for itself, and no leases.
                for (String table : strings(
                        connection,
                        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
                                + " AND name NOT GLOB '*_fts_*' AND name NOT GLOB '*lease*' ORDER BY name")) {
                    String rowId = table.endsWith("_fts") ? "SELECT 'rowid' UNION ALL " : "";
                    List<String> columns =
                            strings(connection, rowId + "SELECT name FROM pragma_table_info('" + table + "')");
                    String values = columns.stream()
                            .map(column -> "replace(quote(" + column + "), char(10), '''||char(10)||''')")
                            .collect(Collectors.joining("||', '||"));
                    String into = "INSERT INTO " + table + " (" + String.join(", ", columns) + ") VALUES (";
                    strings(connection, "SELECT " + values + " FROM " + table + " ORDER BY 1")
                            .forEach(row -> lines.add(into + row + ")"));
                }
            }
            return lines;
        }

        @Override
        public void load(List<String> lines) throws Exception {
            Files.createDirectories(file.toAbsolutePath().getParent());
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate(SchemaScriptsTest.read(script));
                for (String table : strings(
                        connection, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '*_schema'")) {
                    statement.executeUpdate("DELETE FROM " + table);
                }
                for (String line : lines) {
                    statement.executeUpdate(line);
                }
            }
        }
    }

    /** A database, as the names of tables and their rows. */
    record PostgresDatabase(DataSource database, String script) implements Dump {

        private static final String TABLES =
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'keepsake%'"
                        + " AND relname NOT LIKE '%lease%' ORDER BY relname";

        @Override
        public List<String> dump() throws Exception {
            List<String> lines = new ArrayList<>();
            try (Connection connection = database.getConnection()) {
                for (String table : strings(connection, TABLES)) {
                    strings(connection, "SELECT row_to_json(t)::text FROM " + table + " t").stream()
                            .sorted()
                            .forEach(row -> lines.add(table + " " + row));
                }
            }
            return lines;
        }

        @Override
        public void load(List<String> lines) throws Exception {
            Postgres.execute(database, SchemaScriptsTest.read(script));
            try (Connection connection = database.getConnection();
                    Statement statement = connection.createStatement()) {
                for (String table : strings(connection, TABLES)) {
                    statement.execute("DELETE FROM " + table);
                }
                for (String line : lines) {
                    int space = line.indexOf(' ');
                    String table = line.substring(0, space);
                    statement.execute("INSERT INTO " + table
                            + " OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::" + table + ", '"
                            + line.substring(space + 1).replace("'", "''") + "')");
                }
                // What a restored backup does with numbers that the server gives.
                for (String next : strings(
                        connection,
                        "SELECT format('SELECT setval(%L, max(number)) FROM %I', pg_get_serial_sequence(relname, 'number'),"
                                + " relname) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
                                + " WHERE relkind = 'r' AND relname LIKE 'keepsake%' AND attidentity <> ''"
                                + " UNION ALL SELECT 'SELECT setval(''keepsake_memory_number'', max(number))"
                                + " FROM keepsake_memory' WHERE to_regclass('keepsake_memory_number') IS NOT NULL")) {
                    strings(connection, next);
                }
            }
        }
    }

    /** The keys below a prefix. Bytes are characters. */
    record RedisKeys(Redis server, String prefix) implements Dump {

        @Override
        public List<String> dump() {
            List<String> lines = new ArrayList<>();
            try (Jedis redis = server.console()) {
                for (byte[] key : redis.keys(bytes(prefix + "*"))) {
                    String name = text(key).substring(prefix.length());
                    switch (redis.type(key)) {
                        case "hash" ->
                            redis.hgetAll(key)
                                    .forEach((field, value) -> lines.add(line(name, "hash", text(field), text(value))));
                        case "zset" -> {
                            for (Tuple each : redis.zrangeWithScores(key, 0, -1)) {
                                lines.add(line(
                                        name,
                                        "zset",
                                        text(each.getBinaryElement()),
                                        String.format(Locale.ROOT, "%.0f", each.getScore())));
                            }
                        }
                        case "string" -> lines.add(line(name, "string", text(redis.get(key))));
                        default -> throw new IllegalStateException(redis.type(key) + " " + name);
                    }
                }
            }
            return lines.stream().sorted().toList();
        }

        @Override
        public void load(List<String> lines) throws Exception {
            try (Jedis redis = server.console()) {
                for (String line : lines) {
                    String[] parts = parts(line);
                    byte[] key = bytes(prefix + parts[0]);
                    switch (parts[1]) {
                        case "hash" -> redis.hset(key, bytes(parts[2]), bytes(parts[3]));
                        case "zset" -> redis.zadd(key, Double.parseDouble(parts[3]), bytes(parts[2]));
                        default -> redis.set(key, bytes(parts[2]));
                    }
                }
            }
        }
    }

    /** The objects of a bucket. Bytes are characters. */
    record Bucket(S3Server server, String bucket) implements Dump {

        @Override
        public List<String> dump() {
            Map<String, String> objects = new TreeMap<>();
            try (S3Client client = S3Server.client(server.port())) {
                for (S3Object object : client.listObjectsV2Paginator(list -> list.bucket(bucket))
                        .contents()) {
                    byte[] content = client.getObjectAsBytes(
                                    get -> get.bucket(bucket).key(object.key()))
                            .asByteArray();
                    objects.put(object.key(), text(content));
                }
            }
            return objects.entrySet().stream()
                    .map(object -> line(object.getKey(), object.getValue()))
                    .toList();
        }

        @Override
        public void load(List<String> lines) throws Exception {
            try (S3Client client = S3Server.client(server.port())) {
                for (String line : lines) {
                    String[] parts = parts(line);
                    client.putObject(put -> put.bucket(bucket).key(parts[0]), RequestBody.fromBytes(bytes(parts[1])));
                }
            }
        }
    }

    /** The files of a directory, those of SQLite as statements. */
    record Directory(Path root, String script) implements Dump {

        @Override
        public List<String> dump() throws Exception {
            List<String> lines = new ArrayList<>();
            List<Path> files;
            try (Stream<Path> all = Files.walk(root)) {
                files = all.filter(Files::isRegularFile).sorted().toList();
            }
            for (Path file : files) {
                String name = root.relativize(file).toString();
                if (name.endsWith(".db")) {
                    new SqliteFile(file, script).dump().forEach(statement -> lines.add(line(name, statement)));
                } else if (!name.matches(".*(-wal|-shm|\\.lock)")) {
                    lines.add(line(name, Files.readString(file)));
                }
            }
            return lines;
        }

        @Override
        public void load(List<String> lines) throws Exception {
            Map<String, List<String>> contents = new TreeMap<>();
            for (String line : lines) {
                String[] parts = parts(line);
                contents.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
            }
            for (Map.Entry<String, List<String>> each : contents.entrySet()) {
                Path file = root.resolve(each.getKey());
                Files.createDirectories(file.getParent());
                if (each.getKey().endsWith(".db")) {
                    new SqliteFile(file, script).load(each.getValue());
                } else {
                    Files.writeString(file, each.getValue().get(0));
                }
            }
        }
    }
}
