package com.example.chat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
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
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
 * The models. With {@code OPENAI_API_KEY} in the environment, OpenAI answers. Otherwise, models without a network say what they
 * were shown, so that the memory can be tried. They obey only the user's own words in the last question: they fail if it is
 * "fail", call a tool if it has "use a tool", and answer at length if it has "something long". They answer questions about the
 * user, such as "Where do I live?", from what they were shown, and say where it was. Another answer is another one.
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

    /** How many of the newest facts a summary and long-term memories have. */
    private static final int FACTS = 10;

    private static final Pattern TOOL = Pattern.compile("(?i)use a tool|\\btemperature\\b");
    private static final Pattern ABLE = Pattern.compile("(?i)what can you do|(?:what|which) tools");
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
                return response(request, note(request));
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
        if (ABLE.matcher(last).find()) {
            return AiMessage.from(
                    "I am a script. I answer “What is my name?” from what I am shown. I can “use a tool”, "
                            + "“say something long” or “fail”. My only tool reads the temperature of a city.");
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
        Optional<String> question = Told.question(last);
        if (question.isPresent()) {
            return AiMessage.from((isFirst ? "" : "Once more: ") + known(question.get(), messages, said));
        }
        return AiMessage.from(isFirst ? "You said: " + last : "I was shown: " + String.join(" | ", said));
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

    /** Answers a question about the user from the first place that tells it. */
    private static String known(String question, List<ChatMessage> messages, List<String> said) {
        Map<String, Stream<String>> places = new LinkedHashMap<>();
        places.put("You said so in this chat.", said.stream());
        places.put("A long-term memory says so.", texts(messages, Remembered::isShown));
        places.put("The summary says so.", texts(messages, Summarization::isSummary));
        places.put("A recalled message says so.", Stream.of(recalled(messages)));
        return places.entrySet().stream()
                .flatMap(place -> Told.answer(question, place.getValue().collect(Collectors.joining("\n"))).stream()
                        .map(answer -> answer + " " + place.getKey()))
                .findFirst()
                .orElse("I do not know: nothing that I was shown tells this.");
    }

    /** Returns what was recalled for the newest question, or an empty text. */
    static String recalled(List<ChatMessage> messages) {
        return asked(messages)
                .reduce((before, last) -> last)
                .map(UserMessage::singleText)
                .map(text -> text.substring(Math.min(text.length(), ownLength(text) + BEFORE_RECALLED.length())))
                .orElse("");
    }

    private static Stream<String> texts(List<ChatMessage> messages, Predicate<ChatMessage> are) {
        return messages.stream().filter(are).map(Said::text);
    }

    /** Answers what the library asks: for the facts of messages, or for a summary of them. */
    private AiMessage note(ChatRequest request) {
        String instructions = request.messages().stream()
                .filter(SystemMessage.class::isInstance)
                .map(message -> ((SystemMessage) message).text())
                .collect(Collectors.joining("\n"));
        if (instructions.isEmpty()) {
            return answer(request, true);
        }
        String text = request.messages().stream()
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText())
                .collect(Collectors.joining("\n"));
        // Known facts come before this.
        List<Told> all =
                List.copyOf(Told.in(text.substring(Math.max(0, text.indexOf("The part of the conversation:")))));
        List<Told> newest = all.subList(Math.max(0, all.size() - FACTS), all.size());
        if (instructions.contains("JSON")) {
            return AiMessage.from(new JsonMapper()
                    .writeValueAsString(newest.stream().map(Models::fact).toList()));
        }
        return AiMessage.from(
                newest.isEmpty()
                        ? "The user told nothing of themselves."
                        : newest.stream().map(Told::fact).collect(Collectors.joining(" ")));
    }

    private static Map<String, Object> fact(Told told) {
        String title = told.subject();
        return Map.of("title", title, "summary", told.fact(), "entities", "", "key_phrases", title, "replaces", title);
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
