package io.github.keepsake4j.context;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An open turn with complete rounds keeps its place among others, and moves once, when it ends. */
class OpenTurnsTest {

    private final List<LoggedMessage> branch = new ArrayList<>();

    private Context add(String id, String question, ChatMessage message) {
        String parent = branch.isEmpty() ? null : branch.get(branch.size() - 1).id();
        branch.add(
                new LoggedMessage(id, parent, branch.size() + 1, message, 1, "test", Instant.EPOCH).ofTurn(question));
        LoggedMessage user = branch.stream()
                .filter(each -> each.id().startsWith("q"))
                .reduce((older, newer) -> newer)
                .orElseThrow();
        return Context.of(null, user, branch);
    }

    private static List<String> shown(Context context) {
        return context.shown().stream().map(LoggedMessage::id).toList();
    }

    @Test
    void an_open_turn_moves_once_when_it_ends() {
        add("q1", "q1", user("one"));
        add("c1", "q1", calls("a"));
        add("q2", "q2", user("two"));
        assertThat(add("a2", "q2", ai("two")).open()).isEmpty();
        Context open = add("r1", "q1", result("a"));
        assertThat(open.open()).containsExactly("q1");
        assertThat(shown(open)).containsExactly("q2", "a2", "q1", "c1", "r1");

        add("q3", "q3", user("three"));
        assertThat(shown(add("a3", "q3", ai("three")))).containsExactly("q2", "a2", "q1", "c1", "r1", "q3", "a3");
        add("c4", "q1", calls("b"));
        Context later = add("r4", "q1", result("b"));
        assertThat(shown(later)).containsExactly("q2", "a2", "q1", "c1", "r1", "c4", "r4", "q3", "a3");
        assertThat(later.open()).containsExactly("q1");

        Context ended = add("a1", "q1", ai("one"));
        assertThat(shown(ended)).containsExactly("q2", "a2", "q3", "a3", "q1", "c1", "r1", "c4", "r4", "a1");
        assertThat(ended.open()).isEmpty();
    }
}
