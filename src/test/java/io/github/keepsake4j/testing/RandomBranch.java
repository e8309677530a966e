package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Scene.Kind;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenCounter.Count;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * A random branch with its history: messages of random {@linkplain Scene scenes} in the order of the log, and every
 * intermediate state. In a JUnit test it is created {@linkplain #random from a Random}. In a jqwik property
 * {@linkplain #any it shrinks} to few and simple scenes. The same scenes create the same branch.
 */
public final class RandomBranch {

    /** The name of the other counter in counts that are not this counter's; see {@link #mixed}. */
    public static final String FOREIGN = "another counter";

    private final List<Scene> scenes;
    private final List<LoggedMessage> messages;

    private RandomBranch(List<Scene> scenes, List<LoggedMessage> messages) {
        this.scenes = List.copyOf(scenes);
        this.messages = List.copyOf(messages);
    }

    /**
     * The part of a branch that a log returns: the parameters of {@code Turns.of}.
     *
     * @param system the current system message, however old, or null
     * @param user the newest user message, however old, or null
     * @param messages the messages, oldest first
     */
    public record Part(@Nullable LoggedMessage system, @Nullable LoggedMessage user, List<LoggedMessage> messages) {

        static Part of(List<LoggedMessage> messages) {
            LoggedMessage system = null;
            LoggedMessage user = null;
            for (LoggedMessage logged : messages) {
                system = logged.message() instanceof SystemMessage ? logged : system;
                user = logged.message() instanceof UserMessage ? logged : user;
            }
            return new Part(system, user, messages);
        }

        /**
         * Returns a bounded read of this part.
         *
         * @param atMost the maximum number of messages
         * @param tokens the read ends with the message that reaches this number of tokens
         */
        public Part newest(int atMost, long tokens) {
            int from = messages.size();
            long sum = 0;
            while (from > 0 && messages.size() - from < atMost && sum < tokens) {
                sum += messages.get(--from).tokens();
            }
            return new Part(system, user, messages.subList(from, messages.size()));
        }

        /** Returns a description without texts, which can be very long. */
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            messages.forEach(logged -> text.append(logged.id())
                    .append(' ')
                    .append(logged.message().type())
                    .append(' ')
                    .append(logged.tokens())
                    .append(
                            logged.outcome() == null
                                    ? ""
                                    : " " + logged.outcome().kind())
                    .append(logged.question() == null ? "" : " of " + logged.question())
                    .append("; "));
            return text.toString();
        }
    }

    /**
     * Creates a branch from scenes.
     *
     * @param counter counts a message; {@code TokenCounter::count}, or {@link #mixed}
     */
    public static RandomBranch of(List<Scene> scenes, Function<ChatMessage, Count> counter) {
        List<LoggedMessage> log = new ArrayList<>();
        long sequence = 0;
        for (int i = 0; i < scenes.size(); i++) {
            // The skipped numbers belong to other branches of the tree.
            Random gaps = new Random(~scenes.get(i).seed());
            sequence += gaps.nextInt(8) == 0 ? gaps.nextInt(20) : 0;
            for (ChatMessage message : scenes.get(i).play("s" + i)) {
                sequence += gaps.nextInt(20) == 0 ? 2 : 1;
                Count count = counter.apply(message);
                log.add(new LoggedMessage(
                        "m" + sequence,
                        log.isEmpty() ? null : log.get(log.size() - 1).id(),
                        sequence,
                        message,
                        count.tokens(),
                        count.counter(),
                        Instant.EPOCH.plusSeconds(sequence)));
            }
        }
        return new RandomBranch(scenes, log);
    }

    /** Creates a branch from random scenes. Of every second branch, the messages carry the ids of their questions. */
    public static RandomBranch random(Random random, int scenes, Function<ChatMessage, Count> counter) {
        List<Scene> list = new ArrayList<>();
        for (int i = 0; i < scenes; i++) {
            list.add(Scene.random(random));
        }
        RandomBranch branch = of(list, counter);
        return random.nextBoolean() ? branch.bound() : branch;
    }

    /** Returns this branch as bound turns append it: each message carries the id of its turn's question. */
    public RandomBranch bound() {
        List<LoggedMessage> all = new ArrayList<>();
        for (Scene scene : scenes) {
            int first = all.size();
            for (int question : scene.questions()) {
                LoggedMessage message = messages.get(all.size());
                all.add(message.ofTurn(
                        question < 0 ? null : messages.get(first + question).id()));
            }
        }
        return new RandomBranch(scenes, all);
    }

    /** Returns branches with one or more scenes. */
    public static Arbitrary<RandomBranch> any(int maxScenes, Function<ChatMessage, Count> counter) {
        Arbitrary<Kind> kinds = Arbitraries.frequencyOf(
                Tuple.of(1, Arbitraries.of(Kind.class)), Tuple.of(1, Arbitraries.of(Kind.PLAIN, Kind.TOOLS)));
        Arbitrary<List<Scene>> scenes = Combinators.combine(kinds, Arbitraries.randomValue(Random::nextLong))
                .as(Scene::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(maxScenes);
        return Combinators.combine(scenes, Arbitraries.of(false, true))
                .as((list, bound) -> bound ? of(list, counter).bound() : of(list, counter));
    }

    /**
     * Counts as the given counter does, but about every third message as another counter would: between a quarter and
     * four times as much.
     */
    public static Function<ChatMessage, Count> mixed(TokenCounter counter) {
        return message -> {
            Count count = counter.count(message);
            int hash = Math.floorMod(message.toString().hashCode() * 0x9E3779B9, 3 * 5);
            return hash < 5 ? new Count((int) (count.tokens() * Math.pow(2, hash - 2)), FOREIGN) : count;
        };
    }

    /** Returns all messages, oldest first. */
    public List<LoggedMessage> messages() {
        return messages;
    }

    /** Returns the whole branch. */
    public Part whole() {
        return Part.of(messages);
    }

    /**
     * Returns the branch after each message: the first state is empty, the last is the {@linkplain #whole() whole}
     * branch.
     */
    public List<Part> growth() {
        List<Part> growth = new ArrayList<>();
        for (int size = 0; size <= messages.size(); size++) {
            growth.add(Part.of(messages.subList(0, size)));
        }
        return growth;
    }

    /** Returns whether turns interleave, so that an older turn gets results late. */
    public boolean interleaves() {
        return scenes.stream().anyMatch(scene -> scene.kind() == Kind.INTERLEAVED);
    }

    /** Returns the scenes, from which {@link #of} can create this branch again. */
    @Override
    public String toString() {
        return scenes + (messages.stream().anyMatch(message -> message.question() != null) ? " bound" : "");
    }
}
