package io.github.keepsake4j.testing;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.ProviderRules.Rule;
import io.github.keepsake4j.testing.ProviderRules.Violation;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Checks that each rule can fail, and that lists that providers accept are not refused. */
class ProviderRulesTest {

    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");

    @Test
    void what_providers_take_breaks_no_rule() {
        assertThat(ProviderRules.all(List.of())).isEmpty();
        assertThat(ProviderRules.all(List.of(SYSTEM))).isEmpty();
        assertFine(SYSTEM, user("1"), ai("2"), user("3"));
        assertFine(user("1"), calls("a", "b"), result("b"), result("a"), calls("c"), result("c"), ai("2"));
        assertFine(user("1"), user("2"), ai("to 1"), ai("to 2"));
        assertFine(
                UserMessage.from(TextContent.from("look"), ImageContent.from("https://example.org/a.png")),
                AiMessage.builder()
                        .text(" ")
                        .toolExecutionRequests(List.of(call("a", "tool", "{}")))
                        .build(),
                ToolExecutionResultMessage.from("a", "tool", ""));
    }

    @Test
    void calls_without_ids_are_matched_by_name() {
        AiMessage two = AiMessage.from(call(null, "x", "{}"), call(null, "y", "{}"));
        ToolExecutionResultMessage x = ToolExecutionResultMessage.from(null, "x", "1");
        ToolExecutionResultMessage y = ToolExecutionResultMessage.from(null, "y", "2");

        assertFine(user("1"), two, y, x);
        assertBreaks(
                List.of(user("1"), two, x, x),
                new Violation(3, Rule.A_CALL_HAS_ONE_RESULT),
                new Violation(1, Rule.CALLS_ARE_ANSWERED_AT_ONCE));
    }

    @Test
    void unanswered_calls_are_refused_in_the_middle_and_at_the_end() {
        Violation violation = new Violation(1, Rule.CALLS_ARE_ANSWERED_AT_ONCE);

        assertBreaks(List.of(user("1"), calls("a")), violation);
        assertBreaks(List.of(user("1"), calls("a", "b"), result("a")), violation);
        assertBreaks(List.of(user("1"), calls("a"), user("2"), ai("3")), violation);
        assertBreaks(List.of(user("1"), calls("a", "b"), result("a"), ai("2")), violation);
    }

    @Test
    void results_behind_something_else_are_refused() {
        assertBreaks(
                List.of(user("1"), calls("a"), user("2"), result("a")),
                new Violation(1, Rule.CALLS_ARE_ANSWERED_AT_ONCE),
                new Violation(3, Rule.A_RESULT_HAS_ITS_CALL));
    }

    @Test
    void a_result_without_its_call_is_refused() {
        assertBreaks(List.of(user("1"), result("a")), new Violation(1, Rule.A_RESULT_HAS_ITS_CALL));
        assertBreaks(
                List.of(user("1"), calls("a"), result("a"), result("b")), new Violation(3, Rule.A_RESULT_HAS_ITS_CALL));
    }

    @Test
    void a_second_result_is_refused() {
        assertBreaks(
                List.of(user("1"), calls("a"), result("a"), result("a")), new Violation(3, Rule.A_CALL_HAS_ONE_RESULT));
    }

    @Test
    void something_else_before_the_user_is_refused() {
        assertBreaks(List.of(ai("hello"), user("1")), new Violation(0, Rule.USER_FIRST));
        assertBreaks(List.of(SYSTEM, ai("hello")), new Violation(1, Rule.USER_FIRST));
    }

    @Test
    void a_second_or_late_system_message_is_refused() {
        assertBreaks(List.of(user("1"), SYSTEM), new Violation(1, Rule.ONE_SYSTEM_MESSAGE_AND_FIRST));
        assertBreaks(List.of(SYSTEM, user("1"), SYSTEM), new Violation(2, Rule.ONE_SYSTEM_MESSAGE_AND_FIRST));
    }

    @Test
    void a_blank_text_is_refused_by_those_that_do() {
        UserMessage beside = UserMessage.from(ImageContent.from("https://example.org/a.png"), TextContent.from("\n"));
        for (List<ChatMessage> list : List.<List<ChatMessage>>of(
                List.of(user("1"), ai("2"), user(" ")), List.of(user("1"), ai("2"), beside))) {
            assertThat(ProviderRules.anthropic(list)).containsExactly(new Violation(2, Rule.NO_BLANK_TEXT));
            assertThat(ProviderRules.gemini(list)).containsExactly(new Violation(2, Rule.NO_BLANK_TEXT));
            assertThat(ProviderRules.openAi(list)).isEmpty();
        }
        assertThat(ProviderRules.anthropic(List.of(user("1"), ai(""))))
                .containsExactly(new Violation(1, Rule.NO_BLANK_TEXT));
    }

    @Test
    void an_assistant_message_without_text_and_calls_is_refused() {
        List<ChatMessage> list =
                List.of(user("1"), AiMessage.builder().thinking("hm").build());

        assertThat(ProviderRules.openAi(list))
                .containsExactly(new Violation(1, Rule.AN_ASSISTANT_MESSAGE_SAYS_SOMETHING));
    }

    @Test
    void calls_behind_an_answer_are_refused_by_gemini() {
        List<ChatMessage> list = List.of(user("1"), ai("2"), calls("a"), result("a"));

        assertThat(ProviderRules.gemini(list)).containsExactly(new Violation(2, Rule.CALLS_FOLLOW_A_USER_OR_A_RESULT));
        assertThat(ProviderRules.openAi(list)).isEmpty();
        assertThat(ProviderRules.anthropic(list)).isEmpty();
        assertThat(ProviderRules.all(list)).hasSize(1);
    }

    @Test
    void a_request_that_ends_with_an_answer_or_is_empty_is_refused() {
        assertThat(ProviderRules.request(List.of(user("1"), calls("a"), result("a"), ai("2"))))
                .containsExactly(new Violation(3, Rule.ENDS_WITH_A_USER_OR_A_RESULT));
        assertThat(ProviderRules.request(List.of()))
                .containsExactly(new Violation(-1, Rule.ENDS_WITH_A_USER_OR_A_RESULT));
        assertThat(ProviderRules.request(List.of(SYSTEM, user("1")))).isEmpty();
        assertThat(ProviderRules.request(List.of(user("1"), calls("a"), result("a"))))
                .isEmpty();
    }

    @Test
    void an_unknown_type_is_refused() {
        assertBreaks(
                List.of(user("1"), new UnknownMessage(Map.of("type", "HOLOGRAM"))), new Violation(1, Rule.KNOWN_ROLES));
    }

    @Test
    void two_of_a_role_break_alternation_and_nothing_else() {
        assertThat(ProviderRules.alternation(List.of(user("1"), user("2"), ai("3"), ai("4"))))
                .containsExactly(new Violation(1, Rule.ROLES_ALTERNATE), new Violation(3, Rule.ROLES_ALTERNATE));
        assertThat(ProviderRules.alternation(List.of(user("1"), calls("a"), result("a"), user("2"))))
                .containsExactly(new Violation(3, Rule.ROLES_ALTERNATE));
        assertThat(ProviderRules.alternation(List.of(user("1"), calls("a"), result("a"), ai("2"), user("3"))))
                .isEmpty();
    }

    private static void assertFine(ChatMessage... messages) {
        assertThat(ProviderRules.all(List.of(messages))).isEmpty();
    }

    /** Checks that each of the three refuses the list, for the same reasons. */
    private static void assertBreaks(List<ChatMessage> messages, Violation... violations) {
        assertThat(ProviderRules.openAi(messages)).containsExactlyInAnyOrder(violations);
        assertThat(ProviderRules.anthropic(messages)).containsExactlyInAnyOrder(violations);
        assertThat(ProviderRules.gemini(messages)).containsExactlyInAnyOrder(violations);
    }
}
