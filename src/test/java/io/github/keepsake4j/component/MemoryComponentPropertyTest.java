package io.github.keepsake4j.component;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.component.MemoryInput.Strategy;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Messages;
import io.github.keepsake4j.testing.WordCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.junit.jupiter.params.ParameterizedTest;

/** Random sequences of actions show what a simple account of them says, on every backend. */
class MemoryComponentPropertyTest {

    private static final String SESSION = "session";

    private enum Kind {
        USER,
        ASSISTANT,
        SYSTEM,
        TOOLS,
        GET,
        CLEAR,
        ERASE
    }

    private record Step(Kind kind, int size, int maxMessages, int maxTokens, Strategy strategy) {}

    private static Arbitrary<List<Step>> steps() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(8, Kind.USER),
                Tuple.of(8, Kind.ASSISTANT),
                Tuple.of(2, Kind.SYSTEM),
                Tuple.of(4, Kind.TOOLS),
                Tuple.of(6, Kind.GET),
                Tuple.of(1, Kind.CLEAR),
                Tuple.of(1, Kind.ERASE));
        return Combinators.combine(
                        kinds,
                        Arbitraries.integers().between(2, 6),
                        Arbitraries.integers().between(1, 20),
                        Arbitraries.integers().between(1, 100),
                        Arbitraries.of(Strategy.SLIDING_WINDOW, Strategy.TOKEN_LIMIT))
                .as(Step::new)
                .list()
                .ofMinSize(5)
                .ofMaxSize(40);
    }

    @ParameterizedTest
    @Homes
    void an_output_is_that_of_a_simple_account(Home home) throws Exception {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        int exact = 0;
        int outputs = 0;
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open();
                MemoryComponent component = MemoryComponent.builder()
                        .backend("in_memory", () -> log)
                        .tokenCountEstimator(new WordCounter())
                        .build()) {
            for (List<Step> steps : Messages.sample(steps(), home.counts(40, 1_000), seed)) {
                ComponentModel model = new ComponentModel();
                component.run(MemoryInput.clear(SESSION).erasing());
                for (int i = 0; i < steps.size(); i++) {
                    Step step = steps.get(i);
                    List<Step> soFar = steps.subList(0, i + 1);
                    Supplier<String> as = () -> "-Dkeepsake.seed=" + seed + " " + soFar;
                    MemoryOutput output = component.run(input(step, i, model, component)
                            .withMaxMessages(step.maxMessages())
                            .withMaxTokens(step.maxTokens())
                            .withStrategy(step.strategy()));
                    exact += check(output, step, model, as) ? 1 : 0;
                    outputs++;
                }
                assertThat(Dialogue.history(
                                Keepsake.builder().messageLog(log).build().conversation(SESSION)))
                        .as("-Dkeepsake.seed=" + seed)
                        .isEqualTo(model.history);
            }
        }
        // Few sequences are tried where calls cost more, so their share says little there.
        assertThat(exact).isGreaterThan(home == Home.IN_MEMORY ? outputs / 3 : 0);
    }

    /** Makes the step in the account, and returns the input that makes it in the component. */
    private static MemoryInput input(Step step, int number, ComponentModel model, MemoryComponent component) {
        String text = words("t" + number, step.size());
        return switch (step.kind()) {
            case USER -> add(model, user(text));
            case ASSISTANT -> add(model, ai(text));
            case SYSTEM -> add(model, SystemMessage.from(text));
            case TOOLS -> {
                if (!model.mayCallTools()) {
                    yield add(model, user(text));
                }
                component.run(add(model, calls("c" + number)));
                yield add(model, ToolExecutionResultMessage.from("c" + number, "tool", "r" + number));
            }
            case GET -> MemoryInput.get(SESSION);
            case CLEAR -> {
                model.clear();
                yield MemoryInput.clear(SESSION);
            }
            case ERASE -> {
                model.erase();
                yield MemoryInput.clear(SESSION).erasing();
            }
        };
    }

    private static MemoryInput add(ComponentModel model, ChatMessage message) {
        model.add(message);
        return MemoryInput.add(SESSION, message);
    }

    /** Returns whether the account says exactly what is shown. */
    private static boolean check(MemoryOutput output, Step step, ComponentModel model, Supplier<String> as) {
        Optional<List<ChatMessage>> expected = model.shown(step.maxMessages(), step.maxTokens());
        if (expected.isPresent()) {
            assertThat(output.messages()).as(as).isEqualTo(expected.get());
        }
        assertThat(output.summary()).as(as).isNull();
        assertThat(output.messageCount())
                .as(as)
                .isEqualTo(output.messages().size())
                .isLessThanOrEqualTo(step.maxMessages());
        assertThat(output.tokenCount())
                .as(as)
                .isEqualTo(ComponentModel.tokens(output.messages()))
                .isLessThanOrEqualTo(step.maxTokens());
        List<ChatMessage> whole = new ArrayList<>(output.messages());
        // A tool's result may be shown shortened.
        whole.removeIf(ToolExecutionResultMessage.class::isInstance);
        assertThat(whole).as(as).allMatch(model::holds);
        return expected.isPresent();
    }
}
