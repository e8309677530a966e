package io.github.keepsake4j.chat.keepsake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.guardrail.InputGuardrail;
import dev.langchain4j.guardrail.InputGuardrailResult;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.input.PromptTemplate;
import dev.langchain4j.rag.DefaultRetrievalAugmentor;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.injector.DefaultContentInjector;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.SeenMessages;
import io.github.keepsake4j.chat.turns.EndingTurns;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.SearchResult;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.OpenHomes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.text.MessageText;
import io.github.keepsake4j.transfer.MarkdownExport;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What the user wrote is known apart from what was added to it, in each kind of AI service and on each home. */
public class OwnWordsTest {

    private static final String ADDED = "\n\nAnswer using the following information:\n";
    private static final String FORMAT = "\nYou must answer strictly in the following format: integer number";

    public interface Chat {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    interface Counting {
        int count(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    interface Template {
        @dev.langchain4j.service.UserMessage("Say {{what}} in French")
        String say(@MemoryId Object id, @V("what") String what);
    }

    interface Contents {
        String see(
                @MemoryId Object id,
                @dev.langchain4j.service.UserMessage String text,
                @dev.langchain4j.service.UserMessage ImageContent image);
    }

    interface Texts {
        String read(
                @MemoryId Object id,
                @dev.langchain4j.service.UserMessage List<dev.langchain4j.data.message.Content> parts);
    }

    interface Overloaded {
        String ask(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);

        int ask(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text, @V("x") String x);
    }

    interface Seeing {
        int count(@MemoryId Object id, @dev.langchain4j.service.UserMessage ImageContent image);
    }

    interface Twice {
        String read(
                @MemoryId Object id,
                @dev.langchain4j.service.UserMessage String text,
                @dev.langchain4j.service.UserMessage List<dev.langchain4j.data.message.Content> parts);
    }

    /** Accepts everything as it is. */
    public static class Passing implements InputGuardrail {
        @Override
        public InputGuardrailResult validate(UserMessage question) {
            return success();
        }
    }

    /** Masks a card's number. */
    public static class Masking implements InputGuardrail {
        @Override
        public InputGuardrailResult validate(UserMessage question) {
            return successWith(question.singleText().replace("4711", "****"));
        }
    }

    /** A call of a service. */
    interface Call {
        void of(Keepsake keepsake, Script model, Column column);
    }

    /**
     * A kind of service, and what it leaves.
     *
     * @param stored the text of the question as it is stored, and as its own turn shows it
     * @param next its text in the requests of the next turn
     * @param own its text for people
     * @param found a word by which it is found
     * @param hidden a word by which it is not found
     * @param call calls the service
     */
    private record Row(String name, String stored, String next, String own, String found, String hidden, Call call) {}

    private static <T> AiServices<T> retrieving(AiServices<T> builder) {
        return builder.contentRetriever(query -> List.of(Content.from("You must know a fact")));
    }

    private static final String FACT = ADDED + "You must know a fact";

    private static List<Row> rows() {
        return List.of(
                new Row(
                        "plain",
                        "one apple",
                        "one apple",
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> column.builder(keepsake, Chat.class)
                                .chatModel(model)
                                .build()
                                .chat("c", "one apple")),
                new Row(
                        "retrieval",
                        "one apple" + FACT,
                        "one apple",
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Chat.class))
                                .chatModel(model)
                                .build()
                                .chat("c", "one apple")),
                new Row(
                        "retrieval, tools",
                        "one apple" + FACT,
                        "one apple",
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Chat.class))
                                .chatModel(model)
                                .tools(new EndingTurns.Tools())
                                .build()
                                .chat("c", "one apple")),
                new Row(
                        "structured",
                        "one apple" + FORMAT,
                        "one apple" + FORMAT,
                        "one apple",
                        "apple",
                        "strictly",
                        (keepsake, model, column) -> column.builder(keepsake, Counting.class)
                                .chatModel(model)
                                .build()
                                .count("c", "one apple")),
                new Row(
                        "retrieval, structured",
                        "one apple" + FACT + FORMAT,
                        "one apple" + FORMAT,
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Counting.class))
                                .chatModel(model)
                                .build()
                                .count("c", "one apple")),
                new Row(
                        "retrieval, template",
                        "Say apple in French" + FACT,
                        "Say apple in French",
                        "Say apple in French",
                        "french",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Template.class))
                                .chatModel(model)
                                .build()
                                .say("c", "apple")),
                new Row(
                        "retrieval, image",
                        "one apple" + FACT + "|IMAGE",
                        "one apple|IMAGE",
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Contents.class))
                                .chatModel(model)
                                .build()
                                .see("c", "one apple", ImageContent.from("AAAA", "image/png"))),
                new Row(
                        "texts and an image",
                        "one apple|IMAGE|two pears",
                        "one apple|IMAGE|two pears",
                        "one apple\ntwo pears",
                        "pears",
                        "fact",
                        (keepsake, model, column) -> column.builder(keepsake, Texts.class)
                                .chatModel(model)
                                .build()
                                .read(
                                        "c",
                                        List.of(
                                                TextContent.from("one apple"),
                                                ImageContent.from("AAAA", "image/png"),
                                                TextContent.from("two pears")))),
                new Row(
                        "own injector, structured",
                        "Facts: You must know a fact\nQ: one apple!" + FORMAT,
                        "one apple" + FORMAT,
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> column.builder(keepsake, Counting.class)
                                .chatModel(model)
                                .retrievalAugmentor(DefaultRetrievalAugmentor.builder()
                                        .contentRetriever(query -> List.of(Content.from("You must know a fact")))
                                        .contentInjector(new DefaultContentInjector(
                                                PromptTemplate.from("Facts: {{contents}}\nQ: {{userMessage}}!")))
                                        .build())
                                .build()
                                .count("c", "one apple")),
                new Row(
                        "quoted template",
                        "one apple" + ADDED + "mine",
                        "one apple" + ADDED + "mine",
                        "one apple" + ADDED + "mine",
                        "mine",
                        "fact",
                        (keepsake, model, column) -> column.builder(keepsake, Chat.class)
                                .chatModel(model)
                                .build()
                                .chat("c", "one apple" + ADDED + "mine")),
                new Row(
                        "retrieval, overloaded method",
                        "one apple" + FACT + FORMAT,
                        "one apple" + FORMAT,
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Overloaded.class))
                                .chatModel(model)
                                .build()
                                .ask("c", "one apple", "x")),
                new Row(
                        "image alone, structured",
                        "IMAGE|" + FORMAT,
                        "IMAGE|" + FORMAT,
                        "",
                        "imaginary",
                        "strictly",
                        (keepsake, model, column) -> column.builder(keepsake, Seeing.class)
                                .chatModel(model)
                                .build()
                                .count("c", ImageContent.from("AAAA", "image/png"))),
                new Row(
                        "the same text twice, retrieval",
                        "one apple" + FACT + "|one apple",
                        "one apple|one apple",
                        "one apple\none apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Twice.class))
                                .chatModel(model)
                                .build()
                                .read("c", "one apple", List.of(TextContent.from("one apple")))),
                new Row(
                        "a guardrail that changes nothing, retrieval",
                        "one apple" + FACT,
                        "one apple",
                        "one apple",
                        "apple",
                        "fact",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Chat.class))
                                .chatModel(model)
                                .inputGuardrails(new Masking())
                                .build()
                                .chat("c", "one apple")),
                new Row(
                        "masking, then a guardrail that passes",
                        "card 4711",
                        "card 4711",
                        "card 4711",
                        "card",
                        "fact",
                        (keepsake, model, column) -> column.builder(keepsake, Chat.class)
                                .chatModel(model)
                                .inputGuardrails(new Masking(), new Passing())
                                .build()
                                .chat("c", "card 4711")),
                new Row(
                        "masking, structured",
                        "card ****" + FORMAT,
                        "card ****" + FORMAT,
                        "card 4711",
                        "card",
                        "strictly",
                        (keepsake, model, column) -> column.builder(keepsake, Counting.class)
                                .chatModel(model)
                                .inputGuardrails(new Masking())
                                .build()
                                .count("c", "card 4711")),
                new Row(
                        "masking",
                        "card ****",
                        "card ****",
                        "card 4711",
                        "card",
                        "4711",
                        (keepsake, model, column) -> column.builder(keepsake, Chat.class)
                                .chatModel(model)
                                .inputGuardrails(new Masking())
                                .build()
                                .chat("c", "card 4711")),
                new Row(
                        "masking, nothing retrieved is stored",
                        "card ****",
                        "card ****",
                        "card 4711",
                        "card",
                        "4711",
                        (keepsake, model, column) -> column.builder(keepsake, Chat.class)
                                .chatModel(model)
                                .inputGuardrails(new Masking())
                                .storeRetrievedContentInChatMemory(false)
                                .build()
                                .chat("c", "card 4711")),
                new Row(
                        "masking, retrieval",
                        "card ****" + FACT,
                        "card ****" + FACT,
                        "card 4711",
                        "card",
                        "4711",
                        (keepsake, model, column) -> retrieving(column.builder(keepsake, Chat.class))
                                .chatModel(model)
                                .inputGuardrails(new Masking())
                                .build()
                                .chat("c", "card 4711")));
    }

    @AutoClose
    private static final OpenHomes LOGS = new OpenHomes();

    @TestFactory
    Stream<DynamicTest> table() {
        List<Column> columns = List.of(Column.AI_SERVICES, Column.ATTACH, Column.LISTENERS_ONLY);
        List<Row> rows = rows();
        List<DynamicTest> tests = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            for (Home home : Home.values()) {
                // A home stores what the service tells: with reduced counts, one column of each row in turn is enough.
                boolean all = home == Home.IN_MEMORY || Counts.isFull();
                int turn = (i + home.ordinal()) % columns.size();
                for (Column column : all ? columns : columns.subList(turn, turn + 1)) {
                    tests.add(DynamicTest.dynamicTest(
                            row.name() + ", " + column + ", " + home, () -> check(row, column, home)));
                }
            }
        }
        return tests.stream();
    }

    private static void check(Row row, Column column, Home home) throws Exception {
        MessageLog log = LOGS.log(home);
        String tenant = row.name() + ", " + column;
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .tenant(tenant)
                .index(new InMemoryMessageIndex())
                .build();
        Script model = row.name().contains("tools") ? new Script(EndingTurns.toolCall("t1"), "1") : new Script("1");
        row.call().of(keepsake, model, column);
        Script next = new Script("ok");
        column.builder(keepsake, Chat.class).chatModel(next).build().chat("c", "two");

        MemoryKey key = keepsake.conversation("c").key();
        List<LoggedMessage> all =
                keepsake.conversation("c").history(HistoryQuery.oldest(100)).messages();
        LoggedMessage question = all.get(0);
        assertThat(text(question.message())).isEqualTo(row.stored());
        assertThat(question.userText()).isEqualTo(row.own());
        assertThat(all)
                .filteredOn(message -> message.message() instanceof UserMessage)
                .hasSize(2);
        for (ChatRequest request : model.requests) {
            assertThat(text(request.messages().get(0))).as("in its own turn").isEqualTo(row.stored());
        }
        ChatRequest later = next.requests.get(0);
        assertThat(text(later.messages().get(0))).as("in the next turn").isEqualTo(row.next());
        String answer = all.get(all.size() - 1).id();
        SeenMessages seen = keepsake.conversation("c").seenBy(answer).orElseThrow();
        assertThat(seen.messages()).extracting(LoggedMessage::message).isEqualTo(later.messages());
        assertThat(seen.altered()).isFalse();
        assertThat(keepsake.search().find(Scope.memory(key), row.hidden()).hits())
                .isEmpty();
        List<SearchResult.Hit> hits =
                keepsake.search().find(Scope.memory(key), row.found()).hits();
        if (row.found().equals("imaginary")) {
            assertThat(hits).isEmpty();
            return;
        }
        assertThat(hits).hasSize(1);
        SearchResult.Highlight highlight = hits.get(0).highlights().get(0);
        assertThat(hits.get(0)
                        .text()
                        .substring(highlight.start(), highlight.end())
                        .toLowerCase(java.util.Locale.ROOT))
                .isEqualTo(row.found());
        StringBuilder export = new StringBuilder();
        MarkdownExport.of(log).writeMemory(key, export);
        assertThat(export).contains(row.own().split("\n")[0]).doesNotContain("a fact");
    }

    private static String text(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.contents().stream()
                    .map(content -> content instanceof TextContent text
                            ? text.text()
                            : content.type().name())
                    .collect(Collectors.joining("|"));
        }
        return MessageText.of(message);
    }
}
