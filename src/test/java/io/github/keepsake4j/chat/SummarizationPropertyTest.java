package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.ImpatientWorker;
import io.github.keepsake4j.summary.SummaryFailedException;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Scene;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.view.ViewReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random conversations with random strategies and a summarizer that fails in every possible way. The worker's jobs wait
 * in a queue until the test runs them, and other events happen during the summarizer's call. So one thread does
 * everything, and a seed determines a conversation.
 */
@Tag("landing")
class SummarizationPropertyTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "id");

    /**
     * A text with this beginning counts as one token, so that such a summary is shorter than the messages that it
     * replaces.
     */
    private static final String TINY = "Tiny";

    /** Counts words, and a fixed number of tokens for each message. */
    private static final TokenCountEstimator ESTIMATOR = new TokenCountEstimator() {
        private final WordCounter words = new WordCounter();

        @Override
        public int estimateTokenCountInText(String text) {
            return words.estimateTokenCountInText(text);
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            boolean tiny = message instanceof UserMessage user
                    && user.hasSingleText()
                    && user.singleText().startsWith(TINY);
            return tiny ? 1 : words.estimateTokenCountInMessage(message) + 4;
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            int tokens = words.estimateTokenCountInMessages(List.of());
            for (ChatMessage message : messages) {
                tokens += estimateTokenCountInMessage(message);
            }
            return tokens;
        }
    };

    /** Messages that a repair hides are hidden from the model permanently. Only a limit requires a summary for them. */
    private static final Set<Reason> REPAIRS = EnumSet.of(
            Reason.ORPHAN_RESULT,
            Reason.UNANSWERED_CALL,
            Reason.ANSWER_BEFORE_CALL,
            Reason.REPEATED_USER_MESSAGE,
            Reason.EMPTY_TEXT,
            Reason.OLD_SYSTEM_MESSAGE,
            Reason.UNKNOWN_TYPE);

    private static final Set<String> KINDS =
            Set.of("made", "thrown", "blank", "too_long", "marked", "timeout", "set", "clear", "switch");

    @Test
    @ExpectedLog("was made (")
    void whatever_the_summarizer_does_limits_hold_and_nothing_is_ever_neither_shown_nor_covered() {
        String given = System.getProperty("keepsake.seed");
        long first = given != null ? Long.parseLong(given) : new Random().nextInt(1_000_000_000);
        int tries = given != null ? 1 : Counts.of(30, 5_000);
        Tell.line("seeds " + first + " to " + (first + tries - 1));
        Map<String, Integer> happened = new HashMap<>();
        // More seeds are run if an event that this test is about has not happened.
        for (long seed = first;
                seed < first + tries
                        || (given == null && !happened.keySet().containsAll(KINDS) && seed < first + 10 * tries);
                seed++) {
            Play play = new Play(seed);
            try {
                play.run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("-Dkeepsake.seed=" + seed + " " + play.described, e);
            }
            play.happened.forEach((what, times) -> happened.merge(what, times, Integer::sum));
        }
        if (given == null) {
            // Without these events, the test would prove nothing.
            assertThat(happened.keySet()).containsAll(KINDS);
        }
    }

    /** One conversation. */
    private static final class Play {

        private final Random random;
        private final MessageLog log = new InMemoryMessageLog();
        private final Queue<Runnable> jobs = new ConcurrentLinkedQueue<>();
        private final Map<String, Integer> happened = new HashMap<>();
        private final List<Predicate<List<ChatMessage>>> limits = new ArrayList<>();
        private final Summarization.Role role;
        private final ContextStrategy strategy;
        private final boolean pinned;
        private final String described;
        private final boolean hangs;

        /** The added messages without system messages, which are stored only where they change. */
        private final List<ChatMessage> added = new ArrayList<>();

        /** The requests to the summarizer, by its answer. */
        private final Map<String, Asked> asked = new HashMap<>();

        private ChatMemories settings;
        private KeepsakeChatMemory memory;
        private boolean healed;
        private boolean thinking;
        private boolean stepped;
        private int checkedSummaries;
        private int scenes;
        private int answers;

        /** The messages that were there to summarize when the summarizer was called. */
        private record Asked(@Nullable Summary previous, List<LoggedMessage> uncovered, List<ChatMessage> messages) {}

        Play(long seed) {
            random = new Random(seed);
            hangs = random.nextInt(12) == 0;
            role = Summarization.Role.values()[random.nextInt(2)];
            StringBuilder parts = new StringBuilder();
            ContextStrategy all = summarization(parts);
            boolean pins = false;
            for (int i = random.nextInt(4); i > 0; i--) {
                ContextStrategy more =
                        switch (random.nextInt(6)) {
                            case 0, 1 -> window(parts);
                            case 2, 3 -> tokenLimit(parts);
                            case 4 -> {
                                pins = true;
                                yield pinned(parts);
                            }
                            default -> {
                                int keep = random.nextInt(3);
                                parts.append(", clears all but ").append(keep);
                                yield ClearToolResults.keepNewest(keep);
                            }
                        };
                all = random.nextBoolean() ? all.and(more) : more.and(all);
            }
            strategy = all;
            pinned = pins;
            described = parts.toString();
            settings = settings(hangs ? Duration.ofMillis(20) : Duration.ofMinutes(1));
            memory = settings.memory("id", KEY);
        }

        void run() {
            for (int step = 5 + random.nextInt(25); step > 0; step--) {
                step();
                check();
                if (random.nextInt(3) == 0) {
                    work(1 + random.nextInt(3));
                    check();
                }
            }
            heal();
        }

        private Summarization summarization(StringBuilder parts) {
            boolean tokens = random.nextBoolean();
            int trigger = tokens ? 40 + random.nextInt(400) : 2 + random.nextInt(18);
            int keep = 1 + random.nextInt(trigger - 1);
            parts.append("keeps ").append(keep).append(" of ").append(trigger).append(tokens ? " tokens" : " messages");
            parts.append(" as ").append(role);
            limits.add(
                    shown -> (tokens ? ESTIMATOR.estimateTokenCountInMessages(shown) : shown.size()) <= 2L * trigger);
            Summarization made = tokens
                    ? Summarization.triggerTokens(trigger).keepTokens(keep).countedBy(ESTIMATOR)
                    : Summarization.triggerMessages(trigger).keepMessages(keep);
            return made.shownAs(role);
        }

        private ContextStrategy window(StringBuilder parts) {
            int step = random.nextInt(3);
            if (random.nextInt(3) == 0) {
                int turns = 1 + random.nextInt(6);
                parts.append(", ").append(turns).append(" turns");
                limits.add(shown -> shown.stream()
                                .filter(message -> message instanceof UserMessage && !Summarization.isSummary(message))
                                .count()
                        <= turns);
                return SlidingWindow.withMaxTurns(turns);
            }
            int messages = 4 + random.nextInt(20);
            parts.append(", ").append(messages).append(" messages, step ").append(step);
            limits.add(shown -> shown.size() <= messages);
            SlidingWindow window = SlidingWindow.withMaxMessages(messages);
            stepped |= step > 0;
            return step == 0 ? window : window.step(step);
        }

        private ContextStrategy tokenLimit(StringBuilder parts) {
            int tokens = 100 + random.nextInt(400);
            int step = random.nextInt(2) * 20;
            parts.append(", ").append(tokens).append(" tokens, step ").append(step);
            limits.add(shown -> ESTIMATOR.estimateTokenCountInMessages(shown) <= tokens);
            TokenLimit limit = TokenLimit.withMaxTokens(tokens, ESTIMATOR);
            stepped |= step > 0;
            return step == 0 ? limit : limit.step(step);
        }

        private ContextStrategy pinned(StringBuilder parts) {
            int first = 1 + random.nextInt(4);
            boolean oldest = random.nextBoolean();
            parts.append(oldest ? ", pins the first " : ", pins each seventh from ")
                    .append(first);
            return oldest ? Pinned.firstMessages(first) : Pinned.messages(message -> message.sequence() % 7 == first);
        }

        private ChatMemories settings(Duration callTimeout) {
            Metrics metrics = new Metrics() {
                @Override
                public void summaryMade(String backend, long tokensFolded, long tokensSent) {
                    count("made");
                }

                @Override
                public void summaryFailed(String backend, String kind) {
                    count(kind);
                    assertThat(healed)
                            .as("after it healed a summary failed: " + kind)
                            .isFalse();
                }
            };
            TokenCounter counter = TokenCounter.of(ESTIMATOR);
            SummaryWorker worker = ImpatientWorker.of(
                    log,
                    this::summarize,
                    jobs::add,
                    metrics,
                    callTimeout,
                    1 + random.nextInt(3),
                    answer -> answer.contains(Summarization.MARKER.strip()),
                    counter);
            return BareMemories.of(key -> log, id -> KEY, strategy, counter, Runnable::run, worker, metrics);
        }

        private synchronized void count(String what) {
            happened.merge(what, 1, Integer::sum);
        }

        private void step() {
            int choice = random.nextInt(20);
            if (choice < 12 || added.isEmpty()) {
                scene();
            } else if (choice < 14) {
                branch();
            } else if (choice < 16) {
                set();
            } else if (choice < 17) {
                clear();
            } else if (choice < 18) {
                // Messages that wait for the rest of a tool round belong to this object and are lost with it.
                shown();
                memory = settings.memory("id", KEY);
            } else if (!thinking) {
                now();
            }
        }

        /** Does what an AI service does: it reads before it adds the user's message, and after each tool round. */
        private void scene() {
            for (ChatMessage message : Scene.random(random).play("s" + scenes++)) {
                if (message instanceof UserMessage && random.nextInt(4) > 0) {
                    shown();
                }
                try {
                    memory.add(message);
                } catch (ContextOverflowException e) {
                    // Calls whose results cannot be shown are stored all the same.
                    count("overflow");
                }
                if (!(message instanceof SystemMessage)) {
                    added.add(message);
                }
                if (!thinking && random.nextInt(10) == 0) {
                    work(1);
                }
            }
        }

        /** Regenerates an answer, edits a question, or switches to another branch, as a user does. */
        private void branch() {
            shown();
            List<LoggedMessage> all = history();
            String id = all.get(random.nextInt(all.size())).id();
            if (random.nextBoolean()) {
                count("switch");
                conversation().switchTo(id);
                return;
            }
            count("regenerate");
            ChatMessage message = random.nextBoolean() ? ai("again " + scenes++) : user("edited " + scenes++);
            conversation().append(Parent.of(id), Ids.next(), message);
            added.add(message);
        }

        private void set() {
            List<ChatMessage> shown = shown();
            if (shown == null || shown.isEmpty()) {
                return;
            }
            count("set");
            List<ChatMessage> list = new ArrayList<>(shown);
            int what = random.nextInt(5);
            if (what == 1) {
                list = list.subList(0, 1 + random.nextInt(list.size()));
            } else if (what == 2) {
                list.remove(random.nextInt(list.size()));
            }
            if (list.isEmpty()) {
                return;
            }
            if (what == 3 || what == 4) {
                list.add(user("set " + scenes++));
                added.add(list.get(list.size() - 1));
            }
            memory.set(list);
            List<ChatMessage> now = shown();
            if (now != null) {
                assertThat(now.stream().filter(Summarization::isSummary).toList())
                        .as("the summary of a list that was set")
                        .isEqualTo(
                                list.stream().filter(Summarization::isSummary).toList());
            }
            if (what == 0) {
                assertThat(shown()).as("after it was set").isEqualTo(shown);
            }
        }

        private void clear() {
            List<ChatMessage> shown = shown();
            if (shown == null) {
                return;
            }
            count("clear");
            memory.clear();
            assertThat(conversation().messages()).isEmpty();
            int again = random.nextBoolean() ? shown.size() : random.nextInt(shown.size() + 1);
            shown.subList(0, again).forEach(memory::add);
            // A limit that moves in steps cuts more than necessary, so it has room again.
            if (again == shown.size() && !pinned && !stepped) {
                assertThat(shown()).as("added again").isEqualTo(shown);
            }
        }

        private void now() {
            // The call would otherwise wait for a job in the test's queue.
            drain();
            try {
                conversation().summarizeNow();
            } catch (SummaryFailedException e) {
                assertThat(e.isRetryable()).isTrue();
            }
        }

        private void work(int most) {
            Runnable job;
            for (int i = 0; i < most && (job = jobs.poll()) != null; i++) {
                job.run();
            }
            checkSummaries();
        }

        private void drain() {
            long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
            while (!conversation().isSummarized() || !jobs.isEmpty()) {
                work(1);
                assertThat(System.nanoTime()).as("time").isLessThan(deadline);
            }
            checkSummaries();
        }

        private String summarize(@Nullable String previous, List<ChatMessage> messages) {
            Asked now = asked(messages);
            assertThat(previous)
                    .as("the summary before")
                    .isEqualTo(now.previous() == null ? null : now.previous().text());
            if (!healed && !thinking && random.nextInt(3) == 0) {
                thinking = true;
                for (int i = 1 + random.nextInt(3); i > 0; i--) {
                    step();
                    check();
                }
                thinking = false;
            }
            int what = healed ? 9 : random.nextInt(10);
            if (what == 0) {
                throw new IllegalStateException("out of order");
            } else if (what == 1) {
                return random.nextBoolean() ? "" : " \n";
            } else if (what == 2) {
                return "long ".repeat(20_000);
            } else if (what == 3) {
                return "As said: " + Summarization.MARKER + " nothing";
            } else if (what == 4 && hangs) {
                hang();
            }
            String answer = what > 7 ? TINY + ++answers : "Some" + ++answers + " fact".repeat(random.nextInt(12));
            asked.put(answer, now);
            return answer;
        }

        private static void hang() {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** Determines the request from all stored messages, and from no information of the chat or the worker. */
        private Asked asked(List<ChatMessage> messages) {
            List<LoggedMessage> whole = whole();
            View view = log.read(KEY, ReadQuery.newest(0)).view();
            Summary covering = covering(whole, view);
            return new Asked(covering, uncovered(whole, covering), messages);
        }

        private List<LoggedMessage> whole() {
            return ViewReader.read(log, KEY, ReadQuery.wholeBranch()).messages();
        }

        /**
         * Returns the newest summary of the messages. Where a view is in force, it is the newest summary of those that
         * follow the view, or the summary before it.
         */
        private @Nullable Summary covering(List<LoggedMessage> whole, @Nullable View view) {
            List<Summary> summaries = Logs.summaries(log, KEY);
            for (int i = whole.size() - 1; i >= 0; i--) {
                LoggedMessage message = whole.get(i);
                if (view == null || message.sequence() > view.anchorSequence()) {
                    Summary newest = newest(summaries, message.id());
                    if (newest != null) {
                        return newest;
                    }
                }
            }
            return view == null || view.summary() == null ? null : newest(summaries, view.summary());
        }

        private static @Nullable Summary newest(List<Summary> summaries, String covered) {
            return summaries.stream()
                    .filter(summary -> summary.coversUpTo().equals(covered))
                    .reduce((older, newer) -> newer)
                    .orElse(null);
        }

        private List<LoggedMessage> uncovered(List<LoggedMessage> whole, @Nullable Summary summary) {
            View view = log.read(KEY, ReadQuery.newest(0)).view();
            for (int i = whole.size() - 1; summary != null && i >= 0; i--) {
                boolean counts = view == null || whole.get(i).sequence() > view.anchorSequence();
                if (counts && whole.get(i).id().equals(summary.coversUpTo())) {
                    return whole.subList(i + 1, whole.size());
                }
            }
            return whole;
        }

        /** Checks that each new summary was made from exactly the messages that it covers beyond the previous one. */
        private void checkSummaries() {
            List<Summary> all = Logs.summaries(log, KEY);
            for (Summary summary : all.subList(checkedSummaries, all.size())) {
                Asked from = asked.get(summary.text());
                assertThat(from).as("an answer that was given").isNotNull();
                List<String> ids =
                        from.uncovered().stream().map(LoggedMessage::id).toList();
                int last = ids.lastIndexOf(summary.coversUpTo());
                assertThat(last).as("where it ends").isNotNegative();
                assertThat(from.messages())
                        .as("what it was made from")
                        .isEqualTo(from.uncovered().subList(0, last + 1).stream()
                                .map(LoggedMessage::message)
                                .toList());
                Summary previous = from.previous();
                assertThat(summary.replacedMessages())
                        .isEqualTo(last + 1 + (previous == null ? 0 : previous.replacedMessages()));
            }
            checkedSummaries = all.size();
        }

        /** Reads, or returns null if the current turn does not fit. */
        private @Nullable List<ChatMessage> shown() {
            try {
                List<ChatMessage> shown = memory.messages();
                check(shown);
                return shown;
            } catch (ContextOverflowException e) {
                count("overflow");
                return null;
            }
        }

        private void check() {
            List<ChatMessage> shown = shown();
            List<ChatMessage> stored =
                    history().stream().map(LoggedMessage::message).toList();
            assertThat(stored).noneMatch(Summarization::isSummary);
            assertThat(stored.stream().filter(message -> !(message instanceof SystemMessage)))
                    .containsExactlyElementsOf(added);
            if (shown != null) {
                // In the middle of a turn, the memory itself continues with the summary with which the turn began.
                KeepsakeChatMemory another = settings.memory("id", KEY);
                Context.Overflow over = conversation().context().over();
                if (over != null && over.newest() == null) {
                    // The system message does not fit beside a newer summary that is longer.
                    assertThatThrownBy(another::messages).isInstanceOf(ContextOverflowException.class);
                } else {
                    assertThat(conversation().messages()).isEqualTo(another.messages());
                }
            }
            checkNothingTwice();
        }

        private void check(List<ChatMessage> shown) {
            for (int i = 0; i < limits.size(); i++) {
                assertThat(limits.get(i).test(shown))
                        .as("limit " + i + " holds")
                        .isTrue();
            }
            List<ChatMessage> summaries =
                    shown.stream().filter(Summarization::isSummary).toList();
            assertThat(summaries).hasSizeLessThan(2);
            List<ChatMessage> checked = new ArrayList<>(shown);
            if (!summaries.isEmpty()) {
                boolean system = shown.get(0) instanceof SystemMessage && !Summarization.isSummary(shown.get(0));
                assertThat(shown.indexOf(summaries.get(0))).as("its place").isEqualTo(system ? 1 : 0);
                assertThat(summaries.get(0) instanceof SystemMessage).isEqualTo(role == Summarization.Role.SYSTEM);
                checked.remove(summaries.get(0));
            }
            assertThat(violations(checked)).isEmpty();
            assertThat(violations(role == Summarization.Role.USER ? shown : checked))
                    .isEmpty();
        }

        /** A blank text beside an image was sent by the user and stays. */
        private static List<ProviderRules.Violation> violations(List<ChatMessage> messages) {
            return ProviderRules.all(messages).stream()
                    .filter(violation -> violation.rule() != ProviderRules.Rule.NO_BLANK_TEXT
                            || !(messages.get(violation.index()) instanceof UserMessage user && !user.hasSingleText()))
                    .toList();
        }

        /**
         * Checks that messages that a summary covers are not shown beside it, except for the question that is being
         * answered and pinned turns.
         */
        private void checkNothingTwice() {
            List<LoggedMessage> whole = whole();
            Context context = conversation().context();
            LoggedMessage summary = context.summary();
            Summary covering =
                    covering(whole, log.read(KEY, ReadQuery.newest(0)).view());
            assertThat(summary == null ? null : summary.id())
                    .as("what the shown summary covers")
                    .isEqualTo(covering == null ? null : covering.coversUpTo());
            if (pinned) {
                return;
            }
            Set<String> uncovered =
                    uncovered(whole, covering).stream().map(LoggedMessage::id).collect(Collectors.toSet());
            List<LoggedMessage> turns = context.logged().stream()
                    .filter(message -> !(message.message() instanceof SystemMessage))
                    .toList();
            for (int i = 0; i < turns.size(); i++) {
                boolean question = i == 0 && turns.get(i).message() instanceof UserMessage;
                assertThat(question || uncovered.contains(turns.get(i).id()))
                        .as("shown and covered: " + turns.get(i).id())
                        .isTrue();
            }
        }

        /**
         * Lets the summarizer work again, possibly in another process, and continues the conversation for two plain
         * turns. If another writer has set a view, it continues for many turns, because a summary is only made once it
         * can end behind the view's anchor.
         */
        private void heal() {
            drain();
            check();
            // What the check made due has the short time limit of a summarizer that hangs: it must not run any later.
            drain();
            healed = true;
            settings = settings(Duration.ofMinutes(1));
            memory = settings.memory("id", KEY);
            int turns = log.read(KEY, ReadQuery.newest(0)).view() == null ? 2 : 80;
            for (int i = 0; i < turns; i++) {
                shown();
                for (ChatMessage message : List.of(user("plain " + i), ai("fine " + i))) {
                    memory.add(message);
                    added.add(message);
                }
            }
            check();
            drain();
            check();
            int made = Logs.summaries(log, KEY).size();
            shown();
            drain();
            assertThat(Logs.summaries(log, KEY)).as("nothing is due any more").hasSize(made);
            List<LoggedMessage> whole = whole();
            Summary covering =
                    covering(whole, log.read(KEY, ReadQuery.newest(0)).view());
            Context context = conversation().context();
            Set<String> fine = new HashSet<>();
            context.logged().forEach(message -> fine.add(message.id()));
            context.omitted().stream()
                    .filter(omission -> REPAIRS.contains(omission.reason()))
                    .forEach(omission -> fine.add(omission.message().id()));
            assertThat(uncovered(whole, covering).stream()
                            .filter(message -> !(message.message() instanceof SystemMessage))
                            .filter(message -> !fine.contains(message.id()))
                            .map(message -> message.id() + " "
                                    + message.message().type() + " of " + whole.size() + ", at "
                                    + whole.indexOf(message)))
                    .as("neither shown nor covered")
                    .isEmpty();
        }

        private Conversation conversation() {
            return settings.conversation("id", KEY);
        }

        private List<LoggedMessage> history() {
            return log.history(KEY, HistoryQuery.oldest(10_000)).messages();
        }
    }
}
