package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ProviderRules;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Bound turns that run at the same time, of which some fail, are killed, or still run. */
class UnansweredQuestionsTest {

    private static final int TURNS = 4;

    /** One turn: what it says, step by step. */
    private static final class Script {
        final String name;
        final List<ChatMessage> steps = new ArrayList<>();
        final boolean bound;
        boolean fails;
        int said;
        boolean rounds;
        boolean answered;
        boolean begun;

        Script(String name, boolean bound) {
            this.name = name;
            this.bound = bound;
            steps.add(UserMessage.from("question " + name));
            steps.add(AiMessage.from("answer " + name));
        }

        Script(int number, Random random) {
            this.name = "t" + number;
            this.bound = random.nextInt(5) > 0;
            steps.add(UserMessage.from("question " + name));
            if (!bound) {
                return;
            }
            // Some models number their calls anew in each answer.
            boolean anew = random.nextBoolean();
            for (int round = random.nextInt(3); round > 0; round--) {
                String call = anew ? "call_0" : name + "-" + round;
                steps.add(AiMessage.from(
                        ToolExecutionRequest.builder().id(call).name("tool").build()));
                steps.add(ToolExecutionResultMessage.from(call, "tool", "result"));
            }
            steps.add(AiMessage.from("answer " + name));
            // A process may be killed behind any step, or still run.
            int kept = random.nextInt(3) == 0 ? 1 + random.nextInt(steps.size()) : steps.size();
            while (steps.size() > kept) {
                steps.remove(steps.size() - 1);
            }
            fails = !(steps.get(steps.size() - 1) instanceof AiMessage ai && !ai.hasToolExecutionRequests())
                    && random.nextBoolean();
        }

        String question() {
            return name + "-0";
        }

        void says(List<LoggedMessage> branch) {
            ChatMessage message = steps.get(said);
            String id = name + "-" + said++;
            begun = true;
            rounds |= message instanceof ToolExecutionResultMessage;
            answered |= message instanceof AiMessage ai && !ai.hasToolExecutionRequests();
            Outcome outcome = said == 1 && fails && bound ? Outcome.failed("error") : null;
            branch.add(new LoggedMessage(
                    id,
                    branch.isEmpty() ? null : branch.get(branch.size() - 1).id(),
                    branch.size() + 1L,
                    message,
                    1,
                    "test",
                    Instant.EPOCH,
                    outcome,
                    bound ? question() : null,
                    null));
        }
    }

    @Test
    void no_killed_or_failed_question_is_shown_and_no_round_counts_for_another_question() {
        long first = Counts.seed();
        int hidden = 0;
        for (int run = 0; run < Counts.of(1_500, 100_000); run++) {
            Random random = new Random(first + run);
            List<Script> turns = new ArrayList<>();
            for (int t = 0; t < TURNS; t++) {
                turns.add(new Script(t, random));
            }
            List<LoggedMessage> branch = new ArrayList<>();
            List<Script> asked = new ArrayList<>();
            List<Script> open = new ArrayList<>(turns);
            while (!open.isEmpty()) {
                Script turn = open.get(random.nextInt(open.size()));
                if (!turn.begun) {
                    asked.add(turn);
                }
                turn.says(branch);
                if (turn.said == turn.steps.size()) {
                    open.remove(turn);
                }
            }
            Set<String> expected = new HashSet<>();
            boolean followed = false;
            for (int t = asked.size() - 1; t >= 0; t--) {
                Script turn = asked.get(t);
                boolean answers = turn.rounds || turn.answered;
                if (turn.bound && !answers && (turn.fails || followed)) {
                    expected.add(turn.question());
                } else {
                    followed = true;
                }
            }
            hidden += expected.size();

            Context context = Context.of(null, null, branch);
            Set<String> left = new HashSet<>();
            context.omitted().stream()
                    .filter(omission -> omission.message().message() instanceof UserMessage)
                    .forEach(omission -> left.add(omission.message().id()));
            assertThat(left)
                    .as(
                            "seed %d %s",
                            first + run,
                            branch.stream()
                                    .map(m -> m.id()
                                            + m.message().type().name().charAt(0)
                                            + (m.outcome() == null ? "" : "!")
                                            + (m.question() == null ? "u" : ""))
                                    .toList())
                    .isEqualTo(expected);
            assertThat(ProviderRules.all(context.messages()))
                    .as("seed %d", first + run)
                    .isEmpty();
            assertThat(strangers(context)).as("seed %d", first + run).isEmpty();
        }
        assertThat(hidden).isPositive();
    }

    /** Returns what bound turns said that is shown under the question of another one. */
    private static List<String> strangers(Context context) {
        List<String> strangers = new ArrayList<>();
        String question = null;
        for (LoggedMessage message : context.shown()) {
            if (message.message() instanceof UserMessage) {
                question = message.id();
            } else if (message.question() != null && !message.question().equals(question)) {
                strangers.add(message.id() + " under " + question);
            }
        }
        return strangers;
    }

    @Test
    void a_question_returns_with_its_answer() {
        List<LoggedMessage> branch = new ArrayList<>();
        Script one = new Script("one", true);
        Script two = new Script("two", true);
        one.says(branch);
        two.says(branch);
        assertThat(omitted(Context.of(null, null, branch))).containsExactly("one-0 UNANSWERED_QUESTION");
        two.says(branch);
        assertThat(omitted(Context.of(null, null, branch))).containsExactly("one-0 UNANSWERED_QUESTION");
        one.says(branch);
        assertThat(omitted(Context.of(null, null, branch))).isEmpty();
    }

    @Test
    void what_no_bound_turn_appended_is_never_hidden() {
        List<LoggedMessage> branch = new ArrayList<>();
        new Script("document", false).says(branch);
        new Script("question", true).says(branch);
        assertThat(omitted(Context.of(null, null, branch))).isEmpty();
    }

    @Test
    void a_killed_question_is_shown_once_its_own_answer_is_there() {
        List<LoggedMessage> branch = new ArrayList<>();
        Script one = new Script("one", true);
        Script two = new Script("two", true);
        one.says(branch);
        two.says(branch);
        branch.set(0, branch.get(0).withOutcome(Outcome.failed("killed")));
        assertThat(omitted(Context.of(null, null, branch))).containsExactly("one-0 FAILED");
        two.says(branch);
        one.says(branch);
        assertThat(omitted(Context.of(null, null, branch))).isEmpty();
    }

    private static List<String> omitted(Context context) {
        return context.omitted().stream()
                .map(omission -> omission.message().id() + " " + omission.reason())
                .toList();
    }
}
