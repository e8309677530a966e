package io.github.keepsake4j.memories;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Dialogue;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The whole path, from the branch by creators to retrievers, in tables of a real server. */
class PostgresLongTermMemoryBlockTest extends LongTermMemoryBlockContract {

    private final PostgresStorage storage = new PostgresStorage();

    @Override
    MessageLog newLog() {
        return storage.newLog();
    }

    @Override
    LongTermMemoryStore newStore() {
        return storage.newStore();
    }

    static class Calculator {
        @Tool
        int add(int a, int b) {
            return a + b;
        }
    }

    @Test
    void a_turn_takes_one_statement_more_also_when_memories_are_older_than_what_is_read() {
        Keepsake keepsake = block(CHUNKS, LongTermMemoryBlock.withMaxTokens(2_000), 6);
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .tools(new Calculator())
                .build();
        for (int i = 0; i < 6; i++) {
            chat.chat("a", "remember " + i);
        }
        keepsake.longTermMemories().make("a");
        // They are behind the newest memory, so that it is not among the six messages that are read.
        for (int i = 0; i < 6; i++) {
            chat.chat("a", "later " + i);
        }
        assertThat(count(() -> chat.chat("a", "hello"))).isEqualTo(4);
        assertThat(shownBlock()).contains("remember 5");
        model.says(AiMessage.from(
                Dialogue.call("1", "add", "{\"a\":1,\"b\":2}"), Dialogue.call("2", "add", "{\"a\":3,\"b\":4}")));
        assertThat(count(() -> chat.chat("a", "calculate"))).as("two tools").isEqualTo(6);
        assertThat(shownBlock()).contains("remember 5");
    }

    private int count(Runnable work) {
        storage.statements.clear();
        work.run();
        return List.copyOf(storage.statements).size();
    }

    @Override
    String stored() throws SQLException {
        return storage.stored();
    }
}
