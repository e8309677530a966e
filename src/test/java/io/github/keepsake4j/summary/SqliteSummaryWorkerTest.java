package io.github.keepsake4j.summary;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Logs;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteSummaryWorkerTest extends SummaryWorkerContract {

    @TempDir
    Path directory;

    @Override
    MessageLog open() {
        return SqliteMessageLog.open(directory.resolve("chat.db"));
    }

    @Test
    void a_log_closed_meanwhile_ends_the_job_in_silence() throws Exception {
        append(1, 12);
        summarizer.script = () -> {
            log.close();
            return "short";
        };
        String logged = loggedByOneCall();

        assertThat(Logs.summaries(other, KEY)).isEmpty();
        assertThat(logged).isEmpty();
        assertThat(measured).isEmpty();
    }
}
