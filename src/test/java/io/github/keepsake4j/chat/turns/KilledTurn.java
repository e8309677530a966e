package io.github.keepsake4j.chat.turns;

import dev.langchain4j.agent.tool.Tool;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A process that ends without a word in a turn of each of three conversations, whose names say where: request, model and tool.
 * Argument: the SQLite file.
 */
public final class KilledTurn {

    /** As after {@code kill -9}. */
    private static final int KILLED = 137;

    static final List<String> PLACES = List.of("request", "model", "tool");

    private static final CountDownLatch THERE = new CountDownLatch(PLACES.size());

    private KilledTurn() {}

    public static final class Tools {
        @Tool
        public String tool() {
            end();
            return "never";
        }
    }

    public static void main(String[] arguments) {
        Threads.endIfOneFails();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(SqliteMessageLog.open(Path.of(arguments[0])))
                .tokenCountEstimator(new WordCounter())
                .build();
        for (String place : PLACES) {
            new Thread(() -> chat(keepsake, place)).start();
        }
    }

    private static void chat(Keepsake keepsake, String place) {
        Script.Step model = request -> {
            if (place.equals("model")) {
                end();
            }
            return Script.response(EndingTurns.toolCall("1"));
        };
        keepsake.aiServices(Assistant.class)
                .chatModel(new Script(model))
                .tools(new Tools())
                .chatRequestTransformer(request -> {
                    if (place.equals("request")) {
                        end();
                    }
                    return request;
                })
                .build()
                .chat(place, "one");
    }

    /** Ends the process when each turn is at its place. */
    private static void end() {
        THERE.countDown();
        try {
            THERE.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Runtime.getRuntime().halt(KILLED);
    }
}
