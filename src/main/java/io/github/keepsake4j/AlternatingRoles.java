package io.github.keepsake4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Changes requests for models whose chat templates require that user and assistant alternate, such as Mistral's, Gemma's
 * and Llama's. A memory shows other lists too: a summary and long-term memories are user messages, a failed question has
 * no answer, and turns may meet. Pure functions.
 */
public final class AlternatingRoles {

    private static final String GAP = "\n\n";

    private AlternatingRoles() {}

    /**
     * Returns a transformer for {@code AiServices.builder(...).chatRequestTransformer(...)}. Neighbours of one role become
     * one message, with their contents in order. System messages become one, which is first. Results stay behind their
     * calls; several calls in one message become one message each. An assistant message before the first question, and
     * tool rounds that a question follows instead of an answer, become labelled text in the user message behind them,
     * because these templates have no other place for them. No text is left out, except the model's thinking in such
     * labelled text. A request that needs no change is returned as it is. The memory keeps the messages as they were.
     *
     * <p>With a limit on the whole request, it comes second:
     * {@code chatRequestTransformer(keepsake.requestBudget().andThen(AlternatingRoles.transformer()))}.
     *
     * @return the transformer, which depends on no memory
     */
    public static UnaryOperator<ChatRequest> transformer() {
        return AlternatingRoles::apply;
    }

    private static ChatRequest apply(ChatRequest request) {
        List<ChatMessage> messages = alternating(request.messages());
        return messages.equals(request.messages())
                ? request
                : request.toBuilder().messages(messages).build();
    }

    private static List<ChatMessage> alternating(List<ChatMessage> given) {
        String system = given.stream()
                .filter(SystemMessage.class::isInstance)
                .map(message -> ((SystemMessage) message).text())
                .collect(Collectors.joining(GAP));
        List<ChatMessage> alternating = new ArrayList<>();
        singleCalls(given).forEach(message -> add(alternating, message));
        if (alternating.stream().noneMatch(UserMessage.class::isInstance) && !alternating.isEmpty()) {
            UserMessage only = user(alternating);
            alternating.clear();
            alternating.add(only);
        }
        if (!system.isEmpty()) {
            alternating.add(0, SystemMessage.from(system));
        }
        return alternating;
    }

    private static void add(List<ChatMessage> alternating, ChatMessage next) {
        int last = alternating.size() - 1;
        if (next instanceof UserMessage) {
            List<ChatMessage> open = alternating.subList(open(alternating), alternating.size());
            open.add(next);
            ChatMessage user = open.size() == 1 ? next : user(open);
            open.clear();
            open.add(user);
        } else if (next instanceof AiMessage ai && last >= 0 && alternating.get(last) instanceof AiMessage before) {
            alternating.set(last, joined(before, ai));
        } else if (!(next instanceof SystemMessage)) {
            alternating.add(next);
        }
    }

    /** Returns the index from which messages belong to the user message that follows: those without a final answer. */
    private static int open(List<ChatMessage> alternating) {
        int user = alternating.size() - 1;
        while (user >= 0 && !(alternating.get(user) instanceof UserMessage)) {
            user--;
        }
        boolean isAnswered = user >= 0
                && alternating.get(alternating.size() - 1) instanceof AiMessage ai
                && !ai.hasToolExecutionRequests();
        return isAnswered ? alternating.size() : Math.max(0, user);
    }

    /** Neighbouring results cannot become one message, since each names its call. So each call gets a message. */
    private static List<ChatMessage> singleCalls(List<ChatMessage> given) {
        List<ChatMessage> single = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            List<ToolExecutionResultMessage> results = new ArrayList<>();
            if (given.get(i) instanceof AiMessage ai
                    && ai.toolExecutionRequests().size() > 1) {
                while (i + 1 < given.size() && given.get(i + 1) instanceof ToolExecutionResultMessage result) {
                    results.add(result);
                    i++;
                }
                single.addAll(rounds(ai, results));
            } else {
                single.add(given.get(i));
            }
        }
        return single;
    }

    private static List<ChatMessage> rounds(AiMessage calls, List<ToolExecutionResultMessage> results) {
        List<ToolExecutionResultMessage> left = new ArrayList<>(results);
        List<ChatMessage> rounds = new ArrayList<>();
        calls.toolExecutionRequests().forEach(call -> left.stream()
                .filter(result -> isResult(result, call))
                .findFirst()
                .ifPresent(result -> {
                    AiMessage.Builder only = rounds.isEmpty() ? calls.toBuilder() : AiMessage.builder();
                    rounds.add(only.toolExecutionRequests(List.of(call)).build());
                    rounds.add(result);
                    left.remove(result);
                }));
        boolean isComplete = left.isEmpty()
                && rounds.size() == 2 * calls.toolExecutionRequests().size();
        return isComplete
                ? rounds
                : Stream.concat(Stream.of(calls), results.stream()).toList();
    }

    private static boolean isResult(ToolExecutionResultMessage result, ToolExecutionRequest call) {
        return call.id() == null
                ? Objects.equals(result.toolName(), call.name())
                : call.id().equals(result.id());
    }

    private static AiMessage joined(AiMessage first, AiMessage second) {
        return AiMessage.builder()
                .text(joined(first.text(), second.text()))
                .thinking(joined(first.thinking(), second.thinking()))
                .toolExecutionRequests(Stream.of(first, second)
                        .flatMap(message -> message.toolExecutionRequests().stream())
                        .toList())
                .attributes(joined(first.attributes(), second.attributes()))
                .build();
    }

    private static @Nullable String joined(@Nullable String first, @Nullable String second) {
        return first == null ? second : second == null ? first : first + GAP + second;
    }

    private static Map<String, Object> joined(Map<String, Object> first, Map<String, Object> second) {
        Map<String, Object> joined = new HashMap<>(first);
        second.forEach((name, value) -> joined.merge(
                name,
                value,
                (a, b) -> a instanceof List<?> x && b instanceof List<?> y
                        ? Stream.concat(x.stream(), y.stream()).toList()
                        : b));
        return joined;
    }

    /** Returns a user message with the contents of all messages. Templates take one text, so texts are joined. */
    private static UserMessage user(List<ChatMessage> messages) {
        List<UserMessage> users = messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(UserMessage.class::cast)
                .toList();
        boolean oneName = users.stream().map(UserMessage::name).distinct().count() == 1;
        List<Content> contents = new ArrayList<>();
        Map<String, Object> attributes = Map.of();
        for (ChatMessage message : messages) {
            labelled(message, !oneName).forEach(content -> append(contents, content));
            attributes = message instanceof UserMessage user ? joined(attributes, user.attributes()) : attributes;
        }
        return UserMessage.builder()
                .name(oneName ? users.get(0).name() : null)
                .contents(contents.isEmpty() ? List.of(TextContent.from(" ")) : contents)
                .attributes(attributes)
                .build();
    }

    private static void append(List<Content> contents, Content content) {
        int last = contents.size() - 1;
        if (!(content instanceof TextContent text)) {
            contents.add(content);
        } else if (last >= 0 && contents.get(last) instanceof TextContent before) {
            contents.set(last, TextContent.from(before.text() + GAP + text.text()));
        } else {
            contents.add(content);
        }
    }

    private static List<Content> labelled(ChatMessage message, boolean withName) {
        List<Content> contents = new ArrayList<>();
        if (message instanceof UserMessage user) {
            if (withName && user.name() != null) {
                label(contents, "The user " + user.name() + " said");
            }
            contents.addAll(user.contents());
        } else if (message instanceof AiMessage ai) {
            if (ai.text() != null && !ai.text().isBlank()) {
                label(contents, "The assistant said");
                contents.add(TextContent.from(ai.text()));
            }
            ai.images().forEach(image -> contents.add(ImageContent.from(image)));
            ai.toolExecutionRequests().forEach(call -> {
                label(contents, "The assistant called " + call.name());
                contents.add(TextContent.from(String.valueOf(call.arguments())));
            });
        } else if (message instanceof ToolExecutionResultMessage result) {
            label(contents, "Result of " + result.toolName());
            contents.addAll(result.contents());
        } else if (message instanceof CustomMessage custom) {
            contents.add(TextContent.from(custom.attributes().toString()));
        }
        contents.removeIf(
                content -> content instanceof TextContent text && text.text().isBlank());
        return contents;
    }

    /** A name is one line without brackets, so that it cannot end its label and begin another one. */
    private static void label(List<Content> contents, String label) {
        contents.add(TextContent.from("[" + label.replaceAll("[\\p{Cntrl}\\[\\]\u2028\u2029]+", " ") + "]"));
    }
}
