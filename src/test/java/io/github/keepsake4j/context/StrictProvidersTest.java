package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.Tell;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Checks that OpenAI, Anthropic and Gemini would accept every view of conversations with crashes, errors, retries and
 * reprompts.
 */
class StrictProvidersTest {

    private static final int SCENES = 40;

    @Test
    void strict_providers_take_every_view() {
        long seed = new Random().nextLong();
        Tell.line("StrictProvidersTest seed " + seed);
        Random random = new Random(seed);
        long turns = 0;
        long views = 0;
        while (turns < Counts.of(500, 1_000_000)) {
            RandomBranch branch = RandomBranch.random(random, SCENES, Promises.COUNTER::count);
            Promise promise = Promises.combination(random);
            ContextStrategy strategy = promise.strategy();
            List<Part> growth = branch.growth();
            // Any state may be read: in the middle of a turn, after a crash, at the end.
            for (int i = random.nextInt(8); i < growth.size(); i += 1 + random.nextInt(16)) {
                Part part = growth.get(i);
                View view = View.whole(strategy).of(part);
                List<ChatMessage> request = new ArrayList<>(
                        view.shown().stream().map(LoggedMessage::message).toList());
                if (!goesOn(part, view, promise)) {
                    // A turn begins here, so its user message follows.
                    request.add(UserMessage.from("next"));
                }
                assertThat(ProviderRules.request(request))
                        .as("seed %d, after %d turns", seed, turns)
                        .isEmpty();
                views++;
            }
            turns += branch.messages().stream()
                    .filter(logged -> logged.message() instanceof UserMessage)
                    .count();
        }
        Tell.line("%d turns, %d views, nothing that a provider refuses", turns, views);
    }

    /**
     * Returns whether a model is to be called with this state: the turn that is shown last ends with the newest result, all
     * its calls are answered, and neither a limit nor a custom strategy refuses it. Of an older turn that goes on, only its own
     * object knows what it has read.
     */
    private static boolean goesOn(Part part, View view, Promise promise) {
        List<LoggedMessage> messages = part.messages();
        if (view.overflow()
                || messages.isEmpty()
                || !(messages.get(messages.size() - 1).message() instanceof ToolExecutionResultMessage)) {
            return false;
        }
        LoggedMessage head = messages.get(messages.size() - 1);
        Context unlimited = Context.of(part.system(), part.user(), messages);
        return unlimited.turns().stream()
                .filter(turn -> turn.standing() == ContextTurn.Standing.WHOLE
                        && promise.wanted().test(turn.user()))
                .reduce((older, newer) -> newer)
                .stream()
                .flatMap(newest -> newest.rounds().stream())
                .filter(round -> round.hidden() == null)
                .reduce((older, newer) -> newer)
                .filter(round -> round.messages().contains(head))
                .isPresent();
    }
}
