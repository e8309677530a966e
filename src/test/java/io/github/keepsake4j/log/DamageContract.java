package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a check finds, and what a repair does, on every backend. */
public interface DamageContract extends LogUnderTest {

    @Test
    default void a_sound_memory_has_no_damage_and_repair_changes_nothing() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d", "e").withView(View.of(null, List.of(new View.Run("a", "b")))));
        Logs.putSummary(log(), KEY, new Summary("b", SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH), 1);
        Position before = log().read(KEY, ReadQuery.newest(1)).position();

        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY)).isEqualTo(new Repair(List.of(), "e", "e", 0, 0, 0));
        assertThat(log().read(KEY, ReadQuery.newest(1)).position()).isEqualTo(before);
        assertThat(history(log(), KEY)).hasSize(5);
    }

    @Test
    default void an_import_without_its_parent_is_read_as_before_a_check_and_a_repair() throws Exception {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("nowhere", "c").asImport());
        Position before = log().read(KEY, ReadQuery.newest(1)).position();

        List<Damage> damage = reportsMissingParents()
                ? List.of(new Damage(Damage.Kind.TREE, 3L, "c", "the message's parent is missing"))
                : List.of();
        assertThat(log().check(KEY)).isEqualTo(damage);
        assertThat(log().repair(KEY)).isEqualTo(new Repair(damage, "c", "c", 0, 0, 0));
        assertThat(log().read(KEY, ReadQuery.newest(1)).position()).isEqualTo(before);
        assertThat(history(reopen(), KEY)).hasSize(3);
    }

    @Test
    default void a_memory_that_was_never_written_has_no_damage_and_stays_unwritten() {
        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY)).isEqualTo(new Repair(List.of(), null, null, 0, 0, 0));
        assertThat(list(log(), KEY.tenant(), 10)).isEmpty();
    }

    @Test
    default void an_erased_memory_has_no_damage() {
        log().append(KEY, batch("a", "b"));
        log().erase(KEY);

        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY).damage()).isEmpty();
    }

    @Test
    default void a_parent_that_was_imported_after_its_child_is_no_damage() throws Exception {
        log().append(KEY, batchUnder("parent", "child").asImport());
        log().append(KEY, Append.under(Parent.root(), users("parent")).asImport());

        assertThat(reopen().check(KEY)).isEmpty();
        assertThat(log().read(KEY, ReadQuery.wholeBranch().endingIn("child")).missingParent())
                .isEqualTo("parent");
    }

    @Test
    default void a_repaired_history_has_aMarker_in_the_place_of_what_cannot_be_read() throws Exception {
        String[] ids = IntStream.range(0, 20).mapToObj(i -> "m" + i).toArray(String[]::new);
        for (int damaged = 0; damaged < ids.length; damaged += Counts.of(7, 1)) {
            MemoryKey key = ConversationKey.of("acme", "damaged at " + damaged);
            log().append(key, batch(ids));
            corrupt(key, ids[damaged]);
            List<Damage> damage = log().check(key);
            assertThat(damage).hasSize(1);
            assertThat(damage.toString()).doesNotContain(SECRET);
            if (damage.get(0).kind() == Damage.Kind.MEMORY) {
                // One object that cannot be read has no message to mark.
                assertThatThrownBy(() -> log().repair(key)).isInstanceOf(UnreadableDataException.class);
                return;
            }
            String bytes = rawBytes(key, ids[damaged]);

            Repair repair = log().repair(key);
            assertThat(repair).isEqualTo(new Repair(damage, "m19", "m19", 0, 0, 0));
            for (MessageLog each : List.of(log(), reopen())) {
                List<LoggedMessage> history = history(each, key);
                assertThat(history).extracting(LoggedMessage::id).containsExactly(ids);
                assertThat(history)
                        .filteredOn(message -> Outcome.UNREADABLE.equals(message.outcome()))
                        .singleElement()
                        .satisfies(marker -> assertThat(marker.message()).isEqualTo(UnknownMessage.unreadable()))
                        .isEqualTo(history.get(damaged));
                assertThat(branch(each, key)).containsExactly(ids);
                assertThat(each.branches(key)).singleElement().satisfies(branch -> assertThat(branch.leafId())
                        .isEqualTo("m19"));
                assertThat(each.check(key)).isEqualTo(damage);
                assertThat(each.repair(key)).isEqualTo(repair);
            }
            assertThat(rawBytes(key, ids[damaged])).isEqualTo(bytes);
            log().append(key, batch("next"));
            assertThat(branch(reopen(), key)).hasSize(21).endsWith("m19", "next");
        }
    }

    @Test
    default void a_process_that_has_read_the_messages_before_sees_the_markers() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        MessageLog other = reopen();
        assertThat(branch(other, KEY)).containsExactly("a", "b", "c");
        corrupt(KEY, "b");
        if (log().check(KEY).get(0).kind() == Damage.Kind.MEMORY) {
            return;
        }
        log().repair(KEY);

        assertThat(other.read(KEY, ReadQuery.wholeBranch()).messages())
                .extracting(message -> Outcome.UNREADABLE.equals(message.outcome()))
                .containsExactly(false, true, false);
        other.append(KEY, batch("d"));
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c", "d");
        assertThat(other.repair(KEY).damage()).hasSize(1);
        // A mark on a message that can be read hides it, and goes as it came.
        Logs.setOutcome(other, KEY, "a", Outcome.UNREADABLE, null);
        assertThat(history(log(), KEY).get(0).message()).isEqualTo(UnknownMessage.unreadable());
        Logs.setOutcome(log(), KEY, "a", null, null);
        assertThat(history(other, KEY).get(0).message()).isNotEqualTo(UnknownMessage.unreadable());
    }

    @Test
    default void a_branch_may_end_or_fork_in_aMarker() throws Exception {
        log().append(KEY, batch("a", "b", "c", "d"));
        log().append(KEY, batchUnder("b", "e"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new View.Run("a", "b"), new View.Run("b", "e")))));
        for (String id : List.of("b", "d", "e")) {
            corrupt(KEY, id);
        }
        if (log().check(KEY).get(0).kind() == Damage.Kind.MEMORY) {
            return;
        }

        Repair repair = log().repair(KEY);
        assertThat(repair.damage()).extracting(Damage::messageId).containsExactly("b", "d", "e");
        assertThat(repair).isEqualTo(new Repair(repair.damage(), "e", "e", 0, 0, 0));
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "e");
        assertThat(log().read(KEY, ReadQuery.newest(5)).view()).isNotNull();
        assertThat(log().branches(KEY)).extracting(Branch::leafId).containsExactlyInAnyOrder("d", "e");
        Logs.moveHead(log(), KEY, "d", null);
        log().append(KEY, batch("f"));
        assertThat(branch(reopen(), KEY)).containsExactly("a", "b", "c", "d", "f");
    }
}
