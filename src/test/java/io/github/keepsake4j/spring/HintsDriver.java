package io.github.keepsake4j.spring;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import org.springframework.aot.agent.HintType;
import org.springframework.aot.agent.RecordedInvocation;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.test.agent.RuntimeHintsRecorder;

/**
 * Runs in a JVM with Spring's agent, which sees each use of reflection, resources and proxies. Prints those of this library that
 * no hint covers. Arguments: a directory, and the places of logs.
 */
final class HintsDriver {

    interface Assistant {
        @SystemMessage("You are helpful.")
        String chat(@MemoryId String conversation, @dev.langchain4j.service.UserMessage String text);
    }

    private HintsDriver() {}

    public static void main(String[] args) throws Exception {
        RuntimeHints hints = new RuntimeHints();
        new KeepsakeRuntimeHints().registerHints(hints, HintsDriver.class.getClassLoader());
        // LangChain4j needs that of each service anyway.
        hints.proxies().registerJdkProxy(Assistant.class);
        hints.reflection().registerType(Assistant.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        Path directory = Path.of(args[0]);
        for (String argument : List.of(args).subList(1, args.length)) {
            Place place = Place.of(argument);
            try (MessageLog log = place.open();
                    LongTermMemoryStore store = FileLongTermMemoryStore.of(
                            directory.resolve(place.home().name()))) {
                RuntimeHintsRecorder.record(() -> use(log, store))
                        .assertThat()
                        .notMatching(hints)
                        .satisfies(all -> {
                            List<? extends RecordedInvocation> missing =
                                    all.stream().filter(HintsDriver::isOurs).toList();
                            missing.forEach(one -> System.out.println(
                                    place.home() + " lacks " + one.toString().replace("\n", " ")));
                        });
            }
        }
        System.out.println("done");
        System.exit(0);
    }

    /** Returns whether the caller is ours, or Jackson looks at a class of ours. */
    private static boolean isOurs(RecordedInvocation invocation) {
        if (invocation.getArguments().contains("ofVirtual")) {
            // JDK 17 has no such method, so the hint for it does not match.
            return false;
        }
        boolean isCalledByUs = invocation
                .getStackFrames()
                .findFirst()
                .map(frame -> isMain(frame.getClassName()))
                .orElse(false);
        boolean isOfUs = invocation.getHintType() == HintType.REFLECTION
                && !invocation.isStatic()
                && invocation.getInstance() instanceof Class<?> type
                && isMain(type.getName());
        return isCalledByUs || isOfUs;
    }

    private static boolean isMain(String type) {
        return type.startsWith("io.github.keepsake4j.")
                && !type.contains(".testing.")
                && !type.contains("HintsDriver")
                && !type.contains("$Proxy");
    }

    private static void use(MessageLog log, LongTermMemoryStore store) {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .index(new InMemoryMessageIndex())
                .strategy(Summarization.triggerTokens(60)
                        .keepTokens(20)
                        .and(TokenLimit.withMaxTokens(500, TokenCounter.standard())))
                .summarizer((previous, messages) -> "short")
                .longTermMemories(
                        Discussions.builder(store)
                                .chatModel(ChatModelMock.thatAlwaysResponds(
                                        "[{\"title\": \"a\", \"summary\": \"b\",\"entities\":[],\"key_phrases\":[]}]"))
                                .config(DiscussionConfig.ofJson("{\"useVectorForQualityMemory\": true}"))
                                .build(),
                        Duration.ofDays(1))
                .build();
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(ChatModelMock.thatAlwaysResponds("hello"))
                .build();
        for (MemoryKey key : List.of(ConversationKey.of("acme", "1"), NodeKey.of("acme", "app", "1", "writer"))) {
            for (int i = 0; i < 5; i++) {
                keepsake.chatMemory(key)
                        .add(List.of(
                                UserMessage.from("a question of some words " + i), AiMessage.from("an answer " + i)));
            }
            keepsake.conversation(key).summarizeNow();
            keepsake.chatMemory(key).set(List.of(UserMessage.from("1"), AiMessage.from("2")));
            keepsake.chatMemory(key).clear();
            keepsake.chatMemory(key).messages();
            keepsake.conversation(key).history(HistoryQuery.oldest(100));
            log.list("acme", ListQuery.first(10));
            Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(1));
            log.check(key);
        }
        keepsake.longTermMemories().make(ConversationKey.of("acme", "1"));
        keepsake.longTermMemories().of(ConversationKey.of("acme", "1")).search(FactQuery.of("a"));
        assistant.chat("alice", "hello");
        String answer =
                keepsake.conversation("alice").branch(1).messages().get(0).id();
        keepsake.conversation("alice").turn(Turn.regenerate(answer), () -> assistant.chat("alice", "hello"));
        keepsake.search().find(Scope.tenant("default"), "hello");
        keepsake.conversation("alice").erase();
        keepsake.chatMemory("alice").messages();
    }
}
