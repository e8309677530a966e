package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.history;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Checks whether a server lets only one of several conditional writes succeed. */
final class ConditionalWrites {

    /**
     * What was found.
     *
     * @param acknowledged the number of appends that succeeded
     * @param lost how many of them are not there
     */
    record Result(int acknowledged, int lost) {}

    private ConditionalWrites() {}

    /** Appends to one memory from several logs at once, which share nothing, and looks for what was acknowledged. */
    static Result race(Supplier<MessageLog> connect, int writers, int each) throws Exception {
        MemoryKey key = ConversationKey.of("default", "race " + Ids.next());
        List<MessageLog> logs = new ArrayList<>();
        Set<String> acknowledged = ConcurrentHashMap.newKeySet();
        try {
            for (int i = 0; i < writers; i++) {
                logs.add(connect.get());
            }
            Threads.run(writers, writer -> {
                for (int i = 0; i < each; i++) {
                    String id = writer + "-" + i;
                    logs.get(writer).append(key, batch(id));
                    acknowledged.add(id);
                }
            });
            List<String> there =
                    history(logs.get(0), key).stream().map(LoggedMessage::id).toList();
            int lost = (int)
                    acknowledged.stream().filter(id -> !there.contains(id)).count();
            logs.get(0).erase(key);
            return new Result(acknowledged.size(), lost);
        } finally {
            logs.forEach(MessageLog::close);
        }
    }
}
