package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.users;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A tail remains correct over the reader's own appends. */
class TailTest {

    private final MessageLog log = new InMemoryMessageLog();

    @Test
    void the_oldest_messages_stay_what_they_are() {
        log.append(KEY, batch("a", "b", "c", "d"));

        assertThat(oldestAfterAppending(ReadQuery.newest(2).alsoOldest(2))).containsExactly("a", "b");
    }

    @Test
    void oldest_messages_that_were_not_asked_for_stay_away() {
        log.append(KEY, batch("a"));

        assertThat(oldestAfterAppending(ReadQuery.newest(2))).isEmpty();
    }

    @Test
    void oldest_messages_that_were_all_there_was_go_on() {
        log.append(KEY, batch("a", "b", "c"));

        assertThat(oldestAfterAppending(ReadQuery.newest(2).alsoOldest(9))).containsExactly("a", "b", "c", "x", "y");
    }

    private List<String> oldestAfterAppending(ReadQuery query) {
        Tail after = log.read(KEY, query).after(users("x", "y"), log.append(KEY, batch("x", "y")));
        assertThat(after).isNotNull();
        return ids(after.oldest());
    }
}
