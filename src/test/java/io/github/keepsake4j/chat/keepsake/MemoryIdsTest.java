package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Dialogue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every id that LangChain4j may pass names a memory of its own, or is refused with a clear error. */
class MemoryIdsTest {

    private static final UUID SOME_UUID = UUID.fromString("0188B2C1-0000-7000-8000-0000000000AA");

    /** Characters of four bytes of UTF-8 each, 512 bytes in all. */
    private static final String LONGEST = "\uD83D\uDC1D".repeat(128);

    /** Ids that all name different memories. */
    private static final List<Object> IDS = List.of(
            "alice",
            "Alice",
            42L,
            43,
            SOME_UUID,
            ConversationKey.of("other tenant", "42"),
            ConversationKey.of("default/42", "42"),
            NodeKey.of("default", "42", "42", "42"),
            NodeKey.of("default", "4", "2/42", "42"),
            LONGEST,
            LONGEST.substring(2),
            "o'clock \"quoted\" `ticked`",
            "'; DROP TABLE keepsake_message; --",
            "100%",
            "100%25",
            "a/b",
            "a%2Fb",
            "../alice",
            "..",
            ".",
            "line\nbreak",
            "line\r\nbreak",
            " a ",
            "\u00e9",
            "e\u0301",
            "1.5",
            -1);

    @TempDir
    Path directory;

    private static Keepsake keepsake(MessageLog log) {
        return Keepsake.builder().messageLog(log).build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "sqlite"})
    void each_id_is_a_memory_of_its_own(String backend) {
        try (MessageLog log = backend.equals("memory")
                ? new InMemoryMessageLog()
                : SqliteMessageLog.open(directory.resolve("chat.db"))) {
            Keepsake keepsake = keepsake(log);
            for (Object id : IDS) {
                keepsake.chatMemory(id).add(user("message of " + id));
            }
            for (Object id : IDS) {
                assertThat(keepsake.chatMemory(id).messages()).containsExactly(user("message of " + id));
                assertThat(keepsake.chatMemory(id).id()).isEqualTo(id);
                assertThat(Dialogue.history(keepsake.conversation(id))).hasSize(1);
            }
            Set<MemoryKey> keys = new HashSet<>();
            IDS.forEach(id -> keys.add(keepsake.conversation(id).key()));
            assertThat(keys).hasSize(IDS.size());
            List<MemoryKey> listed = new ArrayList<>();
            for (String tenant : List.of("default", "other tenant", "default/42")) {
                log.list(tenant, ListQuery.first(100)).memories().stream()
                        .map(MemoryInfo::key)
                        .forEach(listed::add);
            }
            assertThat(listed).containsExactlyInAnyOrderElementsOf(keys);
        }
    }

    @Test
    void one_conversation_has_one_text_form() {
        Keepsake keepsake = keepsake(new InMemoryMessageLog());
        MemoryKey key = keepsake.conversation("42").key();

        for (Object id : List.of(
                42,
                42L,
                (short) 42,
                (byte) 42,
                42.0,
                42f,
                BigInteger.valueOf(42),
                new BigDecimal("42.00"),
                new BigDecimal("4.2E1"),
                ConversationKey.of("default", "42"))) {
            assertThat(keepsake.conversation(id).key()).isEqualTo(key);
        }
        assertThat(keepsake.conversation(SOME_UUID).key())
                .isEqualTo(keepsake.conversation(SOME_UUID.toString().toLowerCase(Locale.ROOT))
                        .key());
        assertThat(keepsake.conversation(new BigDecimal("1.50")).key())
                .isEqualTo(keepsake.conversation(1.5).key());
    }

    @Test
    void keys_have_distinct_printable_forms() {
        Set<String> forms = new HashSet<>();
        Keepsake keepsake = keepsake(new InMemoryMessageLog());
        for (Object id : IDS) {
            String form = keepsake.conversation(id).key().canonical();
            assertThat(form).matches("[A-Za-z0-9._~%/-]+");
            forms.add(form);
        }
        assertThat(forms).hasSize(IDS.size());
    }

    @Test
    void what_cannot_be_an_id_is_a_clear_error() {
        refused("a\0b", "memory id", "NUL");
        refused("", "memory id", "must not be null, empty or blank");
        refused(" \n", "memory id", "must not be null, empty or blank");
        refused("x".repeat(513), "memory id", "513 bytes");
        refused("x".repeat(513), "memory id", "pass a shorter id, such as a UUID or a hash of this one");
        refused(LONGEST + "x", "memory id", "513 bytes");
        refused("\uD800", "memory id", "surrogate");
        refused(new Object(), "memory id", "java.lang.Object");
        refused(List.of("a"), "memory id", "memoryIdMapper");
        refused(Double.NaN, "memory id", "finite");
        refused(new BigDecimal("1E+999999999"), "memory id", "digits");
        refused("default", "memory id", "Keepsake.builder().acceptDefaultMemoryId()");
        refused("default", "memory id", "keepsake4j.accept-default-memory-id=true");
        assertThrown(InvalidInputException.class, () -> keepsake(new InMemoryMessageLog())
                        .chatMemory(null))
                .hasMessage(
                        "memory id: must not be null, empty or blank, because all who have no id would share it; pass"
                                + " the user's or the conversation's id");
        assertThrown(InvalidInputException.class, () -> ConversationKey.of("", "42"))
                .hasMessageStartingWith("tenant");
        assertThrown(InvalidInputException.class, () -> NodeKey.of("t", "a", "c", "x".repeat(513)))
                .hasMessageStartingWith("nodeId");
    }

    @Test
    void default_and_other_types_are_accepted_when_that_is_wanted() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(new InMemoryMessageLog())
                .acceptDefaultMemoryId()
                .tenant("acme")
                .memoryIdMapper(id -> ConversationKey.of("acme", "mapped"))
                .build();

        assertThat(keepsake.conversation("default").key()).isEqualTo(ConversationKey.of("acme", "default"));
        assertThat(keepsake.conversation(List.of()).key()).isEqualTo(ConversationKey.of("acme", "mapped"));
    }

    private static void refused(Object id, String field, String problem) {
        assertThrown(
                InvalidInputException.class,
                () -> keepsake(new InMemoryMessageLog()).chatMemoryProvider().get(id),
                field,
                problem);
    }
}
