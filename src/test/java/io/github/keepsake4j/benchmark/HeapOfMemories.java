package io.github.keepsake4j.benchmark;

import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import java.lang.ref.Reference;

/** Prints the heap in bytes that memories from the provider take, without the strings of their ids. */
final class HeapOfMemories {

    private HeapOfMemories() {}

    public static void main(String[] arguments) throws InterruptedException {
        int count = Integer.parseInt(arguments[0]);
        // No connection is opened before the first use.
        JdbcMessageLog log =
                PostgresMessageLog.open("jdbc:postgresql://127.0.0.1:1/none", "none", "", SchemaMode.EMBEDDED);
        ChatMemoryProvider provider = Keepsake.builder().messageLog(log).build().chatMemoryProvider();
        String[] ids = new String[count];
        for (int i = 0; i < count; i++) {
            ids[i] = "conversation-" + i;
        }
        ChatMemory[] memories = new ChatMemory[count];
        memories[0] = provider.get(ids[0]);
        long before = used();
        for (int i = 0; i < count; i++) {
            memories[i] = provider.get(ids[i]);
        }
        long after = used();
        Reference.reachabilityFence(ids);
        Reference.reachabilityFence(memories);
        System.out.println(after - before);
        log.close();
    }

    private static long used() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(50);
            least = Math.min(
                    least,
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }
}
