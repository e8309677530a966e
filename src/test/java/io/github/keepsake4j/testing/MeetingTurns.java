package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.tokens.TokenCounter.Count;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Random branches on which two to four turns of AI services run at a time, as their messages arrive in the log. The turns
 * have rounds of tools, fail, are killed, are cut, are rejected by guardrails, and are answered by hand. Exchanges that no
 * AI service made are mixed in.
 */
public final class MeetingTurns {

    private static final int AT_ONCE = 4;

    private final Random random;
    private final Function<ChatMessage, Count> counter;
    private final List<LoggedMessage> branch = new ArrayList<>();

    /** Whether questions of no AI service may wait for their answer while others write. */
    private final boolean waits;

    private MeetingTurns(Random random, Function<ChatMessage, Count> counter, boolean waits) {
        this.random = random;
        this.counter = counter;
        this.waits = waits;
    }

    /** A message of a turn. It may have to follow the message before it directly. */
    private record Step(ChatMessage message, @Nullable Outcome outcome, boolean bound, boolean directly) {}

    /**
     * Returns a branch, oldest first.
     *
     * @param turns how many turns begin
     * @param waits whether questions that no AI service asked may wait for their answer while others write
     */
    public static List<LoggedMessage> random(
            Random random, int turns, boolean waits, Function<ChatMessage, Count> counter) {
        MeetingTurns meeting = new MeetingTurns(random, counter, waits);
        List<String> names = new ArrayList<>();
        List<Deque<Step>> open = new ArrayList<>();
        int begun = 0;
        while (begun < turns || !open.isEmpty()) {
            if (begun < turns && (open.isEmpty() || (open.size() < AT_ONCE && random.nextInt(3) == 0))) {
                names.add("t" + begun);
                open.add(meeting.turn("t" + begun++));
            }
            int at = random.nextInt(open.size());
            meeting.say(names.get(at), open.get(at));
            if (open.get(at).isEmpty()) {
                open.remove(at);
                names.remove(at);
            }
        }
        return meeting.branch;
    }

    private void say(String name, Deque<Step> turn) {
        do {
            Step step = turn.remove();
            boolean asks = step.message instanceof UserMessage;
            Count count = counter.apply(step.message);
            branch.add(new LoggedMessage(
                    asks ? name : name + "-" + branch.size(),
                    branch.isEmpty() ? null : branch.get(branch.size() - 1).id(),
                    branch.size() + 1L,
                    step.message,
                    count.tokens(),
                    count.counter(),
                    Instant.EPOCH.plusSeconds(branch.size()),
                    step.outcome,
                    step.bound ? name : null,
                    null));
        } while (!turn.isEmpty() && turn.peek().directly);
    }

    private Deque<Step> turn(String name) {
        Deque<Step> steps = new ArrayDeque<>();
        if (random.nextInt(15) == 0) {
            steps.add(new Step(SystemMessage.from("rule " + random.nextInt(3)), null, false, false));
        }
        if (random.nextInt(40) == 0) {
            steps.add(new Step(CustomMessage.from(Map.of("name", name)), null, false, false));
        }
        if (random.nextInt(5) == 0) {
            unbound(name, steps);
        } else {
            bound(name, steps);
        }
        return steps;
    }

    /** What an application adds by hand, at once unless questions may wait. */
    private void unbound(String name, Deque<Step> steps) {
        boolean directly = !waits || random.nextBoolean();
        steps.add(new Step(UserMessage.from(text(name)), null, false, false));
        for (int round = random.nextInt(4) / 2; round > 0; round--) {
            round(name, steps, false, directly, 0);
        }
        if (!waits || random.nextInt(4) > 0) {
            steps.add(new Step(AiMessage.from(text(name)), null, false, directly));
        }
    }

    private void bound(String name, Deque<Step> steps) {
        int end = random.nextInt(20);
        boolean fails = end < 4;
        steps.add(new Step(UserMessage.from(text(name)), fails ? Outcome.failed("error") : null, true, false));
        if (random.nextInt(10) == 0) {
            // By hand, under the question.
            steps.add(new Step(AiMessage.from(text(name)), null, random.nextBoolean(), true));
        }
        int rounds = random.nextInt(5) - 1;
        for (int round = 0; round < rounds; round++) {
            round(name, steps, true, false, 0);
        }
        switch (end) {
            case 0, 4, 5 -> {
                // Failed, killed or still without an answer.
            }
            case 1, 6 -> round(name, steps, true, false, 1 + random.nextInt(2));
            case 2 -> answer(name, steps, Outcome.rejected("guard"));
            case 3 -> {
                // By hand, after the failure.
                answer(name, steps, null);
            }
            case 7 -> answer(name, steps, Outcome.incomplete("cut"));
            case 8, 9 -> {
                answer(name, steps, Outcome.rejected("guard"));
                answer(name, steps, null);
            }
            case 10 -> {
                answer(name, steps, null);
                answer(name, steps, null);
            }
            default -> answer(name, steps, null);
        }
    }

    private void answer(String name, Deque<Step> steps, @Nullable Outcome outcome) {
        steps.add(new Step(AiMessage.from(text(name)), outcome, true, false));
    }

    /** Adds calls and their results, of which some may be missing. */
    private void round(String name, Deque<Step> steps, boolean bound, boolean directly, int missing) {
        // Some models begin to number their calls again in each answer.
        boolean numbered = random.nextInt(3) == 0;
        List<ToolExecutionRequest> calls = new ArrayList<>();
        for (int i = random.nextInt(2) + missing; i >= 0; i--) {
            calls.add(Dialogue.call(numbered ? "call_" + i : name + "/" + steps.size() + "/" + i, "tool", "{}"));
        }
        steps.add(new Step(AiMessage.from(List.copyOf(calls)), null, bound, directly));
        Collections.shuffle(calls, random);
        for (ToolExecutionRequest call : calls.subList(0, calls.size() - missing)) {
            steps.add(new Step(ToolExecutionResultMessage.from(call, text(name)), null, bound, directly));
        }
    }

    private String text(String name) {
        return name + "/" + random.nextInt(1_000_000) + " word".repeat(random.nextInt(12));
    }
}
