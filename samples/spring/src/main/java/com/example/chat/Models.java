package com.example.chat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import dev.langchain4j.rag.content.injector.DefaultContentInjector;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.samples.scripted.ScriptedModel;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import tools.jackson.databind.json.JsonMapper;

/**
 * The models. With {@code OPENAI_API_KEY} in the environment, OpenAI answers. Otherwise, the script of all samples does, so that
 * the memory can be tried, and says where it was shown what it knows. It obeys only the user's own words in the last question:
 * it fails if it is "fail", calls a tool if it has "use a tool", and answers at length if it has "something long".
 */
@Configuration(proxyBeanMethods = false)
class Models {

    private static final String KEY = System.getenv("OPENAI_API_KEY");
    private static final String OPEN_AI_MODEL = "gpt-4o-mini";
    private static final int LONG = 30;
    private static final Pattern FAIL = Pattern.compile("(?i)(?:please )?fail\\W*");

    /** What LangChain4j writes between the user's own words and what was recalled for them. */
    private static final String BEFORE_RECALLED = DefaultContentInjector.DEFAULT_PROMPT_TEMPLATE
            .template()
            .replace("{{userMessage}}", "")
            .replace("{{contents}}", "");

    /** A line of what was recalled, or of long-term memories, with the words of the user. */
    private static final Pattern NOTED = Pattern.compile("(?m)^\\[[^\\]]*] (?!assistant\\b)(?:[^:.\\n]*: )?(.+)");

    /** What a user said, in a part of a conversation of which memories are made. */
    private static final Pattern SAID =
            Pattern.compile("(?ms)(?:^|: )User: (.*?)(?=^(?:User|Assistant|Result of)\\b|\\z)");

    /** A question or a request: "I have a temperature" is none. */
    private static final Pattern TOOL = Pattern.compile("(?i)use a tool|\\btemperature\\b[^.!?]*\\?"
            + "|(?:^|[.!?]\\s+)(?:please|what|how|read|tell|show|give|get|check)\\b[^.!?]*\\btemperature\\b");

    private static final Pattern ABLE = Pattern.compile("(?i)what can you do|\\btools\\b|^help\\b");
    private static final String ABILITIES =
            " I can also “use a tool”, which reads the temperature of a city, “say something long” or “fail”.";
    private static final Pattern CITY = Pattern.compile("\\b(?:in|for|of) (\\p{Lu}\\p{L}+)");

    /** The best passage alone: more would repeat what the summary says, and cost more than they help. */
    static final RecallOptions RECALL =
            RecallOptions.standard().withMaxPassages(1).withNeighbours(0).withMaxTokens(80);

    /** The name of the model that answers. */
    static final String NAME = KEY == null ? "scripted" : OPEN_AI_MODEL;

    /** An answer fails because the user asked for that. */
    static final class AskedToFail extends RuntimeException {}

    @Bean
    ChatModel chatModel() {
        if (KEY != null) {
            return OpenAiChatModel.builder()
                    .apiKey(KEY)
                    .modelName(OPEN_AI_MODEL)
                    .build();
        }
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                boolean isOfLibrary = request.messages().get(0) instanceof SystemMessage;
                return response(request, isOfLibrary ? facts(request) : answer(request, true));
            }
        };
    }

    @Bean
    StreamingChatModel streamingChatModel(@Value("${chat.millis-per-word:20}") long millisPerWord) {
        if (KEY != null) {
            return OpenAiStreamingChatModel.builder()
                    .apiKey(KEY)
                    .modelName(OPEN_AI_MODEL)
                    .build();
        }
        return new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                boolean isFirst = isFirst();
                new Thread(() -> stream(request, handler, millisPerWord, isFirst)).start();
            }
        };
    }

    @Bean
    @ConditionalOnProperty("keepsake4j.summary.enabled")
    Summarizer summarizer(ChatModel model) {
        return KEY == null ? ScriptedModel::notes : Summarizer.of(model);
    }

    /** Adds messages that the model no longer sees to each question that they answer. */
    @Bean
    @ConditionalOnProperty("chat.recall")
    ContentRetriever recall(Keepsake keepsake) {
        return keepsake.recall().retriever(RECALL);
    }

    /** Returns whether the page does not ask for another answer. */
    private static boolean isFirst() {
        return !(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes asked
                && asked.getRequest().getRequestURI().endsWith("/regenerate"));
    }

    private void stream(
            ChatRequest request, StreamingChatResponseHandler handler, long millisPerWord, boolean isFirst) {
        Cancellation cancellation = new Cancellation(new AtomicBoolean());
        try {
            ChatResponse response = response(request, answer(request, isFirst));
            String text = response.aiMessage().text();
            for (String word : text == null ? new String[0] : text.split("(?<= )")) {
                handler.onPartialResponse(new PartialResponse(word), new PartialResponseContext(cancellation));
                if (cancellation.isCancelled()) {
                    return;
                }
                Thread.sleep(millisPerWord);
            }
            handler.onCompleteResponse(response);
        } catch (InterruptedException | RuntimeException e) {
            handler.onError(e);
        }
    }

    private AiMessage answer(ChatRequest request, boolean isFirst) {
        List<ChatMessage> messages = request.messages();
        if (messages.get(messages.size() - 1) instanceof ToolExecutionResultMessage result) {
            return AiMessage.from("The tool says: " + result.text());
        }
        List<String> said =
                asked(messages).map(message -> own(message.singleText())).toList();
        String last = said.get(said.size() - 1);
        if (FAIL.matcher(last).matches()) {
            throw new AskedToFail();
        }
        if (TOOL.matcher(last).find() && !request.toolSpecifications().isEmpty()) {
            Matcher city = CITY.matcher(last);
            return AiMessage.from(ToolExecutionRequest.builder()
                    .id("call-" + messages.size())
                    .name("temperature")
                    .arguments("{\"city\": \"" + (city.find() ? city.group(1) : "Paris") + "\"}")
                    .build());
        }
        if (last.toLowerCase(Locale.ROOT).contains("something long")) {
            return AiMessage.from(("This is " + (isFirst ? "a" : "another") + " long answer. ")
                    .repeat(LONG)
                    .strip());
        }
        return AiMessage.from((isFirst ? "" : "Once more: ")
                + scripted(messages, said)
                + (ABLE.matcher(last).find() ? ABILITIES : ""));
    }

    private static Stream<UserMessage> asked(List<ChatMessage> messages) {
        return messages.stream()
                .filter(message -> message instanceof UserMessage
                        && !Summarization.isSummary(message)
                        && !Remembered.isShown(message))
                .map(UserMessage.class::cast);
    }

    private static String own(String text) {
        return text.substring(0, ownLength(text)).strip();
    }

    private static int ownLength(String text) {
        int recalled = text.indexOf(BEFORE_RECALLED);
        return recalled < 0 ? text.length() : recalled;
    }

    /** Answers from the first place that tells what is asked, or else from all of them. */
    private static String scripted(List<ChatMessage> messages, List<String> said) {
        Map<String, Stream<UserMessage>> places = new LinkedHashMap<>();
        places.put(
                "You said so in this chat.",
                said.subList(0, said.size() - 1).stream().map(UserMessage::from));
        places.put("A long-term memory says so.", added(noted(texts(messages, Remembered::isShown))));
        places.put("The summary says so.", added(texts(messages, Summarization::isSummary)));
        places.put("A recalled message says so.", added(noted(recalled(messages))));
        UserMessage last = UserMessage.from(said.get(said.size() - 1));
        List<UserMessage> all = new ArrayList<>(List.of(last));
        for (Map.Entry<String, Stream<UserMessage>> place : places.entrySet()) {
            List<UserMessage> shown =
                    Stream.concat(place.getValue(), Stream.of(last)).toList();
            if (ScriptedModel.knows(shown)) {
                return ScriptedModel.answer(shown) + " " + place.getKey();
            }
            // What was said later comes later.
            all.addAll(0, shown.subList(0, shown.size() - 1));
        }
        return ScriptedModel.answer(all);
    }

    /** Returns what the user did not say now: the script takes it for a summary. */
    private static Stream<UserMessage> added(String text) {
        return Stream.of(text).filter(each -> !each.isBlank()).map(each -> UserMessage.builder()
                .addContent(TextContent.from(each))
                .attributes(Map.of(Summarization.ATTRIBUTE, ""))
                .build());
    }

    private static String noted(String text) {
        return NOTED.matcher(text).results().map(line -> line.group(1)).collect(Collectors.joining("\n"));
    }

    /** Returns what was recalled for the newest question, or an empty text. */
    static String recalled(List<ChatMessage> messages) {
        return asked(messages)
                .reduce((before, last) -> last)
                .map(UserMessage::singleText)
                .map(text -> text.substring(Math.min(text.length(), ownLength(text) + BEFORE_RECALLED.length())))
                .orElse("");
    }

    private static String texts(List<ChatMessage> messages, Predicate<ChatMessage> are) {
        return messages.stream().filter(are).map(Said::text).collect(Collectors.joining("\n"));
    }

    /** Answers what the library asks: for the facts of messages, as JSON. */
    private static AiMessage facts(ChatRequest request) {
        String asked = texts(request.messages(), UserMessage.class::isInstance);
        List<UserMessage> said = SAID.matcher(asked)
                .results()
                .map(message -> UserMessage.from(message.group(1)))
                .toList();
        List<Map<String, String>> facts = ScriptedModel.facts(said).entrySet().stream()
                .map(fact -> Map.of(
                        "title",
                        fact.getKey(),
                        "summary",
                        fact.getValue(),
                        "entities",
                        "",
                        "key_phrases",
                        fact.getKey(),
                        "replaces",
                        fact.getKey()))
                .toList();
        return AiMessage.from(new JsonMapper().writeValueAsString(facts));
    }

    private static ChatResponse response(ChatRequest request, AiMessage answer) {
        TokenCounter counter = TokenCounter.standard();
        return ChatResponse.builder()
                .aiMessage(answer)
                .modelName(NAME)
                .finishReason(answer.hasToolExecutionRequests() ? FinishReason.TOOL_EXECUTION : FinishReason.STOP)
                .tokenUsage(new TokenUsage(
                        counter.estimateTokenCountInMessages(request.messages()),
                        counter.estimateTokenCountInMessage(answer)))
                .build();
    }

    private record Cancellation(AtomicBoolean flag) implements StreamingHandle {

        @Override
        public void cancel() {
            flag.set(true);
        }

        @Override
        public boolean isCancelled() {
            return flag.get();
        }
    }
}
