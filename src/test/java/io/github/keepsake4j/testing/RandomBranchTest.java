package io.github.keepsake4j.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.ProviderRules.Rule;
import io.github.keepsake4j.testing.ProviderRules.Violation;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.Scene.Kind;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that the generator creates what it promises. Otherwise the properties that use it would prove nothing. */
class RandomBranchTest {

    private static final TokenCounter COUNTER = TokenCounter.of(new WordCounter());

    @Property(tries = 100)
    void a_branch_is_a_chain_with_rising_sequences(@ForAll("branches") RandomBranch branch) {
        List<LoggedMessage> messages = branch.messages();
        for (int i = 0; i < messages.size(); i++) {
            LoggedMessage logged = messages.get(i);
            assertThat(logged.parentId())
                    .isEqualTo(i == 0 ? null : messages.get(i - 1).id());
            assertThat(logged.sequence())
                    .isGreaterThan(i == 0 ? 0 : messages.get(i - 1).sequence());
            assertThat(logged.tokens())
                    .isEqualTo(COUNTER.count(logged.message()).tokens());
        }
        assertThat(messages).extracting(LoggedMessage::id).doesNotHaveDuplicates();
    }

    @Property(tries = 100)
    void it_grows_by_one_message_at_a_time(@ForAll("branches") RandomBranch branch) {
        List<Part> growth = branch.growth();

        assertThat(growth).hasSize(branch.messages().size() + 1);
        for (int size = 0; size < growth.size(); size++) {
            Part part = growth.get(size);
            assertThat(part.messages()).isEqualTo(branch.messages().subList(0, size));
            assertThat(part.system()).isEqualTo(last(part, SystemMessage.class::isInstance));
            assertThat(part.user()).isEqualTo(last(part, UserMessage.class::isInstance));
        }
        assertThat(growth.get(growth.size() - 1)).isEqualTo(branch.whole());
    }

    @Test
    void the_same_scenes_make_the_same_branch_and_taking_one_out_leaves_the_others() {
        List<Scene> scenes = IntStream.range(0, 30)
                .mapToObj(i -> Scene.random(new Random(i)))
                .toList();

        List<LoggedMessage> whole = RandomBranch.of(scenes, COUNTER::count).messages();
        List<LoggedMessage> rest =
                RandomBranch.of(scenes.subList(1, 30), COUNTER::count).messages();
        int first = scenes.get(0).play("s0").size();

        assertThat(RandomBranch.of(scenes, COUNTER::count).messages()).isEqualTo(whole);
        assertThat(types(rest)).isEqualTo(types(whole.subList(first, whole.size())));
    }

    @Test
    void a_bounded_read_keeps_what_is_in_force() {
        Part whole = RandomBranch.of(List.of(new Scene(Kind.SAME_SYSTEM, 1), new Scene(Kind.TOOLS, 2)), COUNTER::count)
                .whole();

        Part two = whole.newest(2, Long.MAX_VALUE);
        assertThat(two.messages())
                .isEqualTo(whole.messages()
                        .subList(whole.messages().size() - 2, whole.messages().size()));
        assertThat(two.system()).isNotNull().isEqualTo(whole.system());
        assertThat(two.user()).isNotNull().isEqualTo(whole.user());
        int last = whole.messages().get(whole.messages().size() - 1).tokens();
        assertThat(whole.newest(100, last).messages()).hasSize(1);
        assertThat(whole.newest(100, last + 1L).messages()).hasSize(2);
    }

    @Test
    void some_counts_are_another_counters_and_some_sequences_are_missing() {
        RandomBranch branch = RandomBranch.random(new Random(1), 200, RandomBranch.mixed(COUNTER));
        List<LoggedMessage> messages = branch.messages();

        assertThat(messages).extracting(LoggedMessage::tokenCounter).contains(RandomBranch.FOREIGN, COUNTER.name());
        assertThat(messages.get(messages.size() - 1).sequence()).isGreaterThan(messages.size() + 20L);
        // One other branch got one message, and another one got whole turns.
        assertThat(IntStream.range(1, messages.size())
                        .mapToObj(i ->
                                messages.get(i).sequence() - messages.get(i - 1).sequence()))
                .contains(1L, 2L)
                .anyMatch(step -> step >= 5);
    }

    @Test
    void each_kind_comes_up() {
        Random random = new Random(1);
        Set<Kind> seen = EnumSet.noneOf(Kind.class);
        IntStream.range(0, 500).forEach(i -> seen.add(Scene.random(random).kind()));

        assertThat(seen).containsExactlyInAnyOrder(Kind.values());
    }

    /**
     * Checks a scene against the promise of its kind, and against what a provider would answer if it were sent
     * unchanged.
     */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void a_kind_leaves_in_the_log_what_it_says(Kind kind) {
        List<List<ChatMessage>> scenes = new Random(1)
                .longs(300)
                .mapToObj(seed -> new Scene(kind, seed).play("s"))
                .toList();
        switch (kind) {
            case PLAIN,
                    NO_ANSWER,
                    TOOLS,
                    CALLS_WITHOUT_IDS,
                    REPEATED_CALL_IDS,
                    GUARDRAIL_REPROMPT,
                    HUGE,
                    IMAGES,
                    SAME_SYSTEM,
                    CHANGED_SYSTEM,
                    RETRY_AFTER_MODEL_ERROR,
                    THINKING ->
                assertThat(scenes).allSatisfy(scene -> assertThat(ProviderRules.all(scene))
                        .isEmpty());
            case DEAD_CALLS, HALF_ANSWERED_CALLS, RETRY_AFTER_DEAD_CALLS ->
                assertThat(scenes)
                        .allSatisfy(scene -> assertThat(rules(scene)).containsExactly(Rule.CALLS_ARE_ANSWERED_AT_ONCE));
            case GREETING ->
                assertThat(scenes).allSatisfy(scene -> assertThat(rules(scene)).containsExactly(Rule.USER_FIRST));
            case ORPHAN_RESULT ->
                assertThat(scenes).allSatisfy(scene -> assertThat(rules(scene)).contains(Rule.A_RESULT_HAS_ITS_CALL));
            case SECOND_RESULT ->
                assertThat(scenes)
                        .allSatisfy(scene -> assertThat(rules(scene)).containsExactly(Rule.A_CALL_HAS_ONE_RESULT));
            case UNKNOWN_TYPE ->
                assertThat(scenes).allSatisfy(scene -> assertThat(rules(scene)).contains(Rule.KNOWN_ROLES));
            case BLANK_TEXTS ->
                assertThat(scenes).anySatisfy(scene -> assertThat(rules(scene)).contains(Rule.NO_BLANK_TEXT));
            case INTERLEAVED -> {
                assertThat(scenes).anySatisfy(scene -> assertThat(rules(scene))
                        .contains(Rule.CALLS_ARE_ANSWERED_AT_ONCE, Rule.A_RESULT_HAS_ITS_CALL));
                assertThat(scenes).anySatisfy(scene -> assertThat(texts(scene)).containsExactly("U", "U", "A", "A"));
            }
        }
        assertThat(scenes).anyMatch(special(kind));
    }

    private static Predicate<List<ChatMessage>> special(Kind kind) {
        return switch (kind) {
            case PLAIN -> scene -> scene.size() == 2;
            case TOOLS ->
                scene -> scene.stream().anyMatch(message -> calls(message) == 4)
                        && scene.stream().filter(message -> calls(message) > 0).count() == 4;
            case CALLS_WITHOUT_IDS ->
                scene -> scene.stream()
                        .anyMatch(message -> message instanceof ToolExecutionResultMessage r && r.id() == null);
            case REPEATED_CALL_IDS ->
                scene -> {
                    List<String> ids = ids(scene);
                    return ids.size() > new HashSet<>(ids).size();
                };
            case NO_ANSWER -> scene -> scene.size() == 1;
            case DEAD_CALLS -> scene -> calls(scene.get(scene.size() - 1)) > 1;
            case HALF_ANSWERED_CALLS -> scene -> scene.get(scene.size() - 1) instanceof ToolExecutionResultMessage;
            case RETRY_AFTER_MODEL_ERROR -> scene -> scene.get(0).equals(scene.get(2));
            case RETRY_AFTER_DEAD_CALLS ->
                scene -> calls(scene.get(1)) > 0
                        && scene.stream().filter(scene.get(0)::equals).count() == 3;
            case GUARDRAIL_REPROMPT -> scene -> texts(scene).equals(List.of("U", "A", "U", "A", "U", "A"));
            case INTERLEAVED -> scene -> texts(scene).subList(0, 2).equals(List.of("U", "U"));
            case SAME_SYSTEM -> scene -> scene.get(0).equals(SystemMessage.from("Be brief"));
            case CHANGED_SYSTEM -> scene -> scene.get(0).equals(SystemMessage.from("Be brief, rule 3"));
            case GREETING -> scene -> texts(scene).equals(List.of("A"));
            case ORPHAN_RESULT -> scene -> texts(scene).equals(List.of("R"));
            case SECOND_RESULT -> scene -> scene.size() > 4;
            case UNKNOWN_TYPE -> scene -> scene.get(0) instanceof UnknownMessage;
            case BLANK_TEXTS ->
                scene -> scene.stream()
                        .anyMatch(message -> message instanceof ToolExecutionResultMessage r
                                && r.text().isBlank());
            case HUGE ->
                scene -> scene.stream()
                        .anyMatch(message -> message instanceof ToolExecutionResultMessage
                                && COUNTER.count(message).tokens() > 1_000);
            case IMAGES ->
                scene -> scene.get(0) instanceof UserMessage user
                        && user.contents().size() == 3;
            case THINKING ->
                scene -> scene.stream().anyMatch(message -> message instanceof AiMessage ai && ai.thinking() != null);
        };
    }

    @Provide
    Arbitrary<RandomBranch> branches() {
        return RandomBranch.any(12, COUNTER::count);
    }

    private static LoggedMessage last(Part part, Predicate<ChatMessage> type) {
        return part.messages().stream()
                .filter(logged -> type.test(logged.message()))
                .reduce((a, b) -> b)
                .orElse(null);
    }

    private static Set<Rule> rules(List<ChatMessage> scene) {
        Set<Rule> rules = EnumSet.noneOf(Rule.class);
        ProviderRules.all(scene).stream().map(Violation::rule).forEach(rules::add);
        return rules;
    }

    private static List<String> texts(List<ChatMessage> scene) {
        return scene.stream()
                .map(message -> message instanceof UserMessage
                        ? "U"
                        : message instanceof AiMessage ? "A" : message instanceof SystemMessage ? "S" : "R")
                .toList();
    }

    private static int calls(ChatMessage message) {
        return message instanceof AiMessage ai ? ai.toolExecutionRequests().size() : 0;
    }

    private static List<String> ids(List<ChatMessage> scene) {
        List<String> ids = new ArrayList<>();
        scene.forEach(message -> {
            if (message instanceof AiMessage ai) {
                ai.toolExecutionRequests().forEach(call -> ids.add(Objects.toString(call.id())));
            }
        });
        return ids;
    }

    private static List<Object> types(List<LoggedMessage> messages) {
        Function<LoggedMessage, Object> type = logged -> logged.message().type();
        return messages.stream().map(type).toList();
    }
}
