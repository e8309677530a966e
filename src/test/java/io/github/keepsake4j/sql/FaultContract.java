package io.github.keepsake4j.sql;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same fault of a database is the same error, whatever is kept in it: its type, whether it may pass, and what to do. */
@Timeout(300)
abstract class FaultContract {

    /** What is kept in a database. */
    enum Home {
        LOG("log", "keepsake_schema"),
        INDEX("index", "keepsake_index_schema"),
        MEMORIES("memories", "keepsake_made_schema");

        final String what;
        final String versions;

        Home(String what, String versions) {
            this.what = what;
            this.versions = versions;
        }
    }

    /** A call that reads or writes. */
    interface Call {
        void run() throws Exception;
    }

    /** What is open, with one call that reads and one that writes. */
    record Stored(AutoCloseable resource, Call read, Call write) implements AutoCloseable {

        static Stored of(MessageLog log) {
            return new Stored(
                    log,
                    () -> log.read(KEY, ReadQuery.newest(3)),
                    () -> log.append(KEY, batch(UUID.randomUUID().toString())));
        }

        static Stored of(MessageIndex index) {
            return new Stored(index, () -> index.watermarks(List.of(KEY)), () -> {
                Watermark before = index.watermarks(List.of(KEY)).get(KEY);
                long next = before == null ? 1 : before.sequence() + 1;
                index.add(
                        KEY,
                        before,
                        new Watermark(1, next),
                        List.of(new IndexedMessage(
                                next, ChatMessageType.USER, 1, Map.of(SECRET + UUID.randomUUID(), 1))));
            });
        }

        static Stored of(LongTermMemoryStore store) {
            Passage passage = new Passage(List.of("id"), 1, "hash", "", "end");
            return new Stored(
                    store,
                    () -> store.facts(KEY, 3),
                    () -> store.add(
                            KEY,
                            MadeMemory.Kind.FACT,
                            store.progress(KEY, MadeMemory.Kind.FACT).revision(),
                            passage,
                            List.of(MadeMemory.fact(
                                    SECRET + UUID.randomUUID(), "s", List.of(), List.of(), passage, Trust.USER))));
        }

        @Override
        public void close() throws Exception {
            resource.close();
        }
    }

    /** Opens what is kept, with tables that are made. */
    abstract Stored open(Home home) throws Exception;

    @ParameterizedTest
    @EnumSource
    void what_was_closed_says_so(Home home) throws Exception {
        Stored closed = open(home);
        closed.write().run();
        closed.close();

        assertFails(closed.read(), StorageClosedException.class, "is closed");
        assertFails(closed.write(), StorageClosedException.class, "is closed");
    }

    /** Each fault says which memory was wanted, if there is one, and never a text. */
    static void assertFails(Call call, Class<? extends KeepsakeException> type, String... told) {
        Throwable error = catchThrowable(call::run);
        assertThat(error)
                .isExactlyInstanceOf(type)
                .hasMessageContainingAll(told)
                .hasMessageNotContaining(SECRET);
        assertThat(((KeepsakeException) error).isRetryable())
                .as("%s", error)
                .isEqualTo(type == StorageUnavailableException.class);
    }
}
