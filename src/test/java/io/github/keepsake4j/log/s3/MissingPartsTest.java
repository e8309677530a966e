package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.history;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.MessageLog;
import org.junit.jupiter.api.Test;

/** Documents of which a part is missing that each message has. */
class MissingPartsTest extends BucketFixture {

    private MessageLog without(String part, String other) {
        String good = resource("node-memory-v1.json");
        assertThat(good).contains(part);
        put(NODE_OBJECT, good.replace(part, other));
        return another();
    }

    @Test
    void an_entry_without_content_is_damage_and_a_repair_marks_it() {
        MessageLog damaged = without("\"content\": \"A lake between mountains.\",", "");

        assertThat(damaged.check(NODE)).extracting(Damage::sequence).containsExactly(2L);
        damaged.repair(NODE);
        damaged.append(NODE, batch("after"));
        assertThat(history(damaged, NODE)).hasSize(3);
        assertThat(history(damaged, NODE).get(1).outcome()).isNotNull();
    }

    @Test
    void a_parent_that_is_missing_is_damage() {
        MessageLog damaged = without("\"parent_message_id\": \"msg-001\"", "\"parent_message_id\": \"gone\"");

        assertThat(damaged.check(NODE)).extracting(Damage::kind).containsExactly(Damage.Kind.TREE);
        assertThat(damaged.check(NODE)).extracting(Damage::sequence).containsExactly(2L);
    }
}
