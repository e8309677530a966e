package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.NodeMemories;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.turn.TurnPolicy;
import io.github.keepsake4j.workflow.LlmNode;
import io.github.keepsake4j.workflow.MemoryConfig;
import io.github.keepsake4j.workflow.MemoryMode;
import io.github.keepsake4j.workflow.NodeReply;
import io.github.keepsake4j.workflow.NodeRun;
import io.github.keepsake4j.workflow.NodeTurn;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.nio.file.Path;
import java.util.List;

/** The example in the README, compiled and run. */
final class ReadmeExample {

    interface Assistant {
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    private ReadmeExample() {}

    static String run(ChatModel model, Path directory) {
        // README begins
        TokenCountEstimator estimator = JtokkitTokenCountEstimator.forModel("gpt-4o-mini");
        MessageLog log = JdbcMessageLog.sqlite(directory.resolve("chat.db"));
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .strategy(TokenLimit.withMaxTokens(4000, estimator))
                .build();

        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();
        assistant.chat("alice", "My name is Alice.");

        Conversation conversation = keepsake.conversation("alice");
        List<ChatMessage> seen = conversation.messages(); // what the model sees
        HistoryPage page = conversation.history(HistoryQuery.newest(50)); // everything that was said
        List<Branch> branches = conversation.branches(); // regenerated answers are branches
        // README ends

        // README begins
        String answer = keepsake.turn("alice", TurnPolicy.WAIT, () -> assistant.chat("alice", "What is my name?"));
        // README ends
        if (!answer.equals(lastAnswer(keepsake))) {
            throw new IllegalStateException("the turn's answer is not the newest message");
        }

        // README begins
        ChatMemoryProvider windows = id -> MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(20)
                .chatMemoryStore(keepsake.chatMemoryStore())
                .build();
        // README ends
        windows.get("bob").add(dev.langchain4j.data.message.UserMessage.from("kept"));

        // README begins
        Keepsake summarized = Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerTokens(4000)
                        .keepTokens(1000)
                        .countedBy(estimator)
                        .and(TokenLimit.withMaxTokens(6000, estimator)))
                .summarizer(Summarizer.of(model))
                .build();
        int made = summarized.conversation("alice").summarizeNow(); // a batch job's way: chats need not call it
        List<Summary> summaries = summarized.conversation("alice").summaries(); // all that were ever made
        // README ends
        if (made != summaries.size()) {
            throw new IllegalStateException("a summary was made that is not there");
        }

        // README begins
        WorkflowMemories memories =
                WorkflowMemories.builder().conversationLog(log).nodeLog(log).build();
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        NodeTurn turn = NodeTurn.of("m2").under("m1"); // ids of the conversation's messages
        NodeReply reply = writer.run(NodeRun.of("acme", "my-app", "c1", "writer", turn, "A slogan, please"));

        NodeMemories nodes = keepsake.nodes("my-app");
        Assistant critic = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(nodes.chatMemoryProvider("critic"))
                .build();
        // README ends
        critic.chat("c1", String.valueOf(reply.text()));
        if (reply.failure() != null
                || nodes.conversation("critic", "c1").messages().isEmpty()) {
            throw new IllegalStateException("a node has no memory");
        }
        log.close();
        return seen.size() + " seen, " + page.messages().size() + " kept, " + branches.size() + " branch";
    }

    private static String lastAnswer(Keepsake keepsake) {
        List<ChatMessage> shown = keepsake.conversation("alice").messages();
        return ((AiMessage) shown.get(shown.size() - 1)).text();
    }
}
