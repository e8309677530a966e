package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

    private final StringWriter err = new StringWriter();
    private final AtomicLong nanos = new AtomicLong();

    private void work(ProgressLine progress) {
        for (int step = 1; step <= 250; step++) {
            int done = step;
            nanos.addAndGet(Duration.ofMillis(99).toNanos());
            progress.tell(() -> new Step(done + " done", 0, 0));
        }
    }

    @Test
    void a_terminal_gets_one_line_that_is_rewritten_and_gone_at_the_end() {
        try (ProgressLine progress = new ProgressLine(new PrintWriter(err), true, nanos::get)) {
            work(progress);
        }
        assertThat(err.toString())
                .startsWith("\r\u001b[K2 done\r\u001b[K4 done\r")
                .endsWith("\r\u001b[K250 done\r\u001b[K")
                .doesNotContain("\n");
    }

    @Test
    void a_file_gets_a_line_now_and_then() {
        try (ProgressLine progress = new ProgressLine(new PrintWriter(err), false, nanos::get)) {
            work(progress);
        }
        assertThat(err).hasToString("keepsake: 102 done\nkeepsake: 204 done\n");
    }
}
