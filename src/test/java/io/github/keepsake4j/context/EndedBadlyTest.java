package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.RandomOutcomes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A branch on which turns ended badly is shown as if what is left out did not exist, by every strategy. */
class EndedBadlyTest {

    @Test
    void every_strategy_shows_a_branch_as_if_what_ended_badly_did_not_exist() {
        long first = Counts.seed();
        long hidden = 0;
        int bounded = 0;
        for (int run = 0; run < Counts.of(1_500, 100_000); run++) {
            long seed = first + run;
            Random random = new Random(seed);
            RandomBranch branch = RandomBranch.random(random, 1 + random.nextInt(10), Promises.COUNTER::count);
            Promise promise = promise(random);
            boolean rejects = random.nextBoolean();
            List<LoggedMessage> ended = RandomOutcomes.on(branch.messages(), random, rejects);
            List<LoggedMessage> prefix = ended.subList(0, random.nextInt(ended.size() + 1));
            List<LoggedMessage> rest = RandomOutcomes.shown(prefix);
            if (!RandomOutcomes.areSameTurns(prefix, rest)) {
                continue;
            }
            hidden += prefix.size() - rest.size();
            String as = "-Dkeepsake.seed=" + seed + " " + promise + " " + part(prefix);

            View shown = View.whole(promise.strategy()).of(part(prefix));
            View expected = View.whole(promise.strategy()).of(part(rest));

            assertThat(ids(shown)).as(as).isEqualTo(ids(expected));
            assertThat(shown.shown()).extracting(LoggedMessage::message).isEqualTo(messages(expected));
            assertThat(shown.overflow()).as(as).isEqualTo(expected.overflow());
            assertThat(ProviderRules.all(messages(shown))).as(as).isEmpty();
            omissions(shown, prefix, rest, as);
            Set<String> kept =
                    new HashSet<>(rest.stream().map(LoggedMessage::id).toList());
            boolean results = prefix.stream()
                    .anyMatch(message ->
                            message.message() instanceof ToolExecutionResultMessage && !kept.contains(message.id()));
            // What an answer or a result without its calls belongs to is not known before its beginning is read, unless
            // the
            // messages carry their question's id.
            boolean isBound = prefix.stream().anyMatch(message -> message.question() != null);
            if (isBound || (rejects && !results)) {
                bounded++;
                assertThat(ids(View.bounded(promise.strategy()).of(part(prefix))))
                        .as("read as far as needed " + as)
                        .isEqualTo(ids(expected));
            }
        }
        assertThat(bounded).isPositive();
        assertThat(hidden).isPositive();
    }

    /** Pins count the messages of the branch's beginning, whether these are shown or not. */
    private static Promise promise(Random random) {
        Promise promise = Promises.combination(random);
        while (promise.pinnedFirst() > 0) {
            promise = Promises.combination(random);
        }
        return promise;
    }

    /** Each message is either shown or told of once, with the right reason. */
    private static void omissions(View view, List<LoggedMessage> all, List<LoggedMessage> rest, String as) {
        Set<String> left = new HashSet<>(all.stream().map(LoggedMessage::id).toList());
        rest.forEach(message -> left.remove(message.id()));
        Set<String> told = new HashSet<>();
        for (Omission omission : view.omitted()) {
            boolean bad = omission.reason() == Reason.FAILED
                    || omission.reason() == Reason.REJECTED
                    || omission.reason() == Reason.UNANSWERED_QUESTION;
            assertThat(bad)
                    .as(omission.message().id() + " " + omission.reason() + " " + as)
                    .isEqualTo(left.contains(omission.message().id()));
            assertThat(told.add(omission.message().id()))
                    .as("told of twice: " + omission.message().id() + " " + as)
                    .isTrue();
        }
        ids(view)
                .forEach(id ->
                        assertThat(told.add(id)).as("shown and not shown " + as).isTrue());
    }

    private static List<String> ids(View view) {
        return view.shown().stream().map(LoggedMessage::id).toList();
    }

    private static List<dev.langchain4j.data.message.ChatMessage> messages(View view) {
        return view.shown().stream().map(LoggedMessage::message).toList();
    }

    private static Part part(List<LoggedMessage> messages) {
        LoggedMessage system = null;
        LoggedMessage user = null;
        for (LoggedMessage logged : new ArrayList<>(messages)) {
            system = logged.message() instanceof SystemMessage ? logged : system;
            user = logged.message() instanceof dev.langchain4j.data.message.UserMessage ? logged : user;
        }
        return new Part(system, user, messages);
    }
}
