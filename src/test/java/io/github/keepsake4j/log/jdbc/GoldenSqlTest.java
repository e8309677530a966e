package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A change of SQL is seen in the files of {@link GoldenSql}, which is also run to write them. */
class GoldenSqlTest {

    private static final String ELSE = "run GoldenSql if that is meant";

    @Test
    void the_statements_are_those_of_the_file() throws Exception {
        assertSame(GoldenSql.statements(), "statements.sql");
    }

    @Test
    void the_reads_from_the_head_are_those_of_the_file() {
        Map<String, String> reads = GoldenSql.headReads();
        assertThat(reads).hasSize(PostgresReadSql.Part.values().length + 2);
        assertSame(
                reads.entrySet().stream()
                        .map(read -> "-- " + read.getKey() + "\n" + read.getValue())
                        .collect(Collectors.toSet()),
                "head-reads.sql");
    }

    @Test
    void all_other_reads_from_the_head_have_the_checksums_of_the_file() {
        Map<String, String> golden = GoldenSql.read("head-reads.sha256")
                .lines()
                .map(line -> line.split(" "))
                .collect(Collectors.toMap(line -> line[0], line -> line[1], (a, b) -> a, TreeMap::new));
        assertThat(GoldenSql.checksums()).as(ELSE).isEqualTo(golden);
    }

    private static void assertSame(Set<String> now, String file) {
        Set<String> golden = GoldenSql.golden(file);
        assertThat(without(now, golden)).as("new in %s; %s", file, ELSE).isEmpty();
        assertThat(without(golden, now)).as("gone from %s; %s", file, ELSE).isEmpty();
    }

    private static Set<String> without(Set<String> all, Set<String> known) {
        return all.stream().filter(each -> !known.contains(each)).collect(Collectors.toCollection(TreeSet::new));
    }
}
