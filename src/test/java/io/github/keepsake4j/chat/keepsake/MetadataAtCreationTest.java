package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.Tenant;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Script;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** A memory gets its metadata with its first message. */
class MetadataAtCreationTest {

    private static final Map<String, String> OWNER = Map.of("user", "Ann \"\u00e9\ud83d\ude00\"", "a\n", "");

    interface Chat {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    private static Map<String, String> metadata(MessageLog log, MemoryKey key) {
        return Reads.info(log, key).metadata();
    }

    @ParameterizedTest
    @Homes
    void each_way_to_begin_a_memory_gives_it_its_metadata_once(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .metadataAtCreation(key -> OWNER)
                .build();
        keepsake.chatMemory("add").add(UserMessage.from("a"));
        keepsake.chatMemory("add").flush();
        keepsake.chatMemory("set").set(List.of(SystemMessage.from("s"), UserMessage.from("a")));
        keepsake.chatMemoryStore().updateMessages("store", List.of(UserMessage.from("a")));
        keepsake.aiServices(Chat.class).chatModel(new Script("b")).build().chat("turn", "a");
        MemoryKey node = keepsake.nodes("app").conversation("writer", "node").key();
        keepsake.nodes("app").chatMemoryProvider("writer").get("node").add(UserMessage.from("a"));
        keepsake.chatMemory(node).flush();
        for (String id : List.of("add", "set", "store", "turn")) {
            assertThat(metadata(log, ConversationKey.of("default", id))).as(id).isEqualTo(OWNER);
        }
        assertThat(metadata(log, node)).isEqualTo(OWNER);
        Tenant.Erased erased = keepsake.tenant("default").eraseWhere("user", OWNER.get("user"));
        assertThat(erased.conversations() + erased.nodes()).isEqualTo(5);

        // Again after an erasure; the same for a memory that has metadata of its own.
        keepsake.chatMemory("add").add(AiMessage.from("a"));
        keepsake.conversation("described").describe("t", Map.of("mine", "1"));
        keepsake.chatMemory("described").add(AiMessage.from("a"));
        assertThat(metadata(log, ConversationKey.of("default", "add"))).isEqualTo(OWNER);
        assertThat(metadata(log, ConversationKey.of("default", "described"))).isEqualTo(Map.of("mine", "1"));
        String forked = keepsake.conversation("described").branch(1).head();
        keepsake.conversation("described").fork(forked, "fork");
        assertThat(metadata(log, ConversationKey.of("default", "fork")))
                .containsEntry("mine", "1")
                .doesNotContainKey("user");
    }

    @ParameterizedTest
    @Homes
    void an_id_that_is_used_again_has_the_metadata_even_without_tombstones(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open();
                MessageLog other = storage.open()) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .metadataAtCreation(key -> OWNER)
                    .build();
            Chat chat =
                    keepsake.aiServices(Chat.class).chatModel(new Script("b")).build();
            ConversationKey key = ConversationKey.of("default", "c");
            for (int i = 0; i < 3; i++) {
                chat.chat("c", "a");
                chat.chat("c", "a");
                keepsake.chatMemory("c").flush();
                assertThat(metadata(log, key)).as("time %s", i).isEqualTo(OWNER);
                keepsake.chatMemory("c")
                        .addAsync(List.of(UserMessage.from("a")))
                        .get();
                keepsake.chatMemory("c").flush();
                MessageLog erasing = i == 0 ? log : other;
                erasing.erase(key);
                erasing.removeTombstones("default", Instant.now().plusSeconds(1));
                if (i == 1) {
                    keepsake.chatMemory("c")
                            .addAsync(List.of(UserMessage.from("a")))
                            .get();
                    keepsake.chatMemory("c").flush();
                    assertThat(metadata(log, key)).isEqualTo(OWNER);
                }
            }
        }
    }

    @ParameterizedTest
    @Homes
    void a_title_or_an_expiry_before_the_first_message_keeps_the_metadata(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .metadataAtCreation(key -> OWNER)
                .build();
        Conversation titled = keepsake.conversation("titled");
        assertThat(titled.mergeMetadata(Map.of())).isEmpty();
        assertThat(titled.info()).isEmpty();
        titled.setTitle("t");
        Conversation expiring = keepsake.conversation("expiring");
        expiring.expireAfterUse(Duration.ofDays(1));
        Conversation own = keepsake.conversation("own");
        own.describe("t", Map.of("user", "bob"));
        for (Conversation each : List.of(titled, expiring, own)) {
            keepsake.chatMemory(each.key()).add(UserMessage.from("a"));
            keepsake.chatMemory(each.key()).flush();
            each.setTitle("another");
        }
        assertThat(metadata(log, titled.key())).isEqualTo(OWNER);
        assertThat(metadata(log, expiring.key()))
                .containsAllEntriesOf(OWNER)
                .containsEntry(MemoryInfo.EXPIRE_AFTER_USE, "PT24H");
        assertThat(metadata(log, own.key())).containsEntry("user", "bob");
        assertThat(own.info().orElseThrow().title()).isEqualTo("another");
        own.describe("t", Map.of());
        assertThat(metadata(log, own.key())).isEmpty();
    }

    @ParameterizedTest
    @Homes
    void a_refused_append_creates_nothing(MessageLog log) throws Exception {
        ConversationKey key = ConversationKey.of("acme", "c");
        Append append = Append.underHead(NewMessage.of(UserMessage.from("a"), 1, "words"))
                .creating(OWNER);
        assertThrown(HeadConflictException.class, () -> log.append(key, append.expectingHead("other")));
        assertThat(Reads.info(log, key)).isNull();
        log.append(key, append);
        log.append(
                key,
                Append.underHead(NewMessage.of(UserMessage.from("b"), 1, "words"))
                        .creating(Map.of("user", "bob")));
        assertThat(metadata(log, key)).isEqualTo(OWNER);
    }

    @Test
    void the_function_is_called_on_the_callers_thread_and_not_in_turns_of_known_memories() throws Exception {
        List<String> threads = new ArrayList<>();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            CountedLog counted = new CountedLog();
            MessageLog log = counted.around(new InMemoryMessageLog());
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .executor(executor)
                    .metadataAtCreation(key -> {
                        threads.add(Thread.currentThread().getName());
                        return OWNER;
                    })
                    .build();
            keepsake.chatMemory("async")
                    .addAsync(List.of(UserMessage.from("a")))
                    .get();
            assertThat(threads).containsExactly(Thread.currentThread().getName());
            Chat chat =
                    keepsake.aiServices(Chat.class).chatModel(new Script("b")).build();
            chat.chat("turn", "a");
            assertThat(threads).as("one more for the first turn").hasSize(2);
            assertThat(counted.calls).isPositive();
            counted.reset();
            chat.chat("turn", "a");
            assertThat(threads).hasSize(2);
            int calls = counted.calls;
            counted.reset();
            Chat without = Keepsakes.on(log)
                    .aiServices(Chat.class)
                    .chatModel(new Script("b"))
                    .build();
            without.chat("other", "a");
            counted.reset();
            without.chat("other", "a");
            assertThat(calls).as("as many as without metadata").isEqualTo(counted.calls);
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void an_error_of_the_function_stores_nothing() {
        MessageLog log = new InMemoryMessageLog();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .metadataAtCreation(key -> {
                    throw new IllegalStateException("no user");
                })
                .build();
        assertThatThrownBy(() -> keepsake.chatMemory("c").add(UserMessage.from("a")))
                .hasMessage("no user");
        assertThat(keepsake.chatMemory("c").addAsync(List.of(UserMessage.from("a"))))
                .isCompletedExceptionally();
        assertThat(Reads.info(log, ConversationKey.of("default", "c"))).isNull();
    }
}
