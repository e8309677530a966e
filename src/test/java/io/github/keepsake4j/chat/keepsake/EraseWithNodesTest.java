package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.WatchedLog;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One call erases a conversation with what its nodes remember. */
class EraseWithNodesTest {

    private static final ConversationKey CONVERSATION = ConversationKey.of("default", "c1");
    private static final NodeKey WRITER = NodeKey.of("default", "app", "c1", "writer");
    private static final NodeKey CRITIC = NodeKey.of("default", "other app", "c1", "critic");
    private static final List<MemoryKey> OTHERS = List.of(
            ConversationKey.of("default", "c2"),
            NodeKey.of("default", "app", "c2", "writer"),
            NodeKey.of("default", "c1", "c2", "c1"),
            NodeKey.of("other", "app", "c1", "writer"),
            ConversationKey.of("other", "c1"));

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_conversation_and_its_nodes_go_and_nothing_else(boolean oneLog) {
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("log.db"));
                MessageLog other = new InMemoryMessageLog()) {
            MessageLog nodes = oneLog ? log : other;
            Keepsake keepsake =
                    Keepsake.builder().messageLog(log).nodeLog(nodes).build();
            say(log, CONVERSATION);
            say(log, WRITER);
            say(nodes, CRITIC);
            OTHERS.forEach(key -> say(key instanceof NodeKey ? nodes : log, key));
            long epoch = nodes.read(CRITIC, ReadQuery.newest(1)).epoch();

            assertThat(keepsake.conversation("c1").eraseWithNodes()).isEqualTo(2);

            assertThat(keys(log, "default", "other"))
                    .doesNotContain(CONVERSATION, WRITER)
                    .isSubsetOf(OTHERS);
            assertThat(keys(nodes, "default", "other")).doesNotContain(CRITIC).isSubsetOf(OTHERS);
            assertThat(keys(log, "default", "other").size()
                            + (oneLog ? 0 : keys(nodes, "default", "other").size()))
                    .isEqualTo(OTHERS.size());
            assertThrown(
                    ErasedException.class,
                    () -> nodes.append(CRITIC, Append.underHead(message("late")).inEpoch(epoch)));
            assertThat(keepsake.conversation(CONVERSATION).eraseWithNodes()).isZero();
        }
    }

    @Test
    void erase_alone_leaves_the_memories_of_nodes() {
        MessageLog log = new InMemoryMessageLog();
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        say(log, CONVERSATION);
        say(log, WRITER);

        keepsake.conversation("c1").erase();

        assertThat(keys(log, "default")).containsExactly(WRITER);
    }

    @Test
    void nodes_of_a_conversation_that_has_no_memory_of_its_own_go_too() {
        MessageLog log = new InMemoryMessageLog();
        say(log, WRITER);

        assertThat(Keepsake.builder().messageLog(log).build().conversation("c1").eraseWithNodes())
                .isOne();
        assertThat(keys(log, "default")).isEmpty();
    }

    @Test
    void a_node_that_cannot_be_erased_keeps_no_other_and_is_told() {
        MessageLog log = new InMemoryMessageLog();
        say(log, CONVERSATION);
        say(log, WRITER);
        say(log, CRITIC);
        boolean[] failed = new boolean[1];
        MessageLog failing = new WatchedLog(log) {
            private int erased;

            @Override
            protected void called(String method) {
                if (method.equals("erase") && ++erased == 2) {
                    failed[0] = true;
                    throw new UnreadableDataException("damaged", null);
                }
            }
        }.log();
        Keepsake keepsake = Keepsake.builder().messageLog(failing).build();

        assertThrown(
                UnreadableDataException.class, () -> keepsake.conversation("c1").eraseWithNodes());
        assertThat(failed[0]).isTrue();
        assertThat(keys(log, "default")).hasSize(1);
        assertThat(keepsake.conversation("c1").eraseWithNodes()).isOne();
        assertThat(keys(log, "default")).isEmpty();
    }

    @Test
    void after_an_outage_another_call_erases_the_rest() {
        MessageLog log = new InMemoryMessageLog();
        say(log, CONVERSATION);
        say(log, WRITER);
        WatchedLog watched = new WatchedLog(log);
        Keepsake keepsake = Keepsake.builder().messageLog(watched.log()).build();
        watched.fail("erase", new StorageUnavailableException("down", null));
        assertThrown(StorageUnavailableException.class, () -> keepsake.conversation("c1")
                .eraseWithNodes());
        watched.fail("erase", null);

        assertThat(keepsake.conversation("c1").eraseWithNodes()).isOne();
        assertThat(keys(log, "default")).isEmpty();
    }

    @Test
    void a_node_is_no_conversation() {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        assertThrown(
                InvalidInputException.class,
                () -> keepsake.conversation(WRITER).eraseWithNodes(),
                "must name a conversation");
    }

    private static void say(MessageLog log, MemoryKey key) {
        log.append(key, Append.underHead(message("a")));
    }

    private static NewMessage message(String id) {
        return new NewMessage(id, user("hello"), 1, "test", null);
    }

    private static List<MemoryKey> keys(MessageLog log, String... tenants) {
        return List.of(tenants).stream()
                .flatMap(tenant -> log.list(tenant, ListQuery.first(100)).memories().stream())
                .map(MemoryInfo::key)
                .toList();
    }
}
