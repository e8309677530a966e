package io.github.keepsake4j.backend;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The stored form of what is kept beside a message. These texts are in databases and documents, so they stay readable. */
class NotesTextTest {

    @Test
    void the_texts_of_this_version_stay_readable() {
        Seen seen = new Seen(List.of(new Seen.Range(1, 5), new Seen.Range(7, 7)), List.of(3L, 4L), 2, true);
        Usage usage = new Usage(10, 20, 0);

        assertThat(NotesText.of(new Made(seen, usage))).isEqualTo("s1-5,7 c3,4 v2 a u10,20,0");
        assertThat(NotesText.made("s1-5,7 c3,4 v2 a u10,20,0")).isEqualTo(new Made(seen, usage));
        assertThat(NotesText.of(new Made(new Seen(List.of(), List.of(), 0, false), null)))
                .isEqualTo("s");
        assertThat(NotesText.made("s")).isEqualTo(new Made(new Seen(List.of(), List.of(), 0, false), null));
        Seen remembered = new Seen(List.of(), List.of(), 0, false, List.of("1", "a, b"), true);
        assertThat(NotesText.of(new Made(remembered, null))).isEqualTo("s l m1,a%2C+b");
        assertThat(NotesText.made("s l m1,a%2C+b")).isEqualTo(new Made(remembered, null));
        assertThat(NotesText.of(new Made(null, Usage.NONE))).isEqualTo("u0,0,0");
        assertThat(NotesText.made("u0,0,0")).isEqualTo(new Made(null, Usage.NONE));
        Made named = new Made(seen, usage, "org/model 7b,q4\u00e9", "STOP", null);
        assertThat(NotesText.of(named)).isEqualTo("s1-5,7 c3,4 v2 a u10,20,0 borg%2Fmodel+7b%2Cq4%C3%A9,STOP");
        for (Made made : List.of(
                named,
                new Made(null, null, "m", null, null),
                new Made(null, null, null, "LENGTH", null),
                new Made(null, null, " ", ",", null))) {
            assertThat(NotesText.made(NotesText.of(made))).isEqualTo(made);
        }
        assertThat(NotesText.of(Made.NOTHING.withRequest("kept elsewhere"))).isNull();
        assertThat(NotesText.of(new Made(null, null))).isNull();
        assertThat(NotesText.made(null)).isSameAs(Made.NOTHING);
        assertThat(NotesText.outcome("failed java.io.IOException")).isEqualTo(Outcome.failed("java.io.IOException"));
        assertThat(NotesText.outcome("failed")).isEqualTo(Outcome.failed(null));
        assertThat(NotesText.outcome("failed ")).isEqualTo(Outcome.failed(""));
        assertThat(NotesText.outcome("incomplete cut")).isEqualTo(Outcome.incomplete("cut"));
        assertThat(NotesText.outcome("rejected a b")).isEqualTo(Outcome.rejected("a b"));
        for (Outcome.Kind kind : Outcome.Kind.values()) {
            Outcome outcome = new Outcome(kind, " x\ty ");
            assertThat(NotesText.outcome(NotesText.of(outcome))).isEqualTo(outcome);
        }
    }

    @Test
    void what_a_newer_version_wrote_is_ignored() {
        assertThat(NotesText.outcome("postponed until later")).isNull();
        assertThat(NotesText.made("s1 q5,6 u1,2,3,4"))
                .isEqualTo(new Made(new Seen(List.of(new Seen.Range(1, 1)), List.of(), 0, false), new Usage(1, 2, 3)));
        assertThat(NotesText.made("q5,6")).isEqualTo(Made.NOTHING);
    }

    @Test
    void what_no_version_wrote_is_an_error() {
        for (String text : List.of(
                "s5-1", "s0", "sx", "u1", "u-1,2,3", "s1,,2", " ", "vx", "s m%", "s m1,,2", "b", "bm", "bm%,")) {
            assertThatThrownBy(() -> NotesText.made(text)).as(text).isInstanceOf(UnreadableDataException.class);
        }
        assertThrown(UnreadableDataException.class, () -> NotesText.outcome("failed " + "x".repeat(300)));
    }
}
