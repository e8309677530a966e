package io.github.keepsake4j.context;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.RandomBranch.Part;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A turn that is over and alone exceeds a limit is passed by: the others are shown as if it were not there. */
class PassedTurnsTest {

    @Test
    void a_branch_is_shown_as_if_what_is_passed_by_were_not_there() {
        long first = Counts.seed();
        int passed = 0;
        int shortened = 0;
        for (int run = 0; run < Counts.of(250, 100_000); run++) {
            Random random = new Random(first + run);
            Part branch = branch(random);
            Promise promise = promise(random);
            ContextStrategy strategy = promise.strategy();
            String as = "-Dkeepsake.seed=" + (first + run) + " " + strategy.bounds(View.ID) + " " + branch;

            Context whole = strategy.select(View.read(strategy, branch, branch));

            Map<String, List<ContextTurn.Round>> oracle = Rules.passed(promise, Promises.ESTIMATOR, branch);
            Part without = without(branch, oracle);
            assertThat(ids(View.whole(strategy).of(branch)))
                    .as(as)
                    .isEqualTo(ids(View.whole(strategy).of(without)));
            assertThat(ids(View.bounded(strategy).of(branch)))
                    .as("bounded " + as)
                    .isEqualTo(ids(View.whole(strategy).of(branch)));
            assertThat(whole.turns().stream()
                            .filter(turn -> turn.form() != ContextTurn.Form.WHOLE)
                            .map(turn -> turn.user().id()))
                    .as(as)
                    .containsExactlyInAnyOrderElementsOf(oracle.keySet());
            passed += oracle.size();
            shortened += (int)
                    oracle.values().stream().filter(rest -> !rest.isEmpty()).count();
        }
        assertThat(passed).isGreaterThan(shortened);
        assertThat(shortened).isPositive();
    }

    @Test
    void a_window_of_50_shows_48_messages_or_more_after_a_turn_of_41_calls() {
        List<ChatMessage> messages = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            messages.add(user("q" + i));
            messages.add(ai("a" + i));
        }
        messages.addAll(loop(41, "agent"));
        Part done = part(messages);
        ContextStrategy window = SlidingWindow.withMaxMessages(50);

        assertThat(View.whole(window).of(done).shown()).hasSizeGreaterThanOrEqualTo(48);
        messages.add(user("next"));
        Part next = part(messages);
        assertThat(View.whole(window).of(next).shown()).hasSizeGreaterThanOrEqualTo(48);
        assertThat(ids(View.bounded(window).of(next)))
                .isEqualTo(ids(View.whole(window).of(next)));
    }

    @Test
    void an_open_turn_is_not_passed_by() {
        List<ChatMessage> loop = loop(41, "agent");
        List<ChatMessage> messages = new ArrayList<>(List.of(user("q"), ai("a")));
        messages.addAll(loop.subList(0, loop.size() - 1));

        List<LoggedMessage> shown =
                View.whole(SlidingWindow.withMaxMessages(50)).of(part(messages)).shown();

        assertThat(shown.get(0).message()).isEqualTo(loop.get(0));
        assertThat(shown).hasSizeGreaterThanOrEqualTo(48);
    }

    @Test
    void a_large_question_under_a_summary_does_not_blank_the_view_and_is_covered_next() {
        List<ChatMessage> messages = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            messages.add(user("q" + i));
            messages.add(ai("a" + i));
        }
        messages.add(user("word ".repeat(250)));
        messages.add(ai("done"));
        Part branch = part(messages);
        Summarization strategy = Summarization.triggerTokens(400).countedBy(Promises.ESTIMATOR);

        Context shown = strategy.select(View.read(strategy, branch, branch));

        assertThat(shown.messages()).hasSize(60);
        assertThat(strategy.foldUpTo(shown)).contains("m62");
    }

    @Test
    void what_is_passed_by_is_due_to_be_covered() {
        long first = Counts.seed();
        int passed = 0;
        for (int run = 0; run < Counts.of(250, 100_000); run++) {
            Random random = new Random(first + run);
            Part branch = branch(random);
            Summarization summaries = random.nextBoolean()
                    ? Summarization.triggerTokens(200 + random.nextInt(1_000)).countedBy(Promises.ESTIMATOR)
                    : Summarization.triggerMessages(10 + random.nextInt(40)).countedBy(Promises.ESTIMATOR);
            ContextStrategy strategy = random.nextBoolean()
                    ? summaries
                    : promise(random).strategy().and(summaries);

            Context selected = strategy.select(View.read(strategy, branch, branch));

            long due = strategy.foldUpTo(selected)
                    .map(id -> Long.parseLong(id.substring(1)))
                    .orElse(0L);
            List<ContextTurn> turns = selected.turns();
            for (int t = 0; t < turns.size(); t++) {
                ContextTurn turn = turns.get(t);
                if (turn.form() != ContextTurn.Form.WHOLE && (turn.closed() || t < turns.size() - 1)) {
                    passed++;
                    assertThat(due)
                            .as("-Dkeepsake.seed=" + (first + run) + " " + strategy.bounds(View.ID) + " " + branch)
                            .isGreaterThanOrEqualTo(Fold.newest(List.of(turn)).sequence());
                }
            }
        }
        assertThat(passed).isPositive();
    }

    @Test
    void a_view_ends_where_more_than_a_thousand_messages_are_passed_by() {
        List<ChatMessage> messages = new ArrayList<>(List.of(user("q"), ai("a")));
        for (int i = 0; i < 12; i++) {
            messages.addAll(loop(45, "agent" + i));
        }
        messages.addAll(List.of(user("q2"), ai("a2")));
        Part branch = part(messages);
        ContextStrategy window = SlidingWindow.withMaxMessages(50);

        Context whole = window.select(View.read(window, branch, branch));

        assertThat(whole.messages()).startsWith(loop(45, "agent2").get(0)).endsWith(user("q2"), ai("a2"));
        assertThat(whole.messages()).hasSize(22);
        assertThat(whole.omitted().stream().map(Omission::reason)).contains(Omission.Reason.TOO_FAR_BACK);
        assertThat(ids(View.bounded(window).of(branch)))
                .isEqualTo(ids(View.whole(window).of(branch)));
    }

    private static Part branch(Random random) {
        List<ChatMessage> messages = new ArrayList<>();
        if (random.nextInt(3) == 0) {
            messages.add(SystemMessage.from("Be brief"));
        }
        int turns = 1 + random.nextInt(12);
        int large = random.nextInt(4);
        for (int i = 0; i < turns + large; i++) {
            boolean isLarge = random.nextInt(turns + large) < large;
            if (!isLarge) {
                messages.addAll(random.nextInt(4) == 0 ? loop(1, "t" + i) : List.of(user("q" + i), ai("a" + i)));
            } else {
                switch (random.nextInt(4)) {
                    case 0 -> messages.addAll(List.of(user("long ".repeat(600) + i), ai("a" + i)));
                    case 1 -> messages.addAll(List.of(user("q" + i), ai("long ".repeat(600) + i)));
                    case 2 -> messages.add(user("long ".repeat(600) + i));
                    default -> messages.addAll(loop(40, "t" + i));
                }
            }
        }
        if (random.nextInt(3) == 0) {
            // A turn that is open is never passed by, however large it is.
            List<ChatMessage> open = loop(1 + random.nextInt(45), "open");
            messages.addAll(open.subList(0, open.size() - 1));
        }
        return part(messages);
    }

    private static Promise promise(Random random) {
        List<Promise> all = List.of(
                Promise.window(Promise.Unit.MESSAGES, 4 + random.nextInt(50), random.nextInt(3)),
                Promise.window(Promise.Unit.TURNS, 2 + random.nextInt(10), random.nextInt(2)),
                Promise.tokens(100 + random.nextInt(1_000), random.nextInt(40), Promises.ESTIMATOR),
                Promise.summarized(Promise.Unit.TOKENS, 100 + random.nextInt(500), Promises.ESTIMATOR),
                Promise.summarized(Promise.Unit.MESSAGES, 4 + random.nextInt(25), Promises.ESTIMATOR),
                Promise.cleared(random.nextInt(4), 0),
                Promise.pinnedFirst(1 + random.nextInt(3)));
        Promise promise = all.get(random.nextInt(5));
        Promise other = all.get(random.nextInt(all.size()));
        return random.nextBoolean() || promise == other ? promise : promise.and(other);
    }

    private static List<ChatMessage> loop(int rounds, String name) {
        List<ChatMessage> messages = new ArrayList<>(List.of(user("do " + name)));
        for (int i = 0; i < rounds; i++) {
            String id = name + "-" + i;
            messages.add(AiMessage.from(call(id, "search", "{\"q\": 1}")));
            messages.add(ToolExecutionResultMessage.from(id, "search", "found it here and there and so on for " + id));
        }
        messages.add(ai("done " + name));
        return messages;
    }

    private static Part part(List<ChatMessage> messages) {
        List<LoggedMessage> branch = new ArrayList<>();
        LoggedMessage system = null;
        LoggedMessage user = null;
        for (ChatMessage message : messages) {
            int sequence = branch.size() + 1;
            LoggedMessage logged = new LoggedMessage(
                    "m" + sequence,
                    sequence == 1 ? null : "m" + (sequence - 1),
                    sequence,
                    message,
                    Promises.COUNTER.count(message).tokens(),
                    Promises.COUNTER.count(message).counter(),
                    Instant.EPOCH);
            branch.add(logged);
            system = message instanceof SystemMessage ? logged : system;
            user = message instanceof UserMessage ? logged : user;
        }
        return new Part(system, user, branch);
    }

    private static Part without(Part branch, Map<String, List<ContextTurn.Round>> passed) {
        Set<String> gone = new HashSet<>();
        for (ContextTurn turn :
                Context.of(branch.system(), branch.user(), branch.messages()).turns()) {
            List<ContextTurn.Round> rest = passed.get(turn.user().id());
            if (rest != null) {
                Stream.concat(
                                Stream.of(turn.user()).filter(user -> rest.isEmpty()),
                                turn.rounds().stream()
                                        .filter(round -> !rest.contains(round))
                                        .flatMap(round -> round.messages().stream()))
                        .forEach(message -> gone.add(message.id()));
            }
        }
        List<LoggedMessage> messages = new ArrayList<>();
        for (LoggedMessage message : branch.messages()) {
            if (!gone.contains(message.id())) {
                messages.add(new LoggedMessage(
                        message.id(),
                        messages.isEmpty()
                                ? null
                                : messages.get(messages.size() - 1).id(),
                        message.sequence(),
                        message.message(),
                        message.tokens(),
                        message.tokenCounter(),
                        message.createdAt()));
            }
        }
        LoggedMessage user = messages.stream()
                .filter(message -> message.message() instanceof UserMessage)
                .reduce((older, newer) -> newer)
                .orElse(null);
        return new Part(branch.system(), user, messages);
    }

    private static List<String> ids(View view) {
        return view.shown().stream().map(LoggedMessage::id).toList();
    }
}
