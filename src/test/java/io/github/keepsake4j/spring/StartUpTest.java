package io.github.keepsake4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.spring.bare.BareApplication;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an application says when it starts, or why it does not, in a JVM of its own. */
class StartUpTest {

    private static final String PASSWORD = "canary-5b1e";
    private static final String WITHOUT_DATA_SOURCE = Contexts.WITHOUT_OTHERS
            + ",org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
            + ",org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

    /** Starts with the class path of the build. */
    private enum Start {
        REFUSED,
        REFUSED_BY_POSTGRESQL,
        NO_DATABASE,
        NO_SERVER,
        NO_TABLES_OF_THE_INDEX,
        WELL,
        TAKEN_DIRECTORY,
        ABSENT_DIRECTORY
    }

    private static final Map<Start, String> OUTPUTS = new EnumMap<>(Start.class);

    @TempDir
    static Path directory;

    private static Path file;

    /** Starts all in one JVM. */
    @BeforeAll
    static void starts() throws Exception {
        Postgres server = Postgres.newest();
        int port = server.port();
        asksForPasswordOf("walled", server.database("postgres"));
        String withoutIndex = server.newDatabase();
        try (JdbcMessageLog log = JdbcMessageLog.builder()
                .dataSource(server.database(withoutIndex))
                .schema(SchemaMode.ALWAYS)
                .build()) {
            // The first call makes the tables.
            log.list("default", ListQuery.first(1));
        }
        file = Files.writeString(directory.resolve("taken"), "");
        String tenant = "keepsake4j.tenant=acme";
        String index = "keepsake4j.index.enabled=true";
        Map<Start, List<String>> properties = new EnumMap<>(Start.class);
        properties.put(Start.REFUSED, onDatabase(port, "postgres", "walled", tenant));
        properties.put(
                Start.REFUSED_BY_POSTGRESQL,
                onDatabase(port, "postgres", "walled", tenant, "keepsake4j.jdbc.platform=postgresql"));
        properties.put(Start.NO_DATABASE, onDatabase(port, "none", "postgres", tenant));
        properties.put(Start.NO_SERVER, onDatabase(1, "none", "postgres", tenant));
        properties.put(Start.NO_TABLES_OF_THE_INDEX, onDatabase(port, withoutIndex, "postgres", index));
        properties.put(
                Start.WELL,
                onDatabase(
                        port,
                        server.newDatabase(),
                        "postgres",
                        "keepsake4j.jdbc.initialize-schema=always",
                        index,
                        "keepsake4j.strategy.max-turns=7"));
        properties.put(Start.TAKEN_DIRECTORY, List.of(WITHOUT_DATA_SOURCE, "keepsake4j.file.directory=" + file));
        properties.put(
                Start.ABSENT_DIRECTORY,
                List.of(WITHOUT_DATA_SOURCE, "keepsake4j.file.directory=" + directory + "/absent/chats"));
        List<String> outputs = outputs(List.of(), properties.values());
        properties.keySet().forEach(start -> OUTPUTS.put(start, outputs.get(start.ordinal())));
    }

    /** Starts the application in one JVM as often as there are lists of properties, and returns the outputs. */
    private static List<String> outputs(List<Path> before, Collection<List<String>> starts) throws Exception {
        List<String> arguments = new ArrayList<>();
        for (List<String> properties : starts) {
            if (!arguments.isEmpty()) {
                arguments.add(BareApplication.NEXT);
            }
            arguments.addAll(List.of("--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
            properties.forEach(property -> arguments.add("--" + property));
        }
        String output = Child.output(before, BareApplication.class, arguments.toArray());
        assertThat(output).doesNotContain(PASSWORD);
        List<String> outputs = List.of(output.split(BareApplication.NEXT + "\\R"));
        assertThat(outputs).hasSize(starts.size());
        return outputs;
    }

    private static List<String> onDatabase(int port, String database, String user, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                Contexts.WITHOUT_OTHERS,
                "spring.datasource.url=jdbc:postgresql://127.0.0.1:" + port + "/" + database,
                "spring.datasource.username=" + user,
                "spring.datasource.password=" + PASSWORD));
        all.addAll(List.of(properties));
        return all;
    }

    /** Returns the first line of the failure's description. */
    private static String firstLine(String output) {
        assertThat(output).contains("Description:");
        return output.substring(output.indexOf("Description:") + "Description:".length())
                .strip()
                .lines()
                .findFirst()
                .orElseThrow();
    }

    @Test
    void an_older_langchain4j_stops_the_start_and_the_bom_is_named() throws Exception {
        List<Path> older;
        try (Stream<Path> jars = Files.list(Path.of("target", "older-langchain4j"))) {
            older = jars.sorted().toList();
        }
        assertThat(older).hasSize(2);
        List<String> lines = new ArrayList<>();
        for (List<Path> before : List.of(older, older.subList(0, 1))) {
            lines.add(firstLine(outputs(before, List.of(List.of(WITHOUT_DATA_SOURCE, "keepsake4j.store=in-memory")))
                    .get(0)));
        }
        assertThat(lines)
                .allMatch(line -> line.contains("found 1.12.2; import langchain4j-bom 1.19.0 in dependencyManagement"))
                .satisfiesExactly(
                        both -> assertThat(both).startsWith("Keepsake4j needs langchain4j-core 1.19, "),
                        one -> assertThat(one).startsWith("Keepsake4j needs langchain4j 1.19, "));
    }

    @Test
    void a_wrong_password_an_absent_database_and_a_server_that_is_down_are_told_apart() {
        assertThat(List.of(Start.REFUSED, Start.REFUSED_BY_POSTGRESQL, Start.NO_DATABASE, Start.NO_SERVER))
                .extracting(start -> firstLine(OUTPUTS.get(start)))
                .satisfiesExactly(
                        refused -> assertThat(refused)
                                .isEqualTo(
                                        "The database server refuses the user or the password (SQLSTATE 28P01): FATAL:"
                                                + " password authentication failed for user \"walled\""),
                        known -> assertThat(known)
                                .startsWith(
                                        "The database server refuses the user or the password (SQLSTATE 28P01): FATAL:"
                                                + " password"),
                        absent -> assertThat(absent)
                                .isEqualTo("The database does not exist (SQLSTATE 3D000): FATAL: database \"none\" does"
                                        + " not exist"),
                        down -> assertThat(down)
                                .startsWith("The database server cannot be reached (SQLSTATE 08001): Connection to"
                                        + " 127.0.0.1:1 refused."));
    }

    /** The embedded server trusts everyone else. */
    private static void asksForPasswordOf(String user, DataSource source) throws Exception {
        Postgres.execute(source, "CREATE ROLE " + user + " LOGIN PASSWORD 'another one'");
        try (Connection connection = source.getConnection();
                ResultSet row = connection.createStatement().executeQuery("SHOW hba_file")) {
            row.next();
            Path rules = Path.of(row.getString(1));
            Files.writeString(rules, "host all " + user + " 127.0.0.1/32 scram-sha-256\n" + Files.readString(rules));
        }
        Postgres.execute(source, "SELECT pg_reload_conf()");
    }

    @Test
    void missing_tables_of_the_index_stop_the_start() {
        String output = OUTPUTS.get(Start.NO_TABLES_OF_THE_INDEX);
        assertThat(firstLine(output)).startsWith("The DataSource cannot keep the index: ");
        assertThat(output).contains("index/postgresql/V1__keepsake_index.sql");
    }

    @Test
    void one_line_says_what_is_kept_where() {
        assertThat(OUTPUTS.get(Start.WELL).lines().filter(line -> line.contains("Keepsake4j: ")))
                .singleElement()
                .asString()
                .endsWith("Keepsake4j: store postgresql, window max-turns=7, index postgresql, long-term memories off");
    }

    @Test
    void a_directory_that_cannot_be_used_has_a_failure_analysis() {
        String taken = OUTPUTS.get(Start.TAKEN_DIRECTORY);
        assertThat(firstLine(taken))
                .isEqualTo("The directory " + file + " cannot be used: " + file + " is not a directory.");
        assertThat(taken).contains("Set keepsake4j.file.directory to");
        // Another error than those of the configuration.
        assertThat(firstLine(OUTPUTS.get(Start.ABSENT_DIRECTORY)))
                .contains("the directory " + directory + "/absent does not exist");
    }
}
