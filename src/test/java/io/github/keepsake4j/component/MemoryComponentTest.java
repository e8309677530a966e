package io.github.keepsake4j.component;

import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Home;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What the component promises, on every backend. */
class MemoryComponentTest {

    @Nested
    class InMemory extends MemoryComponentContract {
        InMemory() {
            super("in_memory", Home.IN_MEMORY);
        }
    }

    @Nested
    class Sqlite extends MemoryComponentContract {
        Sqlite() {
            super("sqlite", Home.SQLITE);
        }
    }

    @Nested
    class File extends MemoryComponentContract {
        File() {
            super("file", Home.FILES);
        }
    }

    @Nested
    class Redis extends MemoryComponentContract {
        Redis() {
            super("redis", Home.REDIS);
        }
    }

    @Nested
    class Postgresql extends MemoryComponentContract {
        Postgresql() {
            super("postgresql", Home.POSTGRESQL);
        }
    }

    @Nested
    class S3 extends MemoryComponentContract {
        S3() {
            super("s3", Home.S3);
        }
    }

    @Test
    void c2_without_any_store_it_works_on_the_heap_and_an_added_store_replaces_that() {
        try (MemoryComponent memory = MemoryComponent.builder().build();
                MemoryComponent other = MemoryComponent.builder()
                        .backend("sqlite", MessageLogs::inMemory)
                        .build()) {
            memory.run(MemoryInput.add("session", user("hello")));
            assertThat(memory.run("{\"action\": \"get\", \"session_id\": \"session\"}"))
                    .contains("hello");
            assertThrown(InvalidInputException.class, () -> other.run(MemoryInput.get("session")), "in_memory");
        }
    }

    @Test
    void in_the_turn_mode_of_a_bucket_a_change_is_stored_when_the_action_returns() throws Exception {
        try (Home.Storage storage = Home.S3_TURNS.storage();
                MemoryComponent one =
                        MemoryComponent.builder().backend("s3", storage::open).build();
                MemoryComponent other =
                        MemoryComponent.builder().backend("s3", storage::open).build()) {
            one.run(MemoryInput.add("session", user("hello")).onBackend("s3"));
            assertThat(other.run(MemoryInput.get("session").onBackend("s3")).messages())
                    .containsExactly(user("hello"));

            one.run(MemoryInput.clear("session").onBackend("s3"));
            assertThat(other.run(MemoryInput.get("session").onBackend("s3")).messages())
                    .isEmpty();
        }
    }
}
