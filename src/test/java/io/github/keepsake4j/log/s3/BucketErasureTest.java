package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An erasure leaves no id in the bucket, and what began before it does not come back. */
@Timeout(600)
class BucketErasureTest extends BucketFixture {

    private static final ConversationKey ALICE = ConversationKey.of("acme-tenant", "alice@example.org");

    @Test
    void an_erasure_leaves_no_id_in_a_name_or_in_bytes() {
        List<MemoryKey> keys = List.of(
                ALICE,
                ConversationKey.of("default", "alice@example.org"),
                ConversationKey.of("acme-tenant", "alice@example.org".repeat(30)),
                NodeKey.of("acme-tenant", "secret-app", "alice@example.org", "secret-node"),
                NodeKey.of("default", "secret-app", "ü@example.org".repeat(35), "secret-node"));
        for (MemoryKey key : keys) {
            log.append(key, batch("a-" + SECRET, "b-" + SECRET));
            log.append(key, Append.viewOnly(View.of(null, List.of())));
            log.append(
                    key, Append.under(Parent.head(), List.of(message("c", UserMessage.from("x".repeat(80_000)), 1))));
            log.describe(key, "alice", Map.of("mail", "alice@example.org"));
            long epoch = log.erase(key);
            assertThat(another().read(key, ReadQuery.newest(0)).epoch()).isEqualTo(epoch);
            assertThatThrownBy(() -> another().append(key, batch("d").inEpoch(epoch - 1)))
                    .isInstanceOf(ErasedException.class);
        }

        assertNothingOf("alice", "example.org", "acme-tenant", "secret", SECRET, "%40");
    }

    private void assertNothingOf(String... texts) {
        assertThat(allObjects()).isNotEmpty();
        for (String object : allObjects()) {
            assertThat(object).doesNotContainIgnoringCase(texts);
            assertThat(text(object)).as(object).doesNotContainIgnoringCase(texts);
            assertThat(new String(bytes(object), StandardCharsets.ISO_8859_1)).doesNotContainIgnoringCase(texts);
        }
    }
}
