package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.testing.WordCounter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A workflow's memories on a log, and short words for them. */
abstract class WorkflowFixture {

    static final ConversationKey CONVERSATION = ConversationKey.of("acme", "c1");
    static final NodeKey NODE = NodeKey.of("acme", "app", "c1", "writer");
    static final WordCounter WORDS = new WordCounter();
    static final int PLENTY = 100_000;

    MessageLog log;
    WatchedLog watched;
    WorkflowMemories memories;

    abstract MessageLog open();

    /** How many random conversations. */
    int rounds() {
        return Counts.of(40, 1000);
    }

    @BeforeEach
    void make() {
        log = open();
        watched = new WatchedLog(log);
        memories = with(WorkflowMemories.builder());
    }

    @AfterEach
    void close() {
        log.close();
    }

    WorkflowMemories with(WorkflowMemories.Builder builder) {
        return builder.conversationLog(watched.log())
                .nodeLog(watched.log())
                .tokenCountEstimator(WORDS)
                .build();
    }

    WorkflowMemories withoutConversations() {
        return WorkflowMemories.builder()
                .nodeLog(watched.log())
                .tokenCountEstimator(WORDS)
                .build();
    }

    List<String> requests(Runnable run) {
        int before = watched.calls().size();
        run.run();
        return List.copyOf(watched.calls().subList(before, watched.calls().size()));
    }

    static NodeRun withoutConversation(String node) {
        return NodeRun.of("acme", "app", null, node, NodeTurn.of("m1"), "hello");
    }

    static void attempt(Runnable run) {
        try {
            run.run();
        } catch (InvalidInputException e) {
            assertThat(e).hasMessageContaining("conversation_id");
        }
    }

    /** Flushes until it succeeds; some appends fail and some lose their answer. */
    void flushInSpiteOf(Random random, NodeTokenBufferMemory memory) {
        boolean flushed = false;
        while (!flushed) {
            int trouble = random.nextInt(4);
            if (trouble == 0) {
                watched.loseAnswer("append");
            } else if (trouble == 1) {
                watched.fail("append", new StorageUnavailableException("down", null));
            }
            try {
                memory.flush();
                flushed = true;
            } catch (StorageUnavailableException e) {
                assertThat(e).hasMessageMatching("down|the answer was lost");
            }
            watched.fail("append", null);
        }
    }

    static List<String> seen(Conversation conversation, String answerId) {
        return conversation.seenBy(answerId).orElseThrow().messages().stream()
                .map(LoggedMessage::id)
                .toList();
    }

    /** Counts words, and notes the texts of messages that it counts. */
    static TokenCountEstimator counting(List<String> asked) {
        return new TokenCountEstimator() {
            @Override
            public int estimateTokenCountInText(String text) {
                return WORDS.estimateTokenCountInText(text);
            }

            @Override
            public int estimateTokenCountInMessage(ChatMessage message) {
                asked.add(texts(List.of(message)).get(0));
                return WORDS.estimateTokenCountInMessage(message);
            }

            @Override
            public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
                return WORDS.estimateTokenCountInMessages(messages);
            }
        };
    }

    static final class Model implements ChatModel {
        final List<List<ChatMessage>> asked = Collections.synchronizedList(new ArrayList<>());
        RuntimeException failure;
        String name;

        @Override
        public ChatRequestParameters defaultRequestParameters() {
            return ChatRequestParameters.builder().modelName(name).build();
        }

        @Override
        public ChatResponse doChat(ChatRequest request) {
            asked.add(request.messages());
            if (failure != null) {
                throw failure;
            }
            return ChatResponse.builder()
                    .aiMessage(ai("answer " + asked.size()))
                    .build();
        }
    }

    TokenBufferMemory conversation() {
        return memories.conversation(CONVERSATION);
    }

    NodeTokenBufferMemory node() {
        return memories.node(NODE);
    }

    static NodeRun run(String id, String parent, String query) {
        return NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of(id).under(parent), query);
    }

    List<ChatMessage> history(String current) {
        return node().getHistoryPromptMessages(current, "acme", PLENTY, null);
    }

    /** The history that leads to a message, without its own iterations. */
    List<ChatMessage> leadingTo(String current) {
        return node().getHistoryPromptMessages(NodeTurn.of(current).inIteration(1), "acme", PLENTY, null);
    }

    /** Turns by id and parent, each from a run of its own. */
    void turns(String... idsAndParents) {
        for (int i = 0; i < idsAndParents.length; i += 2) {
            NodeTokenBufferMemory memory = node();
            String id = idsAndParents[i];
            memory.addMessages(id, idsAndParents[i + 1], "q " + id, List.of(), "r " + id, List.of());
            memory.flush();
        }
    }

    /** Messages by id, each under the one before it. */
    void say(String firstId, String parent, Object... messagesAndIds) {
        String id = firstId;
        String under = parent;
        for (int i = 0; i < messagesAndIds.length; i += 2) {
            append(CONVERSATION, under, message(id, (ChatMessage) messagesAndIds[i]));
            under = id;
            id = i + 1 < messagesAndIds.length ? (String) messagesAndIds[i + 1] : null;
        }
    }

    void append(MemoryKey key, String parent, NewMessage... messages) {
        log.append(key, Append.under(parent == null ? Parent.root() : Parent.of(parent), List.of(messages)));
    }

    static NewMessage message(String id, ChatMessage message) {
        return new NewMessage(
                id,
                message,
                WORDS.estimateTokenCountInMessage(message),
                WORDS.getClass().getName(),
                null);
    }

    List<LoggedMessage> stored(MemoryKey key) {
        return log.history(key, HistoryQuery.oldest(1000)).messages();
    }

    /** The branch that ends in a message, or the current one. */
    List<String> branch(String end) {
        ReadQuery query = ReadQuery.newest(100);
        return log.read(CONVERSATION, end == null ? query : query.endingIn(end)).messages().stream()
                .map(LoggedMessage::id)
                .toList();
    }

    List<String> ids(MemoryKey key) {
        return stored(key).stream().map(LoggedMessage::id).toList();
    }

    static List<String> texts(List<ChatMessage> messages) {
        return messages.stream()
                .map(message -> message instanceof UserMessage user
                        ? user.singleText()
                        : message instanceof AiMessage ai ? ai.text() : ((SystemMessage) message).text())
                .toList();
    }
}
