package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.Tenant;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.inmemory.InMemoryLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.recall.IndexingProcess;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.StoredFiles;
import io.github.keepsake4j.testing.Threads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** All memories of a tenant, or of one user, are listed and erased. */
class TenantTest {

    /** Before and behind each of the five erasures of a tenant with two conversations. */
    private static final int PLACES = 10;

    private static final ChatModel MODEL = new Script("nothing");

    private final MessageIndex index = new InMemoryMessageIndex();
    private final LongTermMemoryStore store = new InMemoryLongTermMemoryStore();

    /** The process ends. */
    private static final class Killed extends Error {}

    /** Ends the process at a call that erases, before or behind it. */
    private static final class Killing extends ForwardingMessageLog {

        private int left;

        Killing(MessageLog log, int left) {
            super(log);
            this.left = left;
        }

        @Override
        public long erase(MemoryKey key) {
            kill();
            long epoch = super.erase(key);
            kill();
            return epoch;
        }

        private void kill() {
            if (left-- == 0) {
                throw new Killed();
            }
        }
    }

    private Keepsake keepsake(MessageLog log, MessageLog nodes) {
        return Keepsake.builder()
                .messageLog(log)
                .nodeLog(nodes)
                .index(index)
                .longTermMemories(Discussions.builder(store).chatModel(MODEL).build(), Duration.ofDays(1))
                .build();
    }

    private void fill(Keepsake keepsake, String tenant, int conversations) {
        List<MemoryKey> keys = new ArrayList<>();
        for (int i = 0; i < conversations; i++) {
            ConversationKey key = ConversationKey.of(tenant, "c" + i);
            keys.add(key);
            keys.add(NodeKey.of(tenant, "app", "c" + i, "writer"));
            keepsake.conversation(key).describe("chat", Map.of("user", i % 2 == 0 ? "ann" : "bob"));
            Passage passage = new Passage(List.of("m"), 1, "", "", "");
            store.add(
                    key,
                    MadeMemory.Kind.FACT,
                    0,
                    passage,
                    List.of(MadeMemory.ofText(MadeMemory.Kind.FACT, "a secret fact", passage, Trust.USER)));
        }
        keys.add(NodeKey.of(tenant, "app", "no conversation", "writer"));
        keys.forEach(key -> {
            keepsake.chatMemory(key).add(UserMessage.from("a secret of " + tenant));
            keepsake.chatMemory(key).flush();
        });
    }

    /** Indexes now what the background would index within two seconds. */
    private void index(String tenant, MessageLog log, MessageLog nodes, int memories) {
        IndexingProcess.index(tenant, log, nodes, index);
        Awaitility.await().until(() -> index.memories(tenant, 0, 100).size() == memories);
    }

    private static List<MemoryKey> keys(String tenant, MessageLog... logs) {
        List<MemoryKey> keys = new ArrayList<>();
        for (MessageLog log : logs) {
            log.list(tenant, ListQuery.first(100)).memories().stream()
                    .map(MemoryInfo::key)
                    .forEach(keys::add);
        }
        return keys;
    }

    private List<MemoryKey> discussions(String tenant) {
        List<MemoryKey> keys = new ArrayList<>();
        store.discussions(tenant, keys::add);
        return keys;
    }

    /** The default build kills at every second place on each home but the memory's. */
    private static int[] places(Home home) {
        return IntStream.range(0, PLACES)
                .filter(place -> Counts.isFull() || home == Home.IN_MEMORY || (place + home.ordinal() / 2) % 2 == 0)
                .toArray();
    }

    @ParameterizedTest
    @Homes
    void an_erasure_that_is_killed_anywhere_and_repeated_leaves_nothing(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            Keepsake before = keepsake(log, log);
            fill(before, "other", 4);
            for (int place : places(home)) {
                fill(before, "acme" + place, 2);
            }
            index("other", log, log, 9);
            for (int place : places(home)) {
                String tenant = "acme" + place;
                index(tenant, log, log, 5);
                Killing killing = new Killing(log, place);
                assertThrown(
                        Killed.class,
                        () -> keepsake(killing, killing).tenant(tenant).erase());

                Tenant.Erased rest = keepsake(log, log).tenant(tenant).erase();

                assertThat(rest.conversations() + rest.nodes()).isBetween(place == PLACES - 1 ? 0L : 1L, 5L);
                assertThat(rest.failed()).isZero();
                assertThat(keys(tenant, log)).as("killed at %s", place).isEmpty();
                assertThat(index.memories(tenant, 0, 100)).isEmpty();
                assertThat(discussions(tenant)).isEmpty();
                assertThat(keepsake(log, log).tenant(tenant).erase()).isEqualTo(new Tenant.Erased(0, 0, 0, 0));
            }
            assertThat(keys("other", log)).hasSize(9);
            assertThat(index.memories("other", 0, 100)).hasSize(9);
            assertThat(discussions("other")).hasSize(4);
        }
    }

    @ParameterizedTest
    @Homes
    void erasures_at_once_count_each_memory_once(MessageLog log) throws Exception {
        Keepsake keepsake = keepsake(log, log);
        for (boolean whole : new boolean[] {false, true}) {
            fill(keepsake, "acme", 10);
            Queue<Tenant.Erased> erased = new ConcurrentLinkedQueue<>();
            CyclicBarrier start = new CyclicBarrier(3);
            Threads.run(3, thread -> {
                start.await();
                Tenant tenant = keepsake.tenant("acme");
                erased.add(whole ? tenant.erase() : tenant.eraseWhere("user", "ann"));
            });
            assertThat(erased.stream().mapToLong(Tenant.Erased::conversations).sum())
                    .isEqualTo(whole ? 10 : 5);
            assertThat(erased.stream().mapToLong(Tenant.Erased::nodes).sum()).isEqualTo(whole ? 11 : 5);
            assertThat(erased.stream().mapToLong(Tenant.Erased::messages).sum()).isEqualTo(whole ? 32 : 10);
        }
    }

    @ParameterizedTest
    @Homes
    void the_conversations_of_a_user_go_with_their_nodes(MessageLog log) throws Exception {
        try (MessageLog nodes = new InMemoryMessageLog()) {
            Keepsake keepsake = keepsake(log, nodes);
            fill(keepsake, "acme", 4);
            index("acme", log, nodes, 9);

            Tenant.Erased erased = keepsake.tenant("acme").eraseWhere("user", "ann");

            assertThat(erased).isEqualTo(new Tenant.Erased(2, 2, 4, 0));
            List<String> left = List.of("c1", "c3");
            assertThat(keys("acme", log))
                    .extracting(key -> ((ConversationKey) key).conversationId())
                    .containsExactlyInAnyOrderElementsOf(left);
            assertThat(keys("acme", nodes)).hasSize(3);
            assertThat(index.memories("acme", 0, 100)).hasSize(5);
            assertThat(discussions("acme")).hasSize(2);
            assertThat(keepsake.search().find(Scope.tenant("acme"), "secret").hits())
                    .hasSize(5);
            assertThat(keepsake.tenant("acme")
                            .conversations(ListQuery.first(10))
                            .memories())
                    .hasSize(2);
            assertThat(keepsake.tenant("acme").eraseWhere("user", "ann")).isEqualTo(new Tenant.Erased(0, 0, 0, 0));
        }
    }

    @ParameterizedTest
    @Homes
    void an_expired_conversation_goes_with_all_that_belongs_to_it(MessageLog log) throws Exception {
        try (MessageLog nodes = new InMemoryMessageLog()) {
            Keepsake keepsake = keepsake(log, nodes);
            fill(keepsake, "acme", 4);
            index("acme", log, nodes, 9);
            Conversation timed = keepsake.conversation(ConversationKey.of("acme", "c0"));
            Conversation unused = keepsake.conversation(ConversationKey.of("acme", "c1"));
            Conversation later = keepsake.conversation(ConversationKey.of("acme", "c2"));
            timed.expireAt(Instant.now().minusSeconds(1));
            unused.expireAfterUse(Duration.ofNanos(1));
            later.expireAfterUse(Duration.ofDays(1));
            later.expireAt(Instant.now().plusSeconds(3600));
            Conversation kept = keepsake.conversation(ConversationKey.of("acme", "c3"));
            kept.expireAt(Instant.EPOCH);
            kept.expireAt(null);
            kept.expireAfterUse(Duration.ofNanos(1));
            kept.expireAfterUse(null);
            assertThatThrownBy(() -> kept.expireAfterUse(Duration.ZERO)).isInstanceOf(InvalidInputException.class);
            assertThat(keepsake.tenant("acme")
                            .conversations(ListQuery.first(10))
                            .memories())
                    .extracting(info -> info.expiresAt() != null)
                    .containsExactlyInAnyOrder(false, true, true, true);

            assertThat(keepsake.cleanUp().run("acme").removed()).isEqualTo(4);

            assertThat(keys("acme", log)).containsExactlyInAnyOrder(later.key(), kept.key());
            assertThat(keys("acme", nodes)).hasSize(3);
            assertThat(keepsake.search().find(Scope.tenant("acme"), "secret").hits())
                    .hasSize(5);
            Awaitility.await().until(() -> index.memories("acme", 0, 100).size() == 5);
            assertThat(discussions("acme")).containsExactlyInAnyOrder(later.key(), kept.key());
            assertThat(timed.info()).isEmpty();
        }
    }

    @Test
    void a_node_that_cannot_be_read_goes_with_its_conversation_and_a_damaged_memory_is_reported(@TempDir Path directory)
            throws Exception {
        ConversationKey key = ConversationKey.of("default", "c");
        NodeKey node = NodeKey.of("default", "app", "c", "writer");
        try (MessageLog log = FileMessageLog.in(directory)) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .metadataAtCreation(any -> Map.of("user", "ann"))
                    .build();
            List.of(key, node, ConversationKey.of("default", "damaged"))
                    .forEach(each -> keepsake.chatMemory(each).add(UserMessage.from("a secret")));
        }
        for (Path file : StoredFiles.in(directory)) {
            List<String> lines = new ArrayList<>(Files.readAllLines(file));
            if (lines.stream().noneMatch(line -> line.contains("a secret"))) {
                continue;
            }
            if (lines.get(0).contains("writer")) {
                lines.set(1, lines.get(1).replace("{", "["));
            } else if (lines.get(0).contains("damaged")) {
                lines.set(0, "damaged");
            }
            Files.write(file, lines);
        }
        try (MessageLog log = FileMessageLog.in(directory)) {
            Tenant tenant = Keepsake.builder().messageLog(log).build().tenant("default");
            assertThat(tenant.eraseWhere("user", "ann")).isEqualTo(new Tenant.Erased(1, 1, 1, 1));
            assertThat(StoredFiles.with("a secret", directory)).hasSize(1);
            assertThat(tenant.erase().failed()).isEqualTo(1);
        }
    }

    /** The tombstone is written first, so the files of a killed erasure are no longer listed. */
    @Test
    void the_files_of_an_erasure_that_was_killed_go_too(@TempDir Path directory) throws Exception {
        ConversationKey key = ConversationKey.of("default", "c");
        Path data;
        byte[] bytes;
        try (MessageLog log = FileMessageLog.in(directory)) {
            Keepsake keepsake = Keepsake.builder().messageLog(log).build();
            keepsake.chatMemory(key).add(UserMessage.from("a secret"));
            data = StoredFiles.in(directory).stream()
                    .filter(file -> file.toString().endsWith(".jsonl") && !file.endsWith("list.jsonl"))
                    .findFirst()
                    .orElseThrow();
            bytes = Files.readAllBytes(data);
            keepsake.conversation(key).erase();
        }
        Files.write(data, bytes);
        Files.write(Path.of(data.toString().replace(".jsonl", ".torn")), bytes);
        assertThat(StoredFiles.with("a secret", directory)).hasSize(2);

        try (MessageLog log = FileMessageLog.in(directory)) {
            Keepsake.builder().messageLog(log).build().tenant("default").erase();
            assertThat(StoredFiles.with("a secret", directory)).isEmpty();
            Keepsake.builder().messageLog(log).build().chatMemory(key).add(UserMessage.from("a new secret"));
            log.removeTombstones("default", Instant.now());
            assertThat(StoredFiles.with("a new secret", directory)).hasSize(1);
        }
    }
}
