package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Names of objects: one for each memory, none outside its prefix, and each convertible back to the ids. */
@Timeout(600)
class ObjectNamesTest extends BucketFixture {

    private static final List<String> IDS = List.of(
            "a",
            "A",
            ".",
            "..",
            "...",
            "%2E",
            "a/b",
            "a",
            "/",
            "../../etc/passwd",
            "a b",
            " ",
            "+",
            "!",
            "é",
            "e\u0301",
            "😀",
            "\n",
            "a.json",
            "a.json.kept-1",
            "a.json!kept-1",
            "tenants",
            "node_memory",
            "conversation_memory",
            "x".repeat(512),
            "ü".repeat(256),
            "x".repeat(511) + "y");

    private final ObjectNames names = new ObjectNames("chat/prod", "default");

    @Test
    void names_are_as_documented() {
        assertThat(names.document(NodeKey.of("default", "app", "c 1", "n/1")))
                .isEqualTo("chat/prod/node_memory/app/c%201/n%2F1.json");
        assertThat(names.document(ConversationKey.of("default", "ü")))
                .isEqualTo("chat/prod/conversation_memory/%C3%BC.json");
        assertThat(names.document(ConversationKey.of("acme", "..")))
                .isEqualTo("chat/prod/tenants/acme/conversation_memory/%2E%2E.json");
        assertThat(new ObjectNames("", "default").document(NODE)).isEqualTo(NODE_OBJECT);
        assertThat(names.document(ConversationKey.of("default", "ü".repeat(256))))
                .matches("chat/prod/conversation_memory/![0-9a-f]{64}\\.json");
    }

    @Test
    void each_memory_has_a_name_of_its_own_that_fits_and_leads_back() {
        Set<String> all = new HashSet<>();
        Set<MemoryKey> keys = keys();
        for (MemoryKey key : keys) {
            String name = names.document(key);
            assertThat(all.add(name)).as(name).isTrue();
            assertThat(names.content(name, "0".repeat(64)).getBytes(StandardCharsets.UTF_8).length)
                    .isLessThanOrEqualTo(1024);
            assertThat(name).startsWith("chat/prod/").matches("[!-~]+");
            assertThat(Arrays.asList(name.split("/"))).doesNotContain("", ".", "..");
            assertThat(names.isDocument(key.tenant(), name)).isTrue();
            assertThat(names.isDocument(name)).isTrue();
            for (String aside : List.of(names.kept(name, "1"), names.content(name, "1"), names.tombstone(name))) {
                assertThat(names.isDocument(aside)).isFalse();
                assertThat(names.roots(key.tenant()).hold(aside)).isFalse();
                assertThat(aside).matches("chat/prod/aside/[a-z]+/[0-9a-f]+/[0-9a-z-]+");
            }
            assertThat(names.tombstone(name)).startsWith(names.tombstones(key.tenant()));
            if (!ObjectNames.isHashed(name)) {
                assertThat(names.key(key.tenant(), name)).isEqualTo(key);
                assertThat(names.key(name)).isEqualTo(name.contains("/tenants/!") ? null : key);
            }
        }
        assertThat(all).hasSizeGreaterThan(500).anyMatch(ObjectNames::isHashed);
    }

    @Test
    void names_that_no_id_has_lead_nowhere() {
        for (String name : List.of(
                "a b.json",
                "%2.json",
                "%zz.json",
                "%C3.json",
                "%41.json",
                "a%2fb.json",
                ".json",
                "a",
                "a/b.json",
                "..json",
                "%00.json")) {
            assertThat(names.key("default", "chat/prod/conversation_memory/" + name))
                    .as(name)
                    .isNull();
        }
        assertThat(names.key("default", "elsewhere/conversation_memory/a.json")).isNull();
        assertThatThrownBy(() -> new ObjectNames("x".repeat(301), "default")).isInstanceOf(InvalidInputException.class);
    }

    @Test
    void memories_with_any_ids_are_found_again_by_a_listing() {
        List<MemoryKey> keys = new ArrayList<>();
        for (String id : new HashSet<>(IDS)) {
            keys.add(NodeKey.of("te nant", id, "c", id));
        }
        keys.forEach(key -> log.append(key, batch("m")));

        MessageLog fresh = another();
        assertThat(list(fresh, "te nant", 7)).extracting(MemoryInfo::key).containsExactlyInAnyOrderElementsOf(keys);
        assertThat(list(fresh, "default", 7)).isEmpty();
    }

    private static Set<MemoryKey> keys() {
        Set<MemoryKey> keys = new HashSet<>();
        for (String a : IDS) {
            keys.add(ConversationKey.of("default", a));
            keys.add(ConversationKey.of(a, "c"));
            for (String b : IDS) {
                keys.add(NodeKey.of("default", a, b, "n"));
                keys.add(NodeKey.of("default", "n", a, b));
                keys.add(NodeKey.of(a, "n", b, "n"));
            }
        }
        return keys;
    }
}
