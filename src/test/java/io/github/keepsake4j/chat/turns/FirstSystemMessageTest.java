package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.params.ParameterizedTest;

class FirstSystemMessageTest {

    private static final int THREADS = 16;

    @ParameterizedTest
    @Homes
    void first_turns_that_begin_at_once_store_one_system_message(Home home) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2 * THREADS);
        try (Home.Storage storage = home.storage();
                MessageLog one = storage.open();
                MessageLog other = storage.open()) {
            List<Assistant> assistants = List.of(assistant(one), assistant(other));
            for (int c = 0; c < Counts.of(4, 200); c++) {
                String id = "c" + c;
                CyclicBarrier begin = new CyclicBarrier(2 * THREADS);
                List<Callable<String>> turns = new ArrayList<>();
                for (int t = 0; t < 2 * THREADS; t++) {
                    Assistant assistant = assistants.get(t % 2);
                    turns.add(() -> {
                        begin.await(1, TimeUnit.MINUTES);
                        return assistant.chat(id, "Hello");
                    });
                }
                for (Future<String> turn : threads.invokeAll(turns)) {
                    turn.get();
                }
                List<ChatMessage> stored =
                        Keepsakes.on(one).conversation(id).history(HistoryQuery.oldest(1_000)).messages().stream()
                                .map(LoggedMessage::message)
                                .toList();
                assertThat(stored).filteredOn(is(SystemMessage.class)).hasSize(1);
                assertThat(stored).filteredOn(is(UserMessage.class)).hasSize(2 * THREADS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static Predicate<ChatMessage> is(Class<? extends ChatMessage> type) {
        return type::isInstance;
    }

    private static Assistant assistant(MessageLog log) {
        return Keepsakes.on(log)
                .aiServices(Assistant.class)
                .chatModel(Script.answering(request -> ai("Hi")))
                .systemMessageProvider(id -> "You are nice.")
                .build();
    }
}
