package io.github.keepsake4j.log.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.keepsake4j.sql.NamedSql;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All SQL of the library as texts that are compared with files. Its {@code main} writes the files. CONTRIBUTING has the
 * command.
 *
 * <p>Statements have no names in the files: one that moves to another class is the same one.
 */
final class GoldenSql {

    /** Where fields hold statements. Literals are found in all classes. */
    private static final Set<String> PACKAGES =
            Set.of("log/jdbc", "recall/jdbc", "recall/memories", "sql", "transfer/jdbc", "workflow/files/jdbc");

    private static final Pattern STATEMENT = Pattern.compile(
            "(?s)[\\s(]*(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|CREATE|ALTER|DROP|TRUNCATE|LOCK|ANALYZE|VACUUM|PRAGMA|ATTACH"
                    + "|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|RESET|DISCARD|SHOW|EXPLAIN)\\b.*");

    /** A part of a statement that becomes one by {@link NamedSql}. */
    private static final Pattern NAMED = Pattern.compile("(?s).*(?<!:):[a-z_]+.*");

    private static final String SEPARATOR = "\n;\n";

    private GoldenSql() {}

    /** Writes what the library has as what it shall have. */
    public static void main(String... arguments) throws Exception {
        Path directory = Path.of("src/test/resources/io/github/keepsake4j/sql");
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("statements.sql"), String.join(SEPARATOR, statements()) + SEPARATOR);
        Files.writeString(directory.resolve("head-reads.sql"), lines(headReads(), "-- %s\n%s" + SEPARATOR));
        Files.writeString(directory.resolve("head-reads.sha256"), lines(checksums(), "%s %s\n"));
    }

    private static String lines(Map<String, String> values, String form) {
        return values.entrySet().stream()
                .map(value -> form.formatted(value.getKey(), value.getValue()))
                .collect(Collectors.joining());
    }

    /** Returns the statements of a golden file, in which each ends in a line of its own. */
    static Set<String> golden(String file) {
        return new TreeSet<>(List.of(read(file).split(SEPARATOR)));
    }

    static String read(String file) {
        try (InputStream in = GoldenSql.class.getResourceAsStream("/io/github/keepsake4j/sql/" + file)) {
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns all statements but the reads from the head: values of fields, and literals that are sent as they are. */
    static Set<String> statements() throws Exception {
        Set<String> statements = new TreeSet<>();
        Path classes = Path.of(JdbcMessageLog.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".class")).toList()) {
                addIfStatement(statements, literals(file));
                String name = classes.relativize(file).toString().replace(".class", "");
                String folder = name.substring(0, name.lastIndexOf('/') + 1);
                if (PACKAGES.stream().anyMatch(each -> folder.equals("io/github/keepsake4j/" + each + "/"))) {
                    for (Field field : Class.forName(name.replace('/', '.')).getDeclaredFields()) {
                        if (Modifier.isStatic(field.getModifiers())) {
                            field.setAccessible(true);
                            addIfStatement(statements, List.of(field.get(null)));
                        }
                    }
                }
            }
        }
        readsFromHead().values().forEach(read -> {
            statements.remove(text(read));
            statements.remove(read.text().strip());
        });
        return statements;
    }

    private static void addIfStatement(Set<String> statements, Collection<?> values) {
        for (Object value : values) {
            if (value instanceof Collection<?> several) {
                addIfStatement(statements, several);
            } else if (value instanceof Object[] several) {
                addIfStatement(statements, Arrays.asList(several));
            } else if (value instanceof Map<?, ?> several) {
                addIfStatement(statements, several.values());
            } else if (value instanceof NamedSql named) {
                statements.add(text(named));
            } else if (value instanceof String text
                    && STATEMENT.matcher(text).matches()
                    && !NAMED.matcher(text).matches()) {
                statements.add(text.strip());
            }
        }
    }

    /** Returns a statement with the order in which it takes its values, which its text does not say. */
    private static String text(NamedSql sql) {
        return sql.text().strip() + "\n-- values: " + Arrays.toString(sql.places());
    }

    /** Returns the literals of a class, with those that a concatenation puts values into. */
    private static List<String> literals(Path file) throws IOException {
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            in.skipNBytes(8);
            String[] texts = new String[in.readUnsignedShort()];
            List<Integer> literals = new ArrayList<>();
            for (int i = 1; i < texts.length; i++) {
                int kind = in.readUnsignedByte();
                switch (kind) {
                    case 1 -> texts[i] = in.readUTF();
                    case 8 -> literals.add(in.readUnsignedShort());
                    case 7, 16, 19, 20 -> in.skipNBytes(2);
                    case 15 -> in.skipNBytes(3);
                    case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipNBytes(4);
                    case 5, 6 -> {
                        in.skipNBytes(8);
                        i++;
                    }
                    default -> throw new IOException(file + " has a constant of the unknown kind " + kind);
                }
            }
            return literals.stream()
                    .map(literal -> texts[literal].replace('\1', '\u2026'))
                    .toList();
        }
    }

    /** Returns all reads from the head, by their parts. */
    static Map<Set<PostgresReadSql.Part>, NamedSql> readsFromHead() {
        List<Set<PostgresReadSql.Part>> all = new ArrayList<>(List.of(EnumSet.noneOf(PostgresReadSql.Part.class)));
        for (PostgresReadSql.Part part : PostgresReadSql.Part.values()) {
            for (Set<PostgresReadSql.Part> without : List.copyOf(all)) {
                Set<PostgresReadSql.Part> with = EnumSet.copyOf(without);
                with.add(part);
                all.add(with);
            }
        }
        return all.stream().collect(Collectors.toMap(parts -> parts, PostgresReadSql::fromHead));
    }

    /** Returns the read from the head without optional parts, with each one, and with all. */
    static Map<String, String> headReads() {
        return readsFromHead().entrySet().stream()
                .filter(read -> isWhole(read.getKey()))
                .collect(Collectors.toMap(
                        read -> parts(read.getKey()), read -> text(read.getValue()), (a, b) -> a, TreeMap::new));
    }

    /** Returns the SHA-256 of all other reads from the head. */
    static Map<String, String> checksums() {
        return readsFromHead().entrySet().stream()
                .filter(read -> !isWhole(read.getKey()))
                .collect(Collectors.toMap(
                        read -> parts(read.getKey()),
                        read -> sha256(text(read.getValue())),
                        (a, b) -> a,
                        TreeMap::new));
    }

    private static boolean isWhole(Set<PostgresReadSql.Part> parts) {
        return parts.size() <= 1 || parts.size() == PostgresReadSql.Part.values().length;
    }

    private static String parts(Set<PostgresReadSql.Part> parts) {
        return parts.isEmpty()
                ? "none"
                : EnumSet.copyOf(parts).stream().map(Enum::name).collect(Collectors.joining("+"));
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
