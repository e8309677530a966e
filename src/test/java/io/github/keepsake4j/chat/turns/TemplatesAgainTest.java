package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.guardrail.InputGuardrail;
import dev.langchain4j.guardrail.InputGuardrailResult;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.SeenMessages;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Stored questions that services with a template ask again. */
public class TemplatesAgainTest {

    private static final String TEMPLATE = "Translate into {{language}}: {{text}}";
    private static final String ASKED = "Translate into French: hello";
    private static final String FACT = "\n\nAnswer using the following information:\na fact";
    private static final String FORMAT = "\nYou must answer strictly in the following format: integer number";
    private static final RuntimeException DOWN = new IllegalStateException("down");

    interface Translator {
        @UserMessage(TEMPLATE)
        String translate(@MemoryId Object id, @V("language") String language, @V("text") String text);
    }

    interface Counter {
        @UserMessage(TEMPLATE)
        int count(@MemoryId Object id, @V("language") String language, @V("text") String text);
    }

    interface Streamer {
        @UserMessage(TEMPLATE)
        TokenStream translate(@MemoryId Object id, @V("language") String language, @V("text") String text);
    }

    interface Viewer {
        @UserMessage(TEMPLATE)
        String see(
                @MemoryId Object id,
                @V("language") String language,
                @V("text") String text,
                @UserMessage ImageContent image);
    }

    public interface ByDefault {
        @UserMessage(TEMPLATE)
        String translate(@MemoryId Object id, @V("language") String language, @V("text") String text);

        default String french(Object id, String text) {
            return translate(id, "French", text);
        }
    }

    /** Masks a word, with a text before it. */
    static class Masking implements InputGuardrail {
        @Override
        public InputGuardrailResult validate(dev.langchain4j.data.message.UserMessage question) {
            return successWith("Please: " + question.singleText().replace("hello", "h***o"));
        }
    }

    private final MessageLog log = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsake.builder().messageLog(log).build();
    private final Conversation chat = keepsake.conversation("c");

    /** Returns the texts of a question, and the kinds of its other contents. */
    static String text(ChatMessage message) {
        return ((dev.langchain4j.data.message.UserMessage) message)
                .contents().stream()
                        .map(content -> content instanceof TextContent text
                                ? text.text()
                                : content.type().name())
                        .collect(Collectors.joining("|"));
    }

    private static <T> AiServices<T> retrieving(AiServices<T> builder) {
        return builder.contentRetriever(query -> List.of(Content.from("a fact")));
    }

    private String newest() {
        return chat.branch(1).messages().get(0).id();
    }

    /** Asks, and regenerates and retries the answer; the question is always the same. */
    private <T> void always(
            String asked, Column column, Class<T> type, UnaryOperator<AiServices<T>> with, Call<T> call) {
        Script model = new Script("1", "2", "3");
        T service = with.apply(column.builder(keepsake, type).chatModel(model)).build();
        call.of(service, "hello");
        String answer = newest();
        String question = chat.questionOf(answer).orElseThrow().id();
        chat.regenerate(answer, own -> call.of(service, text(own).replace("|IMAGE", "")));
        SeenMessages regenerated = chat.seenBy(newest()).orElseThrow();
        chat.retry(question, own -> call.of(service, text(own).replace("|IMAGE", "")));

        assertThat(model.requests)
                .extracting(request ->
                        text(request.messages().get(request.messages().size() - 1)))
                .containsExactly(asked, asked, asked);
        assertThat(text(chat.questionOf(newest()).orElseThrow().message())).isEqualTo(asked);
        assertThat(regenerated.altered()).isFalse();
        assertThat(text(regenerated.messages().get(0).message())).isEqualTo(asked);
        assertThat(chat.tree(10))
                .extracting(node -> node.message().message().type())
                .containsExactly(ChatMessageType.USER, ChatMessageType.AI, ChatMessageType.AI, ChatMessageType.AI);
    }

    interface Call<T> {
        Object of(T service, String text);
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH"})
    void a_template_was_applied_twice(Column column) {
        always(
                ASKED,
                column,
                Translator.class,
                with -> with,
                (service, text) -> service.translate("c", "French", text));
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH"})
    void a_template_was_applied_twice_in_front_of_what_was_retrieved_and_of_the_format(Column column) {
        always(
                ASKED + FACT + FORMAT,
                column,
                Counter.class,
                TemplatesAgainTest::retrieving,
                (service, text) -> service.count("c", "French", text));
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH"})
    void a_template_was_applied_twice_before_a_guardrail_rewrote_the_question(Column column) {
        always(
                "Please: " + ASKED.replace("hello", "h***o"),
                column,
                Translator.class,
                with -> with.inputGuardrails(new Masking()),
                (service, text) -> service.translate("c", "French", text));
    }

    @Test
    void a_template_was_applied_twice_beside_an_image() {
        ImageContent image = ImageContent.from("AAAA", "image/png");
        always(
                ASKED + FACT + "|IMAGE",
                Column.AI_SERVICES,
                Viewer.class,
                TemplatesAgainTest::retrieving,
                (service, text) -> service.see("c", "French", text, image));
    }

    @Test
    void a_template_was_applied_twice_by_a_default_method() {
        always(ASKED, Column.AI_SERVICES, ByDefault.class, with -> with, (service, text) -> service.french("c", text));
    }

    @Test
    void a_template_was_applied_twice_before_tool_rounds() {
        Script model = new Script(toolCall("t"), DOWN, toolCall("u"), "a");
        Translator service = keepsake.aiServices(Translator.class)
                .chatModel(model)
                .tools(new EndingTurns.Tools())
                .build();
        assertThatThrownBy(() -> service.translate("c", "French", "hello")).isSameAs(DOWN);
        String question = keepsake.conversation("c").branch(3).messages().get(0).id();

        chat.retry(question, own -> service.translate("c", "French", own.singleText()));

        String words = "U(" + ASKED + ")";
        assertThat(model.requests)
                .extracting(request -> EndingTurns.text(request.messages()))
                .containsExactly(
                        words, words + ", C(t), R(t)", words + ", C(t), R(t)", words + ", C(t), R(t), C(u), R(u)");
        assertThat(history(keepsake, "c")).isEqualTo(words + ", C(t), R(t), C(u), R(u), A(a)");
    }

    @Test
    void a_template_was_applied_twice_in_a_stream() throws Exception {
        StreamScript model = new StreamScript(
                sink -> sink.tokens("a").done("a"), sink -> sink.tokens("b").done("b"));
        Streamer service =
                keepsake.aiServices(Streamer.class).streamingChatModel(model).build();
        EndingTurns.quiet(service.translate("c", "French", "hello")).start();
        model.await();

        TokenStream again = chat.regenerate(newest(), own -> service.translate("c", "French", own.singleText()));
        EndingTurns.quiet(again).start();
        model.await();

        assertThat(EndingTurns.text(model.requests.get(1).messages())).isEqualTo("U(" + ASKED + ")");
        assertThat(history(keepsake, "c")).isEqualTo("U(" + ASKED + "), A(a), A(b)");
    }

    @ParameterizedTest
    @Homes
    void listeners_alone_sent_a_template_twice_in_each_home(MessageLog homeLog) throws Exception {
        Keepsake there = Keepsake.builder().messageLog(homeLog).build();
        Script model = new Script("a", "b", "c");
        Translator service = Column.LISTENERS_ONLY
                .builder(there, Translator.class)
                .chatModel(model)
                .systemMessageProvider(id -> "request " + model.requests.size())
                .build();
        service.translate("c", "French", "hello");
        Conversation conversation = there.conversation("c");
        List<LoggedMessage> before = conversation.branch(9).messages();
        String answer = before.get(2).id();
        String question = before.get(1).id();

        assertThrown(
                        InvalidInputException.class,
                        () -> conversation.regenerate(
                                answer, own -> service.translate("c", "French", own.singleText())),
                        "Keepsake.attach")
                .hasMessageNotContaining("hello");
        assertThrown(
                InvalidInputException.class,
                () -> conversation.retry(question, own -> service.translate("c", "French", own.singleText())));

        assertThat(conversation.branch(9).messages()).isEqualTo(before);
        assertThat(model.requests).hasSize(1);
        String byVariables = conversation.regenerate(answer, own -> service.translate("c", "French", "hello"));
        assertThat(byVariables).isEqualTo("b");
    }

    @ParameterizedTest
    @Homes
    void a_template_was_applied_twice_in_each_home(MessageLog homeLog) throws Exception {
        Keepsake there = Keepsake.builder().messageLog(homeLog).build();
        Script model = new Script("a", "b", "c");
        Translator service =
                retrieving(there.aiServices(Translator.class)).chatModel(model).build();
        service.translate("c", "French", "hello");
        Conversation conversation = there.conversation("c");
        String answer = conversation.branch(1).messages().get(0).id();

        conversation.regenerate(answer, own -> service.translate("c", "French", own.singleText()));
        service.translate("c", "French", "bye");

        assertThat(model.requests.get(1).messages())
                .isEqualTo(model.requests.get(0).messages());
        assertThat(EndingTurns.text(model.requests.get(2).messages()))
                .isEqualTo("U(" + ASKED + "), A(b), U(Translate into French: bye)");
    }

    interface AnyText {
        @UserMessage("{{text}}")
        String chat(@MemoryId Object id, @V("text") String text);
    }

    @ParameterizedTest
    @Homes
    void braces_of_a_user_were_variables(MessageLog homeLog) throws Exception {
        Keepsake there = Keepsake.builder().messageLog(homeLog).build();
        for (Column column : List.of(Column.ATTACH, Column.LISTENERS_ONLY)) {
            Script model = new Script("a");
            AnyText service =
                    column.builder(there, AnyText.class).chatModel(model).build();
            for (String text :
                    List.of("{{ user.name }}", "{{current_date}}", "{{text}}", "{{it}} }} {{", "$1 \\ {a}")) {
                String id = column + " " + text.hashCode();
                Conversation conversation = there.conversation(id);
                service.chat(id, text);
                List<LoggedMessage> stored = conversation.branch(9).messages();
                String question = stored.get(0).id();
                conversation.regenerate(stored.get(1).id(), own -> service.chat(id, own.singleText()));
                conversation.retry(question, own -> service.chat(id, own.singleText()));
                conversation.turn(Turn.edit(question), () -> service.chat(id, text));

                assertThat(model.requests)
                        .extracting(request -> text(request.messages().get(0)))
                        .containsExactly(text, text, text, text);
                assertThat(stored.get(0).userText()).isEqualTo(text);
                model.requests.clear();
            }
        }
    }
}
