package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An event in a conversation and the messages that it leaves in the log. A scene does not depend on the scenes around
 * it, so a failing conversation stays the same when scenes are removed from it.
 *
 * @param kind the kind of event
 * @param seed determines everything that the kind leaves open
 */
public record Scene(Kind kind, long seed) {

    /** The kinds of events. The simplest is first, because jqwik shrinks towards the first. */
    public enum Kind {
        /** A question and its answer. */
        PLAIN,
        /** One to four rounds of one to four parallel calls; results in any order. */
        TOOLS,
        /** The same as {@link #TOOLS}, from a model that gives its calls no ids. */
        CALLS_WITHOUT_IDS,
        /** The same as {@link #TOOLS}, from a model that numbers its calls anew in each message. */
        REPEATED_CALL_IDS,
        /** The user leaves, or the process dies, before there is an answer. */
        NO_ANSWER,
        /** The process dies while tools run: there are no results, perhaps after a round that went well. */
        DEAD_CALLS,
        /** The same as {@link #DEAD_CALLS}, but some of the results exist. */
        HALF_ANSWERED_CALLS,
        /** The model fails, and each retry through an AI service adds the user's message again. */
        RETRY_AFTER_MODEL_ERROR,
        /** A tool or its error handler throws. The retry adds the user's message again after the unanswered calls. */
        RETRY_AFTER_DEAD_CALLS,
        /** An output guardrail rejects an answer, which stays, and asks again in the user's role. */
        GUARDRAIL_REPROMPT,
        /** Two or three turns at the same time. Their messages are in the order of arrival. */
        INTERLEAVED,
        /** A turn that begins with a system message that is always the same. */
        SAME_SYSTEM,
        /** A turn that begins with one of several system messages. */
        CHANGED_SYSTEM,
        /** The assistant says something first. */
        GREETING,
        /** A result without a call. */
        ORPHAN_RESULT,
        /** A call that is answered twice. */
        SECOND_RESULT,
        /** A message of a type that this version does not know, somewhere in a turn. */
        UNKNOWN_TYPE,
        /** Empty and blank texts of user, assistant and tools. */
        BLANK_TEXTS,
        /** A message that is larger than most limits, somewhere in a turn. */
        HUGE,
        /** Images with text, and without text. */
        IMAGES,
        /** Answers and calls with thinking. */
        THINKING
    }

    private static final List<Kind> AT_ONCE = List.of(
            Kind.PLAIN,
            Kind.PLAIN,
            Kind.PLAIN,
            Kind.TOOLS,
            Kind.TOOLS,
            Kind.CALLS_WITHOUT_IDS,
            Kind.HALF_ANSWERED_CALLS,
            Kind.RETRY_AFTER_MODEL_ERROR,
            Kind.CHANGED_SYSTEM,
            Kind.BLANK_TEXTS);

    /** Returns a random scene. Every second scene is a question with or without tools. */
    public static Scene random(Random random) {
        Kind[] kinds = Kind.values();
        int choice = random.nextInt(2 * kinds.length);
        Kind kind = choice < kinds.length ? kinds[choice] : choice % 2 == 0 ? Kind.PLAIN : Kind.TOOLS;
        return new Scene(kind, random.nextLong());
    }

    /**
     * Creates the scene's messages.
     *
     * @param name the prefix of its texts and call ids
     * @return its messages, at least one
     */
    public List<ChatMessage> play(String name) {
        return List.copyOf(script(name).messages);
    }

    /**
     * Returns for each message that {@link #play} returns the index of its turn's question, or -1 for none. A prompt
     * of a guardrail is no question of its own.
     */
    public List<Integer> questions() {
        Script script = script("");
        if (kind == Kind.INTERLEAVED) {
            return List.copyOf(script.questions);
        }
        List<Integer> questions = new ArrayList<>();
        int question = -1;
        for (int i = 0; i < script.messages.size(); i++) {
            boolean begins = RandomOutcomes.isQuestion(script.messages.get(i))
                    && (question < 0 || kind != Kind.GUARDRAIL_REPROMPT);
            question = begins ? i : question;
            questions.add(question);
        }
        return questions;
    }

    private Script script(String name) {
        Script script = new Script(name, new Random(seed));
        switch (kind) {
            case PLAIN -> script.user().answer();
            case TOOLS -> script.user().rounds(1, 4).answer();
            case CALLS_WITHOUT_IDS -> script.ids(Ids.NONE).user().rounds(1, 3).answer();
            case REPEATED_CALL_IDS ->
                script.ids(Ids.REPEATED).user().rounds(1, 3).answer();
            case NO_ANSWER -> script.user();
            case DEAD_CALLS -> script.user().rounds(0, 1).calls(1 + script.random.nextInt(3));
            case HALF_ANSWERED_CALLS -> script.user().rounds(0, 1).halfAnswered();
            case RETRY_AFTER_MODEL_ERROR -> script.user().retries().rounds(0, 1).answer();
            case RETRY_AFTER_DEAD_CALLS ->
                script.user().halfAnswered().retries().rounds(0, 2).answer();
            case GUARDRAIL_REPROMPT -> script.user().rounds(0, 1).answer().reprompts();
            case INTERLEAVED -> script.interleaved();
            case SAME_SYSTEM -> script.system("Be brief").user().rounds(0, 1).answer();
            case CHANGED_SYSTEM ->
                script.system("Be brief, rule " + script.random.nextInt(4))
                        .user()
                        .rounds(0, 1)
                        .answer();
            case GREETING -> script.answer();
            case ORPHAN_RESULT -> script.result(script.call(false), "never asked");
            case SECOND_RESULT -> script.user().rounds(1, 1).lastAgain().answer();
            case UNKNOWN_TYPE -> script.user().rounds(0, 1).answer().unknown();
            case BLANK_TEXTS -> script.blanks();
            case HUGE -> script.user().rounds(0, 2).answer().huge();
            case IMAGES -> script.images().rounds(0, 1).answer();
            case THINKING -> script.thinking().user().rounds(0, 2).answer();
        }
        return script;
    }

    private enum Ids {
        OWN,
        NONE,
        REPEATED
    }

    private static final class Script {

        private final String name;
        private final Random random;
        private final List<ChatMessage> messages = new ArrayList<>();

        /** The indexes of the questions of turns that interleave. */
        private final List<Integer> questions = new ArrayList<>();

        private Ids ids = Ids.OWN;
        private boolean thinking;
        private int made;

        Script(String name, Random random) {
            this.name = name;
            this.random = random;
        }

        Script ids(Ids kind) {
            ids = kind;
            return this;
        }

        Script thinking() {
            thinking = true;
            return this;
        }

        Script system(String text) {
            return add(SystemMessage.from(text));
        }

        Script user() {
            return add(UserMessage.from(text()));
        }

        Script answer() {
            return add(assistant(text(), List.of()));
        }

        /** Adds the user's message once or twice more. */
        Script retries() {
            ChatMessage first = messages.get(0);
            add(first);
            return random.nextInt(3) == 0 ? add(first) : this;
        }

        Script reprompts() {
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                user().answer();
            }
            return this;
        }

        Script rounds(int atLeast, int atMost) {
            for (int i = atLeast + random.nextInt(atMost - atLeast + 1); i > 0; i--) {
                List<ToolExecutionRequest> asked = calls(1 + random.nextInt(4));
                asked.forEach(call -> result(call, text()));
            }
            return this;
        }

        /** Returns the calls in the order in which they get their results. */
        List<ToolExecutionRequest> calls(int count) {
            List<ToolExecutionRequest> calls = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                calls.add(call(ids == Ids.REPEATED && i > 0));
            }
            if (ids == Ids.REPEATED) {
                for (int i = 0; i < count; i++) {
                    calls.set(i, calls.get(i).toBuilder().id("call_" + i).build());
                }
            }
            add(assistant(random.nextInt(3) == 0 ? text() : null, calls));
            if (random.nextBoolean()) {
                Collections.shuffle(calls, random);
            }
            return calls;
        }

        Script halfAnswered() {
            List<ToolExecutionRequest> asked = calls(2 + random.nextInt(3));
            asked.subList(0, random.nextInt(asked.size())).forEach(call -> result(call, text()));
            return this;
        }

        ToolExecutionRequest call(boolean again) {
            return ToolExecutionRequest.builder()
                    .id(ids == Ids.NONE ? null : name + "-" + made++)
                    .name(again || random.nextBoolean() ? "search" : "weather")
                    .arguments("{\"q\": \"" + text() + "\"}")
                    .build();
        }

        Script result(ToolExecutionRequest call, String text) {
            return add(ToolExecutionResultMessage.from(call, text));
        }

        Script lastAgain() {
            return add(messages.get(messages.size() - 1));
        }

        Script unknown() {
            messages.add(
                    random.nextInt(messages.size() + 1), new UnknownMessage(Map.of("type", "HOLOGRAM", "of", name)));
            return this;
        }

        Script huge() {
            int at = random.nextInt(messages.size());
            String text = name + " huge" + " word".repeat(1_000 + random.nextInt(2_000));
            ChatMessage message = messages.get(at);
            if (message instanceof UserMessage) {
                messages.set(at, UserMessage.from(text));
            } else if (message instanceof AiMessage ai) {
                messages.set(at, assistant(text, ai.toolExecutionRequests()));
            } else if (message instanceof ToolExecutionResultMessage result) {
                messages.set(at, ToolExecutionResultMessage.from(result.id(), result.toolName(), text));
            }
            return this;
        }

        Script images() {
            ImageContent image = ImageContent.from("https://example.org/" + name + ".png");
            return add(
                    random.nextInt(3) == 0
                            ? UserMessage.from(image)
                            : UserMessage.from(image, TextContent.from(text()), image));
        }

        Script blanks() {
            UserMessage user =
                    switch (random.nextInt(4)) {
                        case 0 -> UserMessage.from(text());
                        case 1 ->
                            UserMessage.from(
                                    ImageContent.from("https://example.org/" + name + ".png"),
                                    TextContent.from(blank()));
                        default -> UserMessage.from(blank());
                    };
            add(user);
            if (random.nextBoolean()) {
                ToolExecutionRequest call = call(false);
                add(assistant(random.nextBoolean() ? blank() : null, List.of(call)));
                result(call, blank());
            }
            return switch (random.nextInt(4)) {
                case 0 -> answer();
                case 1 -> add(AiMessage.builder().thinking(text()).build());
                case 2 -> this;
                default -> add(assistant(blank(), List.of()));
            };
        }

        Script interleaved() {
            List<Deque<ChatMessage>> turns = new ArrayList<>();
            Map<Deque<ChatMessage>, List<Integer>> asked = new IdentityHashMap<>();
            Map<Deque<ChatMessage>, List<Integer>> places = new IdentityHashMap<>();
            for (int i = 2 + random.nextInt(2); i > 0; i--) {
                Kind inner = AT_ONCE.get(random.nextInt(AT_ONCE.size()));
                Scene scene = new Scene(inner, random.nextLong());
                Deque<ChatMessage> turn = new ArrayDeque<>(scene.play(name + "." + i));
                turns.add(turn);
                asked.put(turn, scene.questions());
                places.put(turn, new ArrayList<>());
            }
            while (!turns.isEmpty()) {
                Deque<ChatMessage> turn = turns.get(random.nextInt(turns.size()));
                List<Integer> placed = places.get(turn);
                int question = asked.get(turn).get(placed.size());
                placed.add(messages.size());
                // A turn whose question is blank names it too. Only a system message names none.
                boolean isNamed = question >= 0 || !(turn.element() instanceof SystemMessage);
                questions.add(isNamed ? placed.get(Math.max(question, 0)) : -1);
                add(turn.remove());
                turns.removeIf(Deque::isEmpty);
            }
            return this;
        }

        private AiMessage assistant(String text, List<ToolExecutionRequest> calls) {
            return AiMessage.builder()
                    .text(text)
                    .thinking(thinking ? "thinking about " + text() : null)
                    .toolExecutionRequests(List.copyOf(calls))
                    .build();
        }

        private String text() {
            return name + "/" + made++ + " word".repeat(random.nextInt(12));
        }

        private String blank() {
            return List.of("", " ", "\n", "\t \n", "\u2003").get(random.nextInt(5));
        }

        private Script add(ChatMessage message) {
            messages.add(message);
            return this;
        }
    }
}
