package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * Checks the rules that hold for every strategy ({@link Rules.Rule}), on random branches and after each of their
 * messages: once with everything read, once with no more read than the strategy requires.
 *
 * <p>There are two intended exceptions, which {@link Rules} knows. Pinned turns count as kept, and take at most half of
 * the room. If not even the newest turn fits, an open turn is an overflow and a closed turn is removed as a whole.
 */
@AddLifecycleHook(StrategyPropertiesTest.Tries.class)
class StrategyPropertiesTest {

    private static final int SCENES = 12;

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_window_of_messages(@ForAll("MESSAGES") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_window_of_messages_with_a_step(
            @ForAll("MESSAGES_WITH_STEP") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_window_of_turns(@ForAll("TURNS") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_window_of_turns_with_a_step(
            @ForAll("TURNS_WITH_STEP") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_limit_of_tokens(@ForAll("TOKENS") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_limit_of_tokens_with_a_step(
            @ForAll("TOKENS_WITH_STEP") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_limit_of_tokens_where_another_counter_counted_some(
            @ForAll("TOKENS_WITH_STEP") Promise promise, @ForAll("mixed") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void cleared_results(@ForAll("CLEARED") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void cleared_results_when_it_is_worth_it(
            @ForAll("CLEARED_WHEN_WORTH_IT") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void pinned_turns_take_at_most_half_of_a_limit(
            @ForAll("pinned and limited") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_strategy_of_ones_own(@ForAll("WANTED") Promise promise, @ForAll("branches") RandomBranch branch) {
        holds(promise, branch);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void combinations_of_two_to_four(
            @ForAll("combinations") Promise promise, @ForAll("branches") RandomBranch branch, @ForAll long seed) {
        holds(promise, branch);
        Random random = new Random(seed);
        for (Part part : branch.growth()) {
            List<LoggedMessage> shown = View.whole(promise.strategy()).of(part).shown();
            assertThat(View.whole(promise.otherwise(random)).of(part).shown())
                    .as(
                            "put together otherwise, after %s messages",
                            part.messages().size())
                    .isEqualTo(shown);
        }
    }

    private static void holds(Promise promise, RandomBranch branch) {
        List<Part> growth = branch.growth();
        ContextStrategy strategy = promise.strategy();
        assertThat(Rules.ofGrowth(promise, Promises.ESTIMATOR, growth, View.whole(strategy), true))
                .as("everything read")
                .isEmpty();
        assertThat(Rules.ofGrowth(promise, Promises.ESTIMATOR, growth, View.bounded(strategy), false))
                .as("read as far as the strategy asks for")
                .isEmpty();
    }

    @Provide
    Arbitrary<RandomBranch> branches() {
        return RandomBranch.any(SCENES, Promises.COUNTER::count);
    }

    @Provide
    Arbitrary<RandomBranch> mixed() {
        return RandomBranch.any(SCENES, RandomBranch.mixed(Promises.COUNTER));
    }

    @Provide("MESSAGES")
    Arbitrary<Promise> messages() {
        return Promises.MESSAGES.any();
    }

    @Provide("MESSAGES_WITH_STEP")
    Arbitrary<Promise> messagesWithStep() {
        return Promises.MESSAGES_WITH_STEP.any();
    }

    @Provide("TURNS")
    Arbitrary<Promise> turns() {
        return Promises.TURNS.any();
    }

    @Provide("TURNS_WITH_STEP")
    Arbitrary<Promise> turnsWithStep() {
        return Promises.TURNS_WITH_STEP.any();
    }

    @Provide("TOKENS")
    Arbitrary<Promise> tokens() {
        return Promises.TOKENS.any();
    }

    @Provide("TOKENS_WITH_STEP")
    Arbitrary<Promise> tokensWithStep() {
        return Promises.TOKENS_WITH_STEP.any();
    }

    @Provide("CLEARED")
    Arbitrary<Promise> cleared() {
        return Promises.CLEARED.any();
    }

    @Provide("CLEARED_WHEN_WORTH_IT")
    Arbitrary<Promise> clearedWhenWorthIt() {
        return Promises.CLEARED_WHEN_WORTH_IT.any();
    }

    @Provide("WANTED")
    Arbitrary<Promise> wanted() {
        return Promises.WANTED.any();
    }

    @Provide("pinned and limited")
    Arbitrary<Promise> pinnedAndLimited() {
        return Arbitraries.longs().map(seed -> Promises.pinnedAndLimited(new Random(seed)));
    }

    @Provide
    Arbitrary<Promise> combinations() {
        return Arbitraries.longs().map(seed -> Promises.combination(new Random(seed)));
    }

    /** Sets the number of tries to the configured count. */
    static final class Tries implements AroundPropertyHook {

        @Override
        public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
            context.attributes().setTries(Counts.of(Integer.getInteger("keepsake.tries", 5), 10_000));
            return property.execute();
        }

        @Override
        public PropagationMode propagateTo() {
            return PropagationMode.ALL_DESCENDANTS;
        }
    }
}
