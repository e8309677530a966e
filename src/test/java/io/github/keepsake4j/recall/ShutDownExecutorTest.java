package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** An application that ends shuts its executor down before the timer knows. */
class ShutDownExecutorTest {

    @Test
    void work_that_an_executor_refuses_is_left_without_an_error_in_the_timer() {
        Executor refusing = work -> {
            throw new RejectedExecutionException("shut down");
        };
        MessageLog log = new InMemoryMessageLog();
        MessageSearch search = new MessageSearch(
                new InMemoryMessageIndex(),
                key -> log,
                List.of(log),
                Words.standard(),
                refusing,
                pause -> Runnable::run);

        assertThatCode(() -> {
                    search.start("acme");
                    search.watched(log).erase(ConversationKey.of("acme", "42"));
                })
                .doesNotThrowAnyException();
    }
}
