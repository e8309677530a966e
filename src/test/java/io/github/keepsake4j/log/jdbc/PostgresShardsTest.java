package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.sql.NamedSql;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Each statement goes to one shard of a database that is distributed by {@code memory_key}. A distributed PostgreSQL finds
 * that shard only if the key is compared with a parameter beside each reference to a table that the key leads. Whether that
 * is so is read from the statements' texts.
 */
class PostgresShardsTest {

    private static final Set<String> TABLES = Set.of(
            "keepsake_memory",
            "keepsake_listed",
            "keepsake_message",
            "keepsake_view",
            "keepsake_summary",
            "keepsake_reference",
            "keepsake_usage",
            "keepsake_lease");

    /** Read a tenant's memories, which lie on all shards, or several memories, which is not done where there are shards. */
    private static final Set<String> SCATTERED =
            Set.of("LIST", "DESCRIBED", "NODES", "USAGE", "FIND_IN_SEVERAL", "FIND_AT_IN_SEVERAL");

    private static final Pattern TOKEN =
            Pattern.compile("'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9.]*|[(),;?]|[^\\sA-Za-z_(),;?']+");

    private static final Set<String> NO_ALIAS = Set.of(
            "ON",
            "SET",
            "WHERE",
            "CROSS",
            "LEFT",
            "JOIN",
            "ORDER",
            "LIMIT",
            "UNION",
            "GROUP",
            "HAVING",
            "FOR",
            "AS",
            "RETURNING",
            "VALUES",
            "SELECT");

    /** A query between its parentheses: the tables that it names, and those whose key is compared with a parameter. */
    private static final class Scope {
        private final Map<String, String> tables = new LinkedHashMap<>();
        private final Set<String> routed = new LinkedHashSet<>();
    }

    @Test
    void each_statement_names_the_key_beside_each_table() throws Exception {
        Map<String, String> statements = statements();
        assertThat(statements).hasSizeGreaterThan(90);
        Map<String, List<String>> wrong = new LinkedHashMap<>();
        statements.forEach((name, sql) -> {
            List<String> references = unrouted(sql);
            if (!references.isEmpty() && !SCATTERED.contains(name)) {
                wrong.put(name, references);
            }
        });
        assertThat(wrong).isEmpty();
        assertThat(SCATTERED)
                .as("those that are scattered")
                .allSatisfy(name -> assertThat(unrouted(statements.get(name))).isNotEmpty());
    }

    @Test
    void a_reference_without_the_key_is_found() {
        assertThat(unrouted("SELECT n.id FROM keepsake_message n WHERE n.memory_key = ? AND n.seq = ?"))
                .isEmpty();
        assertThat(unrouted("SELECT id FROM keepsake_message WHERE seq = ?")).containsExactly("keepsake_message");
        assertThat(unrouted("SELECT 1 FROM keepsake_memory m JOIN keepsake_message n ON n.memory_key = m.memory_key"
                        + " WHERE m.memory_key = ?"))
                .containsExactly("n");
        assertThat(unrouted("SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND EXISTS"
                        + " (SELECT FROM keepsake_message h WHERE h.memory_key = m.memory_key)"))
                .containsExactly("h");
        assertThat(unrouted("SELECT 1 FROM keepsake_memory m, keepsake_message h WHERE m.memory_key = ?"))
                .containsExactly("h");
        assertThat(unrouted("INSERT INTO keepsake_view (anchor_seq, memory_key) VALUES (?, ?)"))
                .containsExactly("INTO keepsake_view");
        for (String sql : List.of(
                PostgresSql.APPEND_ONE.text(),
                PostgresReadSql.fromHead(java.util.Set.of()).text())) {
            for (Matcher place = Pattern.compile("[a-z]+\\.memory_key = \\?").matcher(sql); place.find(); ) {
                String planted = sql.substring(0, place.start()) + "true" + sql.substring(place.end());
                assertThat(unrouted(planted)).as(place.group()).isNotEmpty();
            }
        }
    }

    /** Returns all statements by their names. */
    static Map<String, String> statements() throws IllegalAccessException {
        Map<String, String> statements = new LinkedHashMap<>();
        for (Class<?> holder : List.of(Sql.class, PostgresSql.class, PostgresReadSql.class, PostgresListSql.class)) {
            for (Field field : holder.getDeclaredFields()) {
                if (!field.isSynthetic() && !java.lang.reflect.Modifier.isPrivate(field.getModifiers())) {
                    Object value = field.get(null);
                    if (value instanceof NamedSql named) {
                        statements.put(field.getName(), named.text());
                    } else if (!(value instanceof OwnSql)) {
                        statements.put(field.getName(), (String) value);
                    }
                }
            }
        }
        GoldenSql.readsFromHead().forEach((parts, read) -> statements.put("FROM_HEAD " + parts, read.text()));
        return statements;
    }

    /** Returns the references to tables of which the text does not say the key. */
    private static List<String> unrouted(String sql) {
        List<String> tokens = new ArrayList<>();
        for (Matcher token = TOKEN.matcher(sql); token.find(); ) {
            tokens.add(token.group());
        }
        List<String> wrong = new ArrayList<>();
        Deque<Scope> scopes = new ArrayDeque<>(List.of(new Scope()));
        for (int i = 0; i < tokens.size(); i++) {
            String token = tokens.get(i);
            String before = i == 0 ? "" : tokens.get(i - 1);
            switch (token) {
                case "(" -> scopes.push(new Scope());
                case ")" -> wrong.addAll(close(scopes.pop()));
                case "UNION", ";" -> {
                    wrong.addAll(close(scopes.pop()));
                    scopes.push(new Scope());
                }
                default -> {
                    if (TABLES.contains(token) && before.equals("INTO")) {
                        // The key is the first column, so that what is inserted begins with it.
                        if (!tokens.get(i + 1).equals("(") && !tokens.get(i + 1).equals("AS")
                                || !tokens.get(tokens.subList(i, tokens.size()).indexOf("(") + i + 1)
                                        .equals("memory_key")) {
                            wrong.add("INTO " + token);
                        }
                    } else if (TABLES.contains(token)
                            && Set.of("FROM", "JOIN", "UPDATE", ",").contains(before)) {
                        String next = i + 1 < tokens.size() ? tokens.get(i + 1) : "";
                        boolean isAlias =
                                next.matches("[a-z_]+") && !NO_ALIAS.contains(next.toUpperCase(java.util.Locale.ROOT));
                        scopes.peek().tables.put(isAlias ? next : token, token);
                    } else if (token.equals("memory_key") || token.endsWith(".memory_key")) {
                        boolean isParameter = i + 2 < tokens.size()
                                && tokens.get(i + 1).equals("=")
                                && tokens.get(i + 2).equals("?");
                        if (isParameter) {
                            String alias = token.contains(".") ? token.substring(0, token.indexOf('.')) : null;
                            scopes.stream()
                                    .filter(scope ->
                                            alias == null ? scope.tables.size() == 1 : scope.tables.containsKey(alias))
                                    .findFirst()
                                    .ifPresent(scope -> scope.routed.add(
                                            alias == null
                                                    ? scope.tables
                                                            .keySet()
                                                            .iterator()
                                                            .next()
                                                    : alias));
                        }
                    }
                }
            }
        }
        scopes.forEach(scope -> wrong.addAll(close(scope)));
        return wrong;
    }

    private static List<String> close(Scope scope) {
        List<String> wrong = new ArrayList<>(scope.tables.keySet());
        wrong.removeAll(scope.routed);
        return wrong;
    }
}
