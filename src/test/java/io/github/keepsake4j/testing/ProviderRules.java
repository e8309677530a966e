package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The providers' requirements for a list of messages, written from their own references and from the errors of their
 * APIs. The rules do not depend on how this library makes a list, so they can judge any list.
 *
 * <p>A memory's list at the beginning of a turn is not a whole request: an AI service appends the user's message afterwards, so
 * the list may be empty and may end with an answer. {@link #request} judges a whole request.
 */
public final class ProviderRules {

    /** A rule, with the place where the provider states it. */
    public enum Rule {
        /**
         * An assistant message with tool calls is followed directly by one result for each of its calls, in any order.
         *
         * <p>OpenAI, error 400: "An assistant message with 'tool_calls' must be followed by tool messages responding to
         * each 'tool_call_id'". Anthropic, platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls (the
         * result blocks must immediately follow their tool use blocks) and error 400: "`tool_use` ids were found without
         * `tool_result` blocks immediately after". Gemini, error 400: "the number of function response parts is equal to
         * the number of function call parts of the function call turn".
         */
        CALLS_ARE_ANSWERED_AT_ONCE,

        /**
         * A tool result answers a call of the assistant message directly before it (other results may be in between).
         *
         * <p>OpenAI, error 400: "messages with role 'tool' must be a response to a preceeding message with
         * 'tool_calls'". Anthropic, error 400: "unexpected `tool_use_id` found in `tool_result` blocks".
         */
        A_RESULT_HAS_ITS_CALL,

        /**
         * A call has one result, not several.
         *
         * <p>Anthropic, error 400: "each tool_use must have a single result. Found multiple `tool_result` blocks with id".
         * Gemini counts responses against calls, as above.
         */
        A_CALL_HAS_ONE_RESULT,

        /**
         * The first message after the system message is a user message.
         *
         * <p>Anthropic, error 400: "messages: first message must use the "user" role". Gemini requires it for calls
         * (error 400 "function call turn comes immediately after a user turn or after a function response turn") and,
         * with older models, for all messages. OpenAI itself accepts an assistant message first. The chat templates of
         * models on servers that use its protocol do not ("Conversation roles must alternate user/assistant/...").
         */
        USER_FIRST,

        /**
         * There is at most one system message, and it is the first message.
         *
         * <p>Anthropic and Gemini have one place for it outside of the messages ({@code system},
         * {@code systemInstruction}) and no such role among them. OpenAI itself accepts several. Chat templates on
         * servers that use its protocol answer with "System message must be at the beginning."
         */
        ONE_SYSTEM_MESSAGE_AND_FIRST,

        /**
         * No text of a user or assistant message is empty or blank. An assistant message with calls needs no text, and
         * LangChain4j's mappers leave a blank one out.
         *
         * <p>Anthropic, error 400: "text content blocks must be non-empty", "text content blocks must contain
         * non-whitespace text". Gemini, error 400: "must include at least one parts field".
         */
        NO_BLANK_TEXT,

        /**
         * An assistant message has a text or calls.
         *
         * <p>OpenAI, API reference of the assistant message: content is required unless tool_calls is given.
         */
        AN_ASSISTANT_MESSAGE_SAYS_SOMETHING,

        /**
         * A message with calls directly follows a user message or a tool result.
         *
         * <p>Gemini, error 400: "Please ensure that function call turn comes immediately after a user turn or after a
         * function response turn".
         */
        CALLS_FOLLOW_A_USER_OR_A_RESULT,

        /**
         * A request ends with a user message or a tool result.
         *
         * <p>Gemini, error 400: "Please ensure that multiturn requests end with a user role or a function response".
         * Anthropic's reference: if the final message uses the assistant role, the response continues from it, and newer models
         * refuse it ("This model does not support assistant message prefill. The conversation must end with a user message.").
         */
        ENDS_WITH_A_USER_OR_A_RESULT,

        /**
         * Only system, user, assistant and tool messages are sent.
         *
         * <p>None of the three APIs has another role for a chat; LangChain4j's mappers refuse a {@link CustomMessage}.
         */
        KNOWN_ROLES,

        /**
         * User and assistant alternate; results belong to the user's side.
         *
         * <p>No current API of the three requires it (Anthropic's reference: consecutive turns of one role are
         * combined), but older Gemini models do ("Please ensure that multiturn requests alternate between user and
         * model"), and so do chat templates of open models. A memory cannot always satisfy it, because two turns can
         * interleave.
         */
        ROLES_ALTERNATE
    }

    /**
     * A violation of a rule.
     *
     * @param index the index of the message, from 0; that of the calls' message if results are missing
     * @param rule the rule
     */
    public record Violation(int index, Rule rule) {}

    private static final Set<Rule> EVERY_PROVIDER = EnumSet.of(
            Rule.CALLS_ARE_ANSWERED_AT_ONCE,
            Rule.A_RESULT_HAS_ITS_CALL,
            Rule.A_CALL_HAS_ONE_RESULT,
            Rule.USER_FIRST,
            Rule.ONE_SYSTEM_MESSAGE_AND_FIRST,
            Rule.AN_ASSISTANT_MESSAGE_SAYS_SOMETHING,
            Rule.KNOWN_ROLES);

    private final List<ChatMessage> messages;
    private final List<Violation> violations = new ArrayList<>();

    private ProviderRules(List<ChatMessage> messages) {
        this.messages = messages;
    }

    /** Returns what OpenAI's chat completions, or a server that uses their protocol, would refuse. */
    public static List<Violation> openAi(List<ChatMessage> messages) {
        return check(messages, EVERY_PROVIDER);
    }

    /** Returns what Anthropic's Messages API would refuse. */
    public static List<Violation> anthropic(List<ChatMessage> messages) {
        return check(messages, with(EVERY_PROVIDER, Rule.NO_BLANK_TEXT));
    }

    /** Returns what Gemini's generateContent would refuse. */
    public static List<Violation> gemini(List<ChatMessage> messages) {
        return check(messages, with(EVERY_PROVIDER, Rule.NO_BLANK_TEXT, Rule.CALLS_FOLLOW_A_USER_OR_A_RESULT));
    }

    /** Returns what any of the three would refuse, each violation once. */
    public static List<Violation> all(List<ChatMessage> messages) {
        Set<Violation> all = new LinkedHashSet<>(openAi(messages));
        all.addAll(anthropic(messages));
        all.addAll(gemini(messages));
        return List.copyOf(all);
    }

    /** Returns what any of the three would refuse in a whole request. */
    public static List<Violation> request(List<ChatMessage> messages) {
        List<Violation> all = new ArrayList<>(all(messages));
        int last = messages.size() - 1;
        if (last < 0
                || !(messages.get(last) instanceof UserMessage
                        || messages.get(last) instanceof ToolExecutionResultMessage)) {
            all.add(new Violation(last, Rule.ENDS_WITH_A_USER_OR_A_RESULT));
        }
        return List.copyOf(all);
    }

    /** Returns what a model would refuse that requires user and assistant to alternate, in addition to the above. */
    public static List<Violation> alternation(List<ChatMessage> messages) {
        return check(messages, EnumSet.of(Rule.ROLES_ALTERNATE));
    }

    private static Set<Rule> with(Set<Rule> rules, Rule... more) {
        Set<Rule> all = EnumSet.copyOf(rules);
        Collections.addAll(all, more);
        return all;
    }

    private static List<Violation> check(List<ChatMessage> messages, Collection<Rule> rules) {
        ProviderRules check = new ProviderRules(messages);
        check.tools();
        check.first();
        for (int i = 0; i < messages.size(); i++) {
            check.one(i);
        }
        check.violations.removeIf(violation -> !rules.contains(violation.rule()));
        return List.copyOf(check.violations);
    }

    private void tools() {
        int callsAt = -1;
        List<ToolExecutionRequest> waiting = new ArrayList<>();
        List<ToolExecutionRequest> answered = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            if (messages.get(i) instanceof ToolExecutionResultMessage result) {
                if (moveMatching(waiting, answered, result)) {
                    continue;
                }
                boolean again = answered.stream().anyMatch(call -> isAnswer(result, call));
                breaks(i, again ? Rule.A_CALL_HAS_ONE_RESULT : Rule.A_RESULT_HAS_ITS_CALL);
                continue;
            }
            if (!waiting.isEmpty()) {
                breaks(callsAt, Rule.CALLS_ARE_ANSWERED_AT_ONCE);
            }
            waiting.clear();
            answered.clear();
            callsAt = i;
            if (messages.get(i) instanceof AiMessage ai) {
                waiting.addAll(ai.toolExecutionRequests());
            }
        }
        if (!waiting.isEmpty()) {
            breaks(callsAt, Rule.CALLS_ARE_ANSWERED_AT_ONCE);
        }
    }

    private static boolean moveMatching(
            List<ToolExecutionRequest> waiting,
            List<ToolExecutionRequest> answered,
            ToolExecutionResultMessage result) {
        for (int i = 0; i < waiting.size(); i++) {
            if (isAnswer(result, waiting.get(i))) {
                answered.add(waiting.remove(i));
                return true;
            }
        }
        return false;
    }

    /** Compares ids. For models that provide no ids, it compares the tool's name. */
    private static boolean isAnswer(ToolExecutionResultMessage result, ToolExecutionRequest call) {
        return result.id() == null && call.id() == null
                ? Objects.equals(result.toolName(), call.name())
                : Objects.equals(result.id(), call.id());
    }

    private void first() {
        int first = !messages.isEmpty() && messages.get(0) instanceof SystemMessage ? 1 : 0;
        if (first < messages.size() && !(messages.get(first) instanceof UserMessage)) {
            breaks(first, Rule.USER_FIRST);
        }
    }

    private void one(int index) {
        ChatMessage message = messages.get(index);
        ChatMessage before = index == 0 ? null : messages.get(index - 1);
        if (message instanceof SystemMessage && index > 0) {
            breaks(index, Rule.ONE_SYSTEM_MESSAGE_AND_FIRST);
        } else if (message instanceof UserMessage user) {
            if (user.contents().stream().anyMatch(ProviderRules::isBlank)) {
                breaks(index, Rule.NO_BLANK_TEXT);
            }
            if (before instanceof UserMessage || before instanceof ToolExecutionResultMessage) {
                breaks(index, Rule.ROLES_ALTERNATE);
            }
        } else if (message instanceof AiMessage ai) {
            assistant(index, ai, before);
        } else if (message instanceof CustomMessage) {
            breaks(index, Rule.KNOWN_ROLES);
        }
    }

    private void assistant(int index, AiMessage ai, ChatMessage before) {
        boolean calls = ai.hasToolExecutionRequests();
        if (ai.text() == null && !calls) {
            breaks(index, Rule.AN_ASSISTANT_MESSAGE_SAYS_SOMETHING);
        }
        if (!calls && (ai.text() == null || ai.text().isBlank())) {
            breaks(index, Rule.NO_BLANK_TEXT);
        }
        if (calls && !(before instanceof UserMessage || before instanceof ToolExecutionResultMessage)) {
            breaks(index, Rule.CALLS_FOLLOW_A_USER_OR_A_RESULT);
        }
        if (before instanceof AiMessage) {
            breaks(index, Rule.ROLES_ALTERNATE);
        }
    }

    private static boolean isBlank(Content content) {
        return content instanceof TextContent text && text.text().isBlank();
    }

    private void breaks(int index, Rule rule) {
        violations.add(new Violation(index, rule));
    }
}
