package io.github.keepsake4j.chat.turns;

import dev.langchain4j.agent.tool.Tool;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Script;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;

/** A process that ends without a word in a turn. Arguments: the SQLite file, and where: request, model or tool. */
public final class KilledTurn {

    /** As after {@code kill -9}. */
    private static final int KILLED = 137;

    private KilledTurn() {}

    public static final class Tools {
        @Tool
        public String tool() {
            Runtime.getRuntime().halt(KILLED);
            return "never";
        }
    }

    public static void main(String[] arguments) {
        String where = arguments[1];
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]))) {
            Script.Step model = request -> {
                if (where.equals("model")) {
                    Runtime.getRuntime().halt(KILLED);
                }
                return EndingTurns.response(EndingTurns.toolCall("1"));
            };
            Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .build()
                    .aiServices(Assistant.class)
                    .chatModel(new Script(model))
                    .tools(new Tools())
                    .chatRequestTransformer(request -> {
                        if (where.equals("request")) {
                            Runtime.getRuntime().halt(KILLED);
                        }
                        return request;
                    })
                    .build()
                    .chat("c", "one");
        }
    }
}
