package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.WordCounter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** Makes memories of a conversation in which each message is "ok": {@code CreatingProcess stores messages}. */
public final class CreatingProcess {

    static final MemoryKey KEY = ConversationKey.of("ada", "chat");

    private CreatingProcess() {}

    public static void main(String[] arguments) {
        try (SharedStores stores = SharedStores.open(arguments[0])) {
            run(stores.memories, Integer.parseInt(arguments[1]), true);
        }
        System.out.println("done");
    }

    static void run(LongTermMemoryStore store, int messages, boolean isTold) {
        List<SourceMessage> chat = IntStream.rangeClosed(1, messages)
                .mapToObj(i -> new SourceMessage("m" + i, UserMessage.from("ok"), Trust.USER))
                .toList();
        for (boolean facts : new boolean[] {false, true}) {
            Discussion discussion = Discussions.builder(store)
                    .tokenCountEstimator(new WordCounter())
                    .config(DiscussionConfig.ofJson("{\"lookbackStartTurn\":0,\"useVectorForQualityMemory\":" + facts
                            + ",\"fileMemoryWorkflowName\":\"w\",\"vectorMemoryWorkflowName\":\"w\"}"))
                    // Only the comparison with what was seen keeps two creators apart.
                    .leaseDuration(Duration.ofNanos(1_000))
                    .workflow("w", any -> {
                        if (isTold) {
                            System.out.println("made");
                            System.out.flush();
                        }
                        return facts
                                ? "[{\"title\":\"t\",\"summary\":\"s\",\"entities\":[],\"key_phrases\":[]},"
                                        + "{\"title\":\"u\",\"summary\":\"v\",\"entities\":[],\"key_phrases\":[]}]"
                                : "text";
                    })
                    .build()
                    .discussion(KEY);
            for (int seen = 5;
                    seen <= messages;
                    seen += ThreadLocalRandom.current().nextInt(1, 6)) {
                discussion.qualityMemory(chat.subList(0, seen));
            }
            discussion.qualityMemory(chat);
        }
    }
}
