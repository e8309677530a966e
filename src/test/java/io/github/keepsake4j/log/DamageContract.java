package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a check finds, and what a repair does, on every backend. */
public interface DamageContract extends LogUnderTest {

    @Test
    default void aSoundMemoryHasNoDamageAndRepairChangesNothing() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d", "e").withView(View.of(null, List.of(new View.Run("a", "b")))));
        log().append(KEY, batchUnder("nowhere", "f").asImport());
        log().putSummary(KEY, new Summary("b", SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH), 1);
        Position before = log().read(KEY, ReadQuery.newest(1)).position();

        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY)).isEqualTo(new Repair(List.of(), "f", "f", 0, 0, 0));
        assertThat(log().read(KEY, ReadQuery.newest(1)).position()).isEqualTo(before);
        assertThat(history(log(), KEY)).hasSize(6);
    }

    @Test
    default void aMemoryThatWasNeverWrittenHasNoDamageAndStaysUnwritten() {
        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY)).isEqualTo(new Repair(List.of(), null, null, 0, 0, 0));
        assertThat(list(log(), KEY.tenant(), 10)).isEmpty();
    }

    @Test
    default void anErasedMemoryHasNoDamage() {
        log().append(KEY, batch("a", "b"));
        log().erase(KEY);

        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY).damage()).isEmpty();
    }

    @Test
    default void aParentThatWasImportedAfterItsChildIsNoDamage() throws Exception {
        log().append(KEY, batchUnder("parent", "child").asImport());
        log().append(KEY, Append.under(Parent.root(), users("parent")).asImport());

        assertThat(reopen().check(KEY)).isEmpty();
        assertThat(log().read(KEY, ReadQuery.wholeBranch().endingIn("child")).missingParent())
                .isEqualTo("parent");
    }

    @Test
    default void aRepairMovesTheHeadToTheNewestMessageThatIsSoundDownToItsRoot() throws Exception {
        log().append(KEY, batch("a", "b", "c", "d"));
        log().append(KEY, batchUnder("a", "e", "f"));
        log().append(KEY, batchUnder("d", "g"));
        corrupt(KEY, "c");

        List<Damage> damage = log().check(KEY);
        assertThat(damage).hasSize(1);
        assertThat(damage.toString()).contains("c").doesNotContain(SECRET);
        if (damage.get(0).kind() == Damage.Kind.MEMORY) {
            // One object that cannot be read has no message to go back to.
            assertThatThrownBy(() -> log().repair(KEY)).isInstanceOf(UnreadableDataException.class);
            return;
        }
        assertThat(damage.get(0).messageId()).isEqualTo("c");
        assertThat(damage.get(0).sequence()).isEqualTo(3);
        String bytes = rawBytes(KEY, "c");

        assertThat(log().repair(KEY)).isEqualTo(new Repair(damage, "g", "f", 0, 0, 0));
        assertThat(branch(log(), KEY)).containsExactly("a", "e", "f");
        log().append(KEY, batch("h"));
        assertThat(branch(reopen(), KEY)).containsExactly("a", "e", "f", "h");
        assertThat(rawBytes(KEY, "c")).isEqualTo(bytes);
        assertThat(log().repair(KEY)).isEqualTo(new Repair(damage, "h", "h", 0, 0, 0));
    }

    @Test
    default void whereNoMessageIsSoundAnAppendBeginsAnew() throws Exception {
        log().append(KEY, batch("a", "b"));
        corrupt(KEY, "a");
        if (log().check(KEY).get(0).kind() == Damage.Kind.MEMORY) {
            return;
        }

        assertThat(log().repair(KEY).head()).isNull();
        assertThat(branch(log(), KEY)).isEmpty();
        log().append(KEY, batch("c"));
        assertThat(branch(reopen(), KEY)).containsExactly("c");
    }

    @Test
    default void aRepairDropsAViewThatShowsWhatCannotBeRead() throws Exception {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("a", "c"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new View.Run("a", "b")))));
        corrupt(KEY, "b");
        if (log().check(KEY).get(0).kind() == Damage.Kind.MEMORY) {
            return;
        }

        assertThat(log().repair(KEY).droppedViews()).isEqualTo(1);
        assertThat(log().read(KEY, ReadQuery.newest(5)).view()).isNull();
    }
}
