package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * What the chat templates of open models refuse, written from the templates of their tokenizers. Servers that use
 * OpenAI's protocol (vLLM, llama.cpp, TGI, LM Studio) apply them and answer with the template's error. See also
 * {@link ProviderRules}.
 */
public enum ChatTemplate {
    /**
     * Mistral 7B Instruct v0.3 and Nemo: "After the optional system message, conversation roles must alternate
     * user/assistant/user/assistant/..."; the template skips results and messages with calls. Mistral's own API adds:
     * "Unexpected role 'user' after role 'tool'".
     */
    MISTRAL,

    /**
     * Gemma 3: "Conversation roles must alternate user/assistant/user/assistant/..." from the first message behind an
     * optional system message. It has no role for results, which servers send as the user's.
     */
    GEMMA,

    /**
     * Llama 2: "Conversation roles must alternate user/assistant/user/assistant/...". Llama 3 has tools: "This model
     * only supports single tool-calls at once!" and "Cannot put tools in the first user message when there's no first
     * user message!".
     */
    LLAMA;

    /** Returns why the template refuses messages; empty if it accepts them. */
    public List<String> refusals(List<ChatMessage> messages) {
        List<String> refusals = new ArrayList<>();
        int index = 0;
        ChatMessage before = null;
        for (int i = 0; i < messages.size(); i++) {
            ChatMessage message = messages.get(i);
            if (message instanceof SystemMessage && i == 0) {
                continue;
            }
            boolean isResult = message instanceof ToolExecutionResultMessage;
            boolean isCall = message instanceof AiMessage ai && ai.hasToolExecutionRequests();
            boolean isUser = message instanceof UserMessage || (isResult && this == GEMMA);
            if (message instanceof SystemMessage || message instanceof CustomMessage) {
                refusals.add(i + ": only user and assistant follow the system message");
            } else if (this == GEMMA || !(isResult || isCall)) {
                if (isUser != (index % 2 == 0)) {
                    refusals.add(i + ": user and assistant must alternate");
                }
                index++;
            }
            if (before == null && !isUser) {
                refusals.add(i + ": there is no first user message");
            }
            if (this == MISTRAL && message instanceof UserMessage && before instanceof ToolExecutionResultMessage) {
                refusals.add(i + ": a user message follows a result");
            }
            if (this == LLAMA
                    && isCall
                    && ((AiMessage) message).toolExecutionRequests().size() > 1) {
                refusals.add(i + ": more than one call");
            }
            if (message instanceof UserMessage user
                    && user.contents().size() > 1
                    && user.contents().stream().allMatch(TextContent.class::isInstance)) {
                refusals.add(i + ": a text is not a string");
            }
            before = message;
        }
        return refusals;
    }

    /** Returns why any of the templates refuses messages. */
    public static List<String> all(List<ChatMessage> messages) {
        List<String> all = new ArrayList<>();
        for (ChatTemplate template : values()) {
            template.refusals(messages).forEach(refusal -> all.add(template + " " + refusal));
        }
        return all;
    }
}
