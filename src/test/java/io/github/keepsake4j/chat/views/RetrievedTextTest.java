package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.Keepsake.ShowRetrieved;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.turns.EndingTurns;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.Tools;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Later requests leave out what was retrieved for a question, and limits count what is shown. */
class RetrievedTextTest {

    private static final TokenCounter COUNTER = TokenCounter.named("words", new WordCounter());

    public interface Chat {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    interface CountingTurns {
        int count(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text, Turn turn);
    }

    private final InMemoryMessageLog log = new InMemoryMessageLog();

    private static Keepsake keepsake(MessageLog log, int limit, ShowRetrieved show) {
        return Keepsake.builder()
                .messageLog(log)
                .strategy(TokenLimit.withMaxTokens(limit, COUNTER))
                .showRetrieved(show)
                .build();
    }

    /** Asks a question for which 100 words are retrieved. */
    private static ChatRequest ask(Keepsake keepsake, String id, String question) {
        Script model = new Script("yes");
        keepsake.aiServices(Chat.class)
                .chatModel(model)
                .contentRetriever(query -> List.of(Content.from(words("fact", 100))))
                .build()
                .chat(id, question);
        return model.requests.get(0);
    }

    private static int size(List<ChatMessage> messages) {
        return new WordCounter().estimateTokenCountInMessages(messages);
    }

    @Test
    void later_requests_of_12_questions_hold_nothing_of_earlier_retrieval() {
        Keepsake current = keepsake(log, 100_000, ShowRetrieved.CURRENT_TURN);
        Keepsake all = keepsake(log, 100_000, ShowRetrieved.ALL_TURNS);
        int ofCurrent = 0;
        int ofAll = 0;
        for (int i = 0; i < 12; i++) {
            List<ChatMessage> one = ask(current, "current", "question " + i).messages();
            List<ChatMessage> other = ask(all, "all", "question " + i).messages();
            ofCurrent += size(one);
            ofAll += size(other);
            assertThat(size(one))
                    .as("two words for each question, one for each answer, and what is retrieved for the last question")
                    .isEqualTo(WordCounter.PER_LIST + 3 * i + 2 + 5 + 100);
            assertThat(one.subList(0, 2 * i)).doesNotContain(one.get(2 * i)).allSatisfy(message -> assertThat(
                            EndingTurns.text(List.of(message)))
                    .doesNotContain("fact"));
            assertThat(size(other)).isEqualTo(WordCounter.PER_LIST + (3 + 105) * i + 2 + 105);
        }
        assertThat(ofCurrent).isLessThan(ofAll / 5);
    }

    @Test
    void a_limit_is_used_to_within_one_turn_in_both_settings() {
        for (ShowRetrieved show : ShowRetrieved.values()) {
            String id = show.name();
            Keepsake keepsake = keepsake(log, 400, show);
            int turn = show == ShowRetrieved.ALL_TURNS ? 10 + 105 + 1 : 10 + 1;
            for (int i = 0; i < 60; i++) {
                List<ChatMessage> request =
                        ask(keepsake, id, words("question" + i, 10)).messages();
                int shown = size(request.subList(0, request.size() - 1));
                assertThat(shown).isLessThanOrEqualTo(400);
                if (i * turn > 400) {
                    assertThat(shown).as("%s, question %s", show, i).isGreaterThan(400 - 2 * turn);
                }
            }
            assertThat(keepsake.conversation(id).explain().tokens()).isBetween(400L - 2 * turn, 400L);
        }
    }

    /** Another counter counts the messages of the log anew. It must count the form that is shown. */
    @Test
    void another_counter_counts_the_form_that_is_shown() {
        Keepsake keepsake = keepsake(log, 400, ShowRetrieved.CURRENT_TURN);
        for (int i = 0; i < 30; i++) {
            ask(keepsake, "c", words("question" + i, 10));
        }
        for (ShowRetrieved show : ShowRetrieved.values()) {
            Keepsake other = Keepsake.builder()
                    .messageLog(log)
                    .strategy(TokenLimit.withMaxTokens(200, TokenCounter.named("others", new WordCounter())))
                    .showRetrieved(show)
                    .build();
            int turn = show == ShowRetrieved.ALL_TURNS ? 10 + 105 + 1 : 10 + 1;
            assertThat(size(other.conversation("c").messages())).as("%s", show).isBetween(200 - turn, 200);
        }
    }

    @Test
    void a_cold_turn_reads_as_often_as_without_retrieval() {
        List<Integer> calls = new ArrayList<>();
        for (boolean retrieves : List.of(false, true)) {
            String id = "c" + retrieves;
            CountedLog counted = new CountedLog();
            for (int i = 0; i < 30; i++) {
                counted.reset();
                Keepsake cold = keepsake(counted.around(log), 400, ShowRetrieved.CURRENT_TURN);
                Column.AI_SERVICES
                        .builder(cold, Chat.class)
                        .chatModel(new Script(EndingTurns.toolCall("t" + i), "yes"))
                        .tools(new Tools())
                        .contentRetriever(query -> retrieves ? List.of(Content.from(words("fact", 100))) : List.of())
                        .build()
                        .chat(id, words("question" + i, 10));
            }
            calls.add(counted.calls);
        }
        assertThat(calls.get(1)).isEqualTo(calls.get(0));
    }

    @Test
    void a_retry_after_a_tool_round_sends_retrieval_and_format_again() {
        Keepsake keepsake = keepsake(log, 100_000, ShowRetrieved.CURRENT_TURN);
        List<String> facts = new ArrayList<>(List.of("old fact", "new fact"));
        Script model = new Script(
                EndingTurns.toolCall("t"), new IllegalStateException("down"), EndingTurns.toolCall("u"), "7", "8");
        CountingTurns service = keepsake.aiServices(CountingTurns.class)
                .chatModel(model)
                .tools(new Tools())
                .contentRetriever(query -> List.of(Content.from(facts.get(0))))
                .build();
        EndingTurns.ignoring(nothing -> service.count("c", "how many", Turn.on("main")));
        LoggedMessage question = keepsake.conversation("c")
                .history(HistoryQuery.oldest(1))
                .messages()
                .get(0);
        facts.remove(0);

        int answer = service.count("c", "how many", Turn.retry(question.id()).onBranch("main"));

        assertThat(answer).isEqualTo(7);
        String asked = "how many\n\nAnswer using the following information:\nnew fact\nYou must answer strictly in the"
                + " following format: integer number";
        for (int request = 2; request < 4; request++) {
            List<ChatMessage> messages = model.requests.get(request).messages();
            assertThat(messages).filteredOn(UserMessage.class::isInstance).containsExactly(UserMessage.from(asked));
        }
        assertThat(service.count("c", "and now", Turn.on("main"))).isEqualTo(8);
        assertThat(model.requests.get(4).messages().get(0))
                .isEqualTo(
                        UserMessage.from("how many\nYou must answer strictly in the following format: integer number"));
    }

    /** Lists with either form come back from JSON, through a stock window and through the memory itself. */
    @Test
    void a_list_with_any_form_of_a_question_stores_nothing_twice() {
        Random random = new Random(Counts.seed(34));
        for (int run = 0; run < Counts.of(50, 1_000); run++) {
            String id = "c" + run;
            Keepsake keepsake = keepsake(log, 100_000, ShowRetrieved.values()[random.nextInt(2)]);
            for (int i = random.nextInt(5); i >= 0; i--) {
                ask(keepsake, id, "question " + random.nextInt(3));
            }
            List<LoggedMessage> stored =
                    keepsake.conversation(id).history(HistoryQuery.oldest(100)).messages();
            List<ChatMessage> list = new ArrayList<>();
            stored.forEach(each -> list.add(random.nextBoolean() ? each.message() : each.later()));
            List<ChatMessage> read =
                    ChatMessageDeserializer.messagesFromJson(ChatMessageSerializer.messagesToJson(list));
            if (random.nextBoolean()) {
                new KeepsakeSetter(keepsake, id).set(read);
            } else {
                keepsake.chatMemoryStore().updateMessages(id, read);
                MessageWindowChatMemory window = Dialogue.window(id, 1_000, keepsake.chatMemoryStore());
                window.add(AiMessage.from("more"));
                window.set(window.messages());
            }
            long added = keepsake.conversation(id).history(HistoryQuery.oldest(100)).messages().stream()
                    .filter(each -> each.message() instanceof UserMessage)
                    .count();
            assertThat(added).as("run %s", run).isEqualTo(stored.size() / 2);
        }
    }

    private record KeepsakeSetter(Keepsake keepsake, String id) {
        void set(List<ChatMessage> list) {
            KeepsakeChatMemory memory = keepsake.chatMemory(id);
            memory.set(list);
            assertThat(memory.messages()).hasSameSizeAs(list);
        }
    }
}
