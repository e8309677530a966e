package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.recall.EmbeddingProcess.Storage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two processes that embed the messages of one log. */
@Tag("landing")
class EmbeddingProcessesTest {

    private static final int MESSAGES = 300;

    /** A model that understands them finds messages closer that have some in common. */
    private static final List<String> TOPICS = List.of(
            ("weather rain train market garden music letter window river kitchen holiday bread coffee lesson bicycle"
                            + " museum painting bridge cinema novel football kettle orchard ferry")
                    .split(" "));

    @TempDir
    Path directory;

    private List<Object> place = List.of();

    /** The default build starts processes on one home. */
    static List<String> homes() {
        return List.of("postgresql", "sqlite").subList(0, Counts.of(1, 2));
    }

    /** Opens a home with messages, and makes the arguments by which a process finds it. */
    private Storage open(String home) throws Exception {
        Storage storage;
        if (home.equals("sqlite")) {
            place = List.of(home, directory);
            storage = Storage.sqlite(directory);
        } else {
            String database = Postgres.newest().newDatabase();
            place = List.of(home, database, Postgres.newest().port());
            DataSource source = Postgres.newest().kept(database);
            JdbcMessageLog log = Postgres.log(source);
            MessageIndex index = Postgres.index(source);
            storage = new Storage(log, index);
        }
        List<NewMessage> messages = new ArrayList<>();
        messages.add(NewMessage.of(UserMessage.from(EmbeddingProcess.FACT), 10, "test"));
        Random random = new Random(37);
        for (int i = 1; i < MESSAGES; i++) {
            String text = random.ints(4, 0, TOPICS.size()).mapToObj(TOPICS::get).collect(Collectors.joining(" "));
            messages.add(NewMessage.of(UserMessage.from(text), 10, "test"));
        }
        storage.log().append(EmbeddingProcess.KEY, Append.underHead(messages.toArray(NewMessage[]::new)));
        storage.index().tenants();
        return storage;
    }

    private Child start(String model, int dimension, int rounds) throws Exception {
        List<Object> arguments = new ArrayList<>(place);
        arguments.addAll(List.of(model, dimension, rounds));
        return Child.start(EmbeddingProcess.class, arguments.toArray());
    }

    private static long vectors(MessageIndex index, String model, int dimension) {
        long[] vectors = new long[1];
        index.cosines(
                model + " " + dimension + " 2",
                Scope.memory(EmbeddingProcess.KEY),
                new float[dimension],
                100_000,
                Map.of(),
                (key, sequence, time, cosine) -> vectors[0]++);
        return vectors[0];
    }

    @ParameterizedTest
    @MethodSource("homes")
    void two_processes_with_different_models_embed_each_message_once_for_each_and_words_serve(String home)
            throws Exception {
        int rounds = Counts.of(3, 6);
        try (Storage storage = open(home);
                Child child = start("one", 64, rounds)) {
            // The other process is this one, which begins when the child has begun.
            List<String> one = new ArrayList<>(List.of(child.line()));
            List<String> two = new ArrayList<>();
            EmbeddingProcess.work(storage, "two", 48, rounds, two::add);
            one.addAll(child.awaitEnd());
            for (List<String> lines : List.of(one, two)) {
                assertThat(lines).contains("words", "meaning").doesNotContain("no words");
                // Each has its own vectors after its first round, whatever the other does.
                assertThat(lines).doesNotContain("no meaning").endsWith("embedded " + MESSAGES);
            }
            assertThat(vectors(storage.index(), "one", 64)).isEqualTo(MESSAGES);
            assertThat(vectors(storage.index(), "two", 48)).isEqualTo(MESSAGES);
        }
    }

    @ParameterizedTest
    @MethodSource("homes")
    void another_process_embeds_what_one_left_that_was_killed_while_its_model_hung(String home) throws Exception {
        try (Storage storage = open(home);
                Child killed = start("model", 64, 0)) {
            while (!"hangs".equals(killed.line())) {
                // Until then it prints what it recalled.
            }
            killed.kill();
            assertThat(vectors(storage.index(), "model", 64)).isLessThan(MESSAGES);

            List<String> next = new ArrayList<>();
            EmbeddingProcess.work(storage, "model", 64, 1, next::add);
            assertThat(next).contains("meaning").doesNotContain("no words");
            assertThat(vectors(storage.index(), "model", 64)).isEqualTo(MESSAGES);
        }
    }

    @ParameterizedTest
    @MethodSource("homes")
    void what_is_erased_while_another_process_embeds_it_is_in_no_vector(String home) throws Exception {
        try (Storage storage = open(home);
                Child embedding = start("model", 64, 1)) {
            while (vectors(storage.index(), "model", 64) == 0) {
                assertThat(embedding.line()).isNotNull();
            }
            storage.log().erase(EmbeddingProcess.KEY);
            storage.index().remove(EmbeddingProcess.KEY);

            embedding.awaitEnd();
            assertThat(vectors(storage.index(), "model", 64)).isZero();
            assertThat(storage.index().watermarks(List.of(EmbeddingProcess.KEY)))
                    .isEmpty();
        }
    }
}
