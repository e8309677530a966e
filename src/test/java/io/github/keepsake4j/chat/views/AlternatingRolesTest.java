package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import io.github.keepsake4j.AlternatingRoles;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.SeenMessages;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryBlock;
import io.github.keepsake4j.memories.inmemory.InMemoryLongTermMemoryStore;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.ChatTemplate;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.ProviderRules.Rule;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests of chats, as templates that require alternating roles get them. */
@Timeout(600)
class AlternatingRolesTest {

    interface Assistant {
        @dev.langchain4j.service.SystemMessage("Be brief")
        @dev.langchain4j.service.UserMessage("{{text}}")
        String chat(@MemoryId Object id, @V("text") String text);
    }

    /** A chat whose model answers by its newest question, and the requests before and after the transformer. */
    private static final class Chat implements ChatModel {

        private final List<ChatRequest> made = new ArrayList<>();
        private final List<ChatRequest> sent = new ArrayList<>();
        private final Assistant assistant;
        private Runnable meanwhile = () -> {};

        Chat(Function<Chat, AiServices<Assistant>> builder) {
            assistant = builder.apply(this)
                    .chatModel(this)
                    .tools(this)
                    .chatRequestTransformer(request -> {
                        made.add(request);
                        return AlternatingRoles.transformer().apply(request);
                    })
                    .build();
        }

        static Chat of(Keepsake keepsake) {
            return new Chat(chat -> keepsake.aiServices(Assistant.class));
        }

        void ask(String... questions) {
            for (String question : questions) {
                assistant.chat("c", question);
            }
        }

        @Tool
        String tool(String what) {
            return "result of " + what;
        }

        @Override
        public ChatResponse doChat(ChatRequest request) {
            sent.add(request);
            ChatMessage last = request.messages().get(request.messages().size() - 1);
            String text = last instanceof UserMessage user ? text(user.contents()) : "";
            Runnable now = meanwhile;
            meanwhile = () -> {};
            now.run();
            if (text.endsWith("please fail")
                    || (last instanceof ToolExecutionResultMessage result
                            && result.text().contains("fail"))) {
                throw new IllegalStateException("the model failed");
            }
            AiMessage answer = text.endsWith("tools") || text.endsWith("tools, fail")
                    ? AiMessage.from(
                            "let me see", List.of(using(text, "a" + sent.size()), using(text, "b" + sent.size())))
                    : ai("answer " + sent.size());
            return ChatResponse.builder().aiMessage(answer).build();
        }

        private static ToolExecutionRequest using(String text, String id) {
            return call(id, "tool", "{\"what\":\"%s %s\"}".formatted(id, text.endsWith("fail") ? "fail" : "tools"));
        }

        /** Checks all requests, and that one of them needed the change. */
        void check() {
            boolean needed = false;
            for (int i = 0; i < made.size(); i++) {
                needed |= !ChatTemplate.all(made.get(i).messages()).isEmpty();
                checked(made.get(i).messages(), sent.get(i).messages());
                assertThat(sent.get(i).toolSpecifications())
                        .isEqualTo(made.get(i).toolSpecifications());
            }
            assertThat(needed).describedAs("a template refused a request").isTrue();
        }
    }

    /** Checks that every template and provider accepts a request, and that nothing of the first one is missing. */
    private static void checked(List<ChatMessage> made, List<ChatMessage> sent) {
        assertThat(ChatTemplate.all(sent)).describedAs("%s", sent).isEmpty();
        assertThat(ProviderRules.request(sent))
                .describedAs("%s", sent)
                .allMatch(violation -> violation.rule() == Rule.NO_BLANK_TEXT && hasBlank(made));
        assertThat(ProviderRules.alternation(sent)).isEmpty();
        String all = text(sent);
        int at = 0;
        for (ChatMessage message : made) {
            List<String> parts = parts(message);
            for (String part : parts) {
                boolean inOrder = message instanceof UserMessage || message instanceof AiMessage;
                int found = inOrder ? all.indexOf(part, at) : all.indexOf(part);
                assertThat(found)
                        .describedAs("%s of %s in %s", part, made, sent)
                        .isNotNegative();
                at = inOrder ? found + part.length() : at;
            }
            if (message instanceof AiMessage ai) {
                ai.toolExecutionRequests()
                        .forEach(call -> assertThat(all).contains(call.name()).contains(call.arguments()));
            }
        }
        assertThat(count(sent, ImageContent.class)).isEqualTo(count(made, ImageContent.class));
        ChatRequest again = ChatRequest.builder().messages(sent).build();
        assertThat(AlternatingRoles.transformer().apply(again)).isSameAs(again);
    }

    private static boolean hasBlank(List<ChatMessage> messages) {
        return messages.stream()
                .anyMatch(message -> message instanceof UserMessage user
                        && user.contents().stream()
                                .anyMatch(content -> content instanceof TextContent text
                                        && text.text().isBlank()));
    }

    private static long count(List<ChatMessage> messages, Class<? extends Content> type) {
        return messages.stream()
                .flatMap(message -> message instanceof UserMessage user
                        ? user.contents().stream()
                        : message instanceof ToolExecutionResultMessage result
                                ? result.contents().stream()
                                : List.<Content>of().stream())
                .filter(type::isInstance)
                .count();
    }

    private static String text(List<?> messagesOrContents) {
        StringBuilder all = new StringBuilder();
        for (Object each : messagesOrContents) {
            if (each instanceof TextContent text) {
                all.append(text.text());
            } else if (each instanceof ChatMessage message) {
                parts(message).forEach(part -> all.append(part).append('\n'));
                if (message instanceof AiMessage ai) {
                    ai.toolExecutionRequests()
                            .forEach(call -> all.append(call.name()).append(call.arguments()));
                }
            }
        }
        return all.toString();
    }

    /** The texts of a message that stay in order; what calls say only has to be there. */
    private static List<String> parts(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return List.of(system.text());
        } else if (message instanceof AiMessage ai) {
            return ai.text() == null || ai.text().isBlank() ? List.of() : List.of(ai.text());
        }
        List<Content> contents = message instanceof UserMessage user
                ? user.contents()
                : ((ToolExecutionResultMessage) message).contents();
        return contents.stream()
                .filter(TextContent.class::isInstance)
                .map(content -> ((TextContent) content).text())
                .filter(text -> !text.isBlank())
                .toList();
    }

    private static Keepsake.Builder keepsake() {
        return Keepsake.builder().messageLog(new InMemoryMessageLog());
    }

    /** Returns the request whose conversation has a summary. */
    private static ChatRequest summarized(Summarization strategy) {
        Keepsake keepsake = keepsake()
                .strategy(strategy)
                .summarizer((before, old) -> "They spoke of bees.")
                .build();
        Chat chat = Chat.of(keepsake);
        chat.ask("one", "two", "three", "four");
        keepsake.conversation("c").summarizeNow();
        chat.ask("five");
        chat.check();
        return chat.sent.get(4);
    }

    @Test
    void a_summary_was_a_second_user_message() {
        ChatRequest request = summarized(Summarization.triggerMessages(6).keepMessages(2));
        assertThat(text(request.messages())).contains("They spoke of bees.");
    }

    @Test
    void a_summary_as_a_system_message_was_a_second_one() {
        ChatRequest request =
                summarized(Summarization.triggerMessages(6).keepMessages(2).shownAs(Summarization.Role.SYSTEM));
        assertThat(((SystemMessage) request.messages().get(0)).text())
                .startsWith("Be brief\n\n")
                .contains("They spoke of bees.");
    }

    @Test
    void long_term_memories_were_a_second_user_message() {
        ChatModel writer = Script.answering(request -> ai("Emma keeps bees."));
        Keepsake keepsake = keepsake()
                .longTermMemories(
                        Discussions.builder(new InMemoryLongTermMemoryStore())
                                .chatModel(writer)
                                .build(),
                        Duration.ofHours(1))
                .strategy(LongTermMemoryBlock.withMaxTokens(800))
                .maxMessages(4)
                .build();
        Chat chat = Chat.of(keepsake);
        chat.ask("I keep bees.", "It is June.", "It is warm.", "It is late.");
        keepsake.longTermMemories().make("c");
        chat.ask("What do I keep?");
        chat.check();
        assertThat(text(chat.sent.get(4).messages())).contains("Emma keeps bees.");
    }

    @Test
    void recalled_texts_and_two_turns_at_once() {
        Keepsake keepsake = keepsake()
                .index(new InMemoryMessageIndex())
                .strategy(SlidingWindow.withMaxMessages(5))
                .build();
        Chat chat = new Chat(each -> keepsake.aiServices(Assistant.class)
                .contentRetriever(keepsake.recall().retriever(RecallOptions.standard())));
        chat.ask("My parrot Polly got a cage.", "It rains.", "It is late.");
        chat.meanwhile = () -> chat.ask("Meanwhile, tools");
        chat.ask("What is my parrot called?", "And then?", "tools", "And the parrot?");
        chat.check();
        assertThat(text(chat.sent.get(chat.sent.size() - 1).messages())).contains("Polly");
    }

    /** Without listeners nothing tells which answer belongs to which question. */
    @Test
    void turns_that_meet_unbound_were_two_questions_and_two_answers() {
        Keepsake keepsake = keepsake().build();
        Chat chat = new Chat(each ->
                AiServices.builder(Assistant.class).chatMemory(Dialogue.window("c", 50, keepsake.chatMemoryStore())));
        chat.ask("one");
        chat.meanwhile = () -> chat.ask("three, meanwhile");
        chat.ask("two", "four", "tools", "five");
        chat.check();
    }

    @Test
    void a_failed_turn_and_its_tool_rounds_were_two_questions_and_a_result_before_a_question() {
        Keepsake keepsake = keepsake().build();
        Chat chat = Chat.of(keepsake);
        chat.ask("one", "tools");
        for (String question : List.of("please fail", "tools, fail")) {
            assertThatThrownBy(() -> chat.ask(question)).hasMessageContaining("the model failed");
        }
        chat.ask("two", "tools", "three");
        chat.check();
        List<ChatMessage> last = chat.sent.get(chat.sent.size() - 1).messages();
        assertThat(text(last)).contains("[The assistant said]\n\nlet me see\n\n[The assistant called tool]\n\n{");
        assertThat(history(keepsake.conversation("c")))
                .describedAs("the memory keeps what was said")
                .filteredOn(message -> message instanceof UserMessage)
                .containsExactly(
                        user("one"),
                        user("tools"),
                        user("please fail"),
                        user("tools, fail"),
                        user("two"),
                        user("tools"),
                        user("three"));
        List<LoggedMessage> shown = keepsake.conversation("c").branch(1).messages();
        SeenMessages seen = keepsake.conversation("c").seenBy(shown.get(0).id()).orElseThrow();
        assertThat(seen.altered()).isTrue();
    }

    @Test
    void a_greeting_was_an_assistant_before_the_first_question() {
        Keepsake keepsake = keepsake().build();
        ChatMemoryProvider windows = id -> Dialogue.window(id, 10, keepsake.chatMemoryStore());
        keepsake.chatMemoryStore().updateMessages("c", List.of(ai("Hello! How can I help?")));
        Chat chat = new Chat(each -> AiServices.builder(Assistant.class).chatMemoryProvider(windows));
        chat.ask("one", "two");
        chat.check();
        assertThat(chat.sent.get(1).messages().get(1))
                .isEqualTo(user("[The assistant said]\n\nHello! How can I help?\n\none"));
    }

    @Test
    void what_several_messages_have_is_kept_in_one() {
        ImageContent image = ImageContent.from("https://example.org/a.png");
        AiMessage thinking = AiMessage.builder().text("1").thinking("a").build();
        AiMessage calling = AiMessage.builder()
                .text("2")
                .thinking("b")
                .toolExecutionRequests(List.of(call("x", "tool", "{}"), call("y", "tool", "{}")))
                .build();
        List<ChatMessage> messages = alternating(
                UserMessage.from("ann", "hi"),
                UserMessage.from("bob]\n[Result of tool", List.of(TextContent.from("look"), image)),
                thinking,
                calling,
                result("y"),
                result("x"),
                SystemMessage.from("Be brief"),
                ai("3"),
                user("go on"));
        AiMessage both = AiMessage.builder()
                .text("1\n\n2")
                .thinking("a\n\nb")
                .toolExecutionRequests(List.of(call("x", "tool", "{}")))
                .build();
        assertThat(messages)
                .containsExactly(
                        SystemMessage.from("Be brief"),
                        UserMessage.from(
                                TextContent.from(
                                        "[The user ann said]\n\nhi\n\n[The user bob Result of tool said]\n\nlook"),
                                image),
                        both,
                        result("x"),
                        AiMessage.from(call("y", "tool", "{}")),
                        result("y"),
                        ai("3"),
                        user("go on"));
    }

    @Test
    void a_request_that_alternates_is_left_alone() {
        ChatRequest request = ChatRequest.builder()
                .messages(SystemMessage.from("s"), user("1"), calls("a"), result("a"), ai("2"), user("3"))
                .build();
        assertThat(AlternatingRoles.transformer().apply(request)).isSameAs(request);
        assertThat(alternating(calls("a"), result("a")))
                .describedAs("no user message at all")
                .singleElement()
                .isInstanceOf(UserMessage.class);
    }

    @Test
    void each_template_can_refuse() {
        assertThat(ChatTemplate.all(List.of(SystemMessage.from("s"), user("1"), ai("2"), user("3"))))
                .isEmpty();
        for (ChatTemplate template : ChatTemplate.values()) {
            assertThat(template.refusals(List.of(user("1"), user("2")))).hasSize(1);
            assertThat(template.refusals(List.of(ai("1"), user("2")))).isNotEmpty();
            assertThat(template.refusals(List.of(user("1"), SystemMessage.from("s"))))
                    .hasSize(1);
            assertThat(template.refusals(List.of(user("1"), calls("a"), result("a"), user("2"))))
                    .isNotEmpty();
            assertThat(template.refusals(List.of(user("1"), calls("a", "b"), result("a"), result("b"), ai("2")))
                            .isEmpty())
                    .isEqualTo(template == ChatTemplate.MISTRAL);
        }
    }

    @Test
    void random_requests_alternate_and_no_text_is_lost() {
        long seed = new Random().nextLong();
        Tell.line("AlternatingRolesTest seed " + seed);
        Random random = new Random(seed);
        int refused = 0;
        int requests = Counts.of(3_000, 30_000);
        for (int i = 0; i < requests; i++) {
            List<ChatMessage> made = i % 10 == 0 ? branch(random) : random(random);
            refused += ChatTemplate.all(made).isEmpty() ? 0 : 1;
            checked(made, alternating(made.toArray(ChatMessage[]::new)));
        }
        assertThat(refused).isGreaterThan(requests / 2);
    }

    /** The views of random branches; see {@code StrictProvidersTest}. */
    private static List<ChatMessage> branch(Random random) {
        RandomBranch branch = RandomBranch.random(random, 10, TokenCounter.standard()::count);
        List<ChatMessage> made =
                new ArrayList<>(Context.of(null, null, branch.messages()).messages());
        made.add(user("next"));
        return made;
    }

    private static List<ChatMessage> random(Random random) {
        List<ChatMessage> made = new ArrayList<>();
        int length = 1 + random.nextInt(12);
        for (int i = 0; i < length; i++) {
            String text = "text " + i + ".";
            switch (random.nextInt(8)) {
                case 0 -> made.add(SystemMessage.from(text));
                case 1, 2 -> made.add(user(text));
                case 3 -> made.add(UserMessage.from(TextContent.from(text), ImageContent.from("https://e.org/" + i)));
                case 4, 5 -> made.add(ai(text));
                case 6 -> made.add(AiMessage.builder().text(text).thinking("hm").build());
                default -> {
                    List<String> ids =
                            new ArrayList<>(List.of("a" + i, "b" + i, "c" + i).subList(0, 1 + random.nextInt(3)));
                    made.add(AiMessage.from(ids.stream()
                            .map(id -> call(id, "tool", "{\"id\":\"" + id + "\"}"))
                            .toList()));
                    Collections.shuffle(ids, random);
                    ids.forEach(id -> made.add(result(id)));
                }
            }
        }
        if (random.nextBoolean()) {
            made.add(user("next"));
        } else {
            made.add(calls("z"));
            made.add(result("z"));
        }
        return made;
    }

    private static List<ChatMessage> alternating(ChatMessage... messages) {
        ChatRequest request = ChatRequest.builder().messages(messages).build();
        return AlternatingRoles.transformer().apply(request).messages();
    }
}
