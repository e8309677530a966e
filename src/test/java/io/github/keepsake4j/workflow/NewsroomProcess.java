package io.github.keepsake4j.workflow;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;

/**
 * A process in which agents work in the conversation "c" until it is killed. It prints how many answers of each agent are
 * stored. Argument: the SQLite file.
 */
final class NewsroomProcess {

    public static void main(String[] arguments) {
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]))) {
            // The agents number their answers by what they are shown, so they are shown everything.
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .strategy(SlidingWindow.withMaxMessages(100_000))
                    .build();
            Newsroom room = new Newsroom(Newsroom.System.LOOP, keepsake.nodes("newsroom")::chatMemoryProvider);
            while (true) {
                String last = String.valueOf(room.work("c", "bees"));
                System.out.println(last.substring("editor ".length()));
            }
        }
    }
}
