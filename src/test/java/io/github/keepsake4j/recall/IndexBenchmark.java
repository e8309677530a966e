package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Token;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Prints how fast an index is made, how large it is, and how long a match takes: {@code IndexBenchmark sqlite|postgres
 * messages memories [cap]}.
 */
public final class IndexBenchmark {

    private IndexBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        int messages = Integer.parseInt(arguments[1]);
        int memories = Integer.parseInt(arguments[2]);
        int cap = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 20_000;
        Path directory = Files.createTempDirectory("index");
        Path file = directory.resolve("index.db");
        DataSource source = null;
        if (arguments[0].equals("postgres")) {
            source = Postgres.pool(Postgres.newest().database(Postgres.newest().newDatabase()), 4, true);
        }
        try (MessageIndex index = source == null
                ? JdbcMessageIndex.sqlite(file)
                : JdbcMessageIndex.builder().dataSource(source).createTables().build()) {
            Words words = Words.standard();
            GeneratedText text = new GeneratedText(1, 50_000);
            long start = System.nanoTime();
            long splitting = 0;
            int perMemory = messages / memories;
            for (int memory = 0; memory < memories; memory++) {
                ConversationKey key = ConversationKey.of("acme", "memory" + memory);
                Watermark before = null;
                for (int from = 1; from <= perMemory; from += 1_024) {
                    List<IndexedMessage> batch = new ArrayList<>();
                    int to = Math.min(perMemory, from + 1_023);
                    long begun = System.nanoTime();
                    for (int sequence = from; sequence <= to; sequence++) {
                        String sentence = text.sentence(4, 24);
                        batch.add(IndexedText.split(
                                new LoggedMessage(
                                        "m" + sequence,
                                        null,
                                        sequence,
                                        sequence % 2 == 0 ? AiMessage.from(sentence) : UserMessage.from(sentence),
                                        1,
                                        "",
                                        Instant.EPOCH),
                                words));
                    }
                    splitting += System.nanoTime() - begun;
                    Watermark after = new Watermark(1, to);
                    if (!index.add(key, before, after, batch)) {
                        throw new IllegalStateException();
                    }
                    before = after;
                }
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf(
                    "%s, %d messages in %d memories: made in %.1f s (%.0f a second), of which splitting %.1f s%n",
                    index.backend(), messages, memories, seconds, messages / seconds, splitting / 1e9);
            if (source != null) {
                Postgres.execute(source, "VACUUM ANALYZE");
                try (var connection = source.getConnection();
                        var rows = connection
                                .createStatement()
                                .executeQuery(
                                        "SELECT relname, pg_total_relation_size(oid) / 1000000, pg_indexes_size(oid) / 1000000, reltuples"
                                                + " FROM pg_class WHERE relname LIKE 'keepsake_index_%' AND relkind = 'r'")) {
                    while (rows.next()) {
                        System.out.println(rows.getString(1) + " " + rows.getLong(2) + " MB, of which indexes "
                                + rows.getLong(3) + ", rows " + rows.getLong(4));
                    }
                }
            } else {
                System.out.println("file " + Files.size(file) / 1_000_000 + " MB");
            }
            for (Scope scope : List.of(Scope.memory(ConversationKey.of("acme", "memory0")), Scope.tenant("acme"))) {
                for (int[] length : new int[][] {{1, 2}, {3, 6}, {8, 12}}) {
                    measure(index, words, scope, length, cap);
                }
            }
        }
    }

    private static void measure(MessageIndex index, Words words, Scope scope, int[] length, int cap) {
        GeneratedText questions = new GeneratedText(99, 50_000);
        int rounds = 300;
        double[] millis = new double[rounds];
        long postings = 0;
        long terms = 0;
        for (int round = -100; round < rounds; round++) {
            Set<String> asked = new LinkedHashSet<>();
            for (Token token : words.tokens(questions.sentence(length[0], length[1]))) {
                asked.add(token.term());
            }
            long start = System.nanoTime();
            Matches matches = index.match(scope, asked, cap);
            double took = (System.nanoTime() - start) / 1e6;
            if (round >= 0) {
                millis[round] = took;
                terms += asked.size();
                postings += matches.postings().values().stream()
                        .mapToLong(List::size)
                        .sum();
            }
        }
        Arrays.sort(millis);
        System.out.printf(
                "%s, %d to %d words: median %.2f ms, p95 %.2f ms, most %.2f ms; terms %d, postings %d%n",
                scope.memories() == null ? "tenant" : "memory",
                length[0],
                length[1],
                millis[rounds / 2],
                millis[rounds * 95 / 100],
                millis[rounds - 1],
                terms / rounds,
                postings / rounds);
    }
}
