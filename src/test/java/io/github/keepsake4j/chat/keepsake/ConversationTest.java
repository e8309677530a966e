package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.views.CountingEstimator;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads and branches through the public API. */
class ConversationTest {

    @TempDir
    Path directory;

    private MessageLog log = new InMemoryMessageLog();
    private Conversation conversation;

    @AfterEach
    void close() {
        log.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "sqlite"})
    void a_regenerated_answer_begins_a_branch(String backend) {
        open(backend);
        conversation.append(Parent.root(), "A", user("A"));
        conversation.append(Parent.of("A"), "A'", ai("A'"));
        conversation.append(Parent.of("A'"), "B", user("B"));
        conversation.append(Parent.head(), "B'", ai("B'"));
        conversation.append(Parent.of("A"), "A''", ai("A''"));
        conversation.append(Parent.head(), "C", user("C"));
        conversation.append(Parent.head(), "C'", ai("C'"));

        assertThat(conversation.messages()).containsExactly(user("A"), ai("A''"), user("C"), ai("C'"));
        assertThat(ids(conversation.branch(100))).containsExactly("A", "A''", "C", "C'");
        assertThat(conversation.history(HistoryQuery.newest(50)).messages()).hasSize(7);
        assertThat(conversation.branches()).extracting(Branch::leafId).containsExactly("C'", "B'");
        assertThat(conversation.branches()).extracting(Branch::length).containsExactly(4L, 4L);
        assertThat(conversation.branches()).extracting(Branch::current).containsExactly(true, false);

        conversation.switchTo("B'");
        assertThat(conversation.messages()).containsExactly(user("A"), ai("A'"), user("B"), ai("B'"));
        assertThat(ids(conversation.branch("C'", 2))).containsExactly("C", "C'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "sqlite"})
    void a_root_elsewhere_is_not_picked_up(String backend) {
        open(backend);
        conversation.append(Parent.root(), "other", user("other"));
        conversation.append(Parent.root(), "A", user("A"));
        conversation.append(Parent.head(), "B", ai("B"));

        assertThat(conversation.messages()).containsExactly(user("A"), ai("B"));
        assertThat(conversation.branches()).extracting(Branch::leafId).containsExactly("B", "other");
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "sqlite"})
    void linear_data_from_before_branches_is_a_chain(String backend) {
        open(backend);
        for (String id : List.of("1", "2", "3")) {
            conversation.importMessage(id, Ids.BEFORE_IN_TIME, user(id), Instant.EPOCH);
        }

        assertThat(ids(conversation.branch(100))).containsExactly("1", "2", "3");
        assertThat(conversation.branch(100).messages().get(2).createdAt()).isEqualTo(Instant.EPOCH);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "sqlite"})
    void a_missing_parent_is_refused_but_for_an_import_which_reports_it(String backend) {
        open(backend);
        assertThrown(
                UnknownParentException.class, () -> conversation.append(Parent.of("lost"), "A", user("A")), "lost");

        conversation.importMessage("A", "lost", user("A"), null);
        conversation.importMessage("B", "A", ai("B"), null);

        Tail branch = conversation.branch(100);
        assertThat(ids(branch)).containsExactly("A", "B");
        assertThat(branch.missingParent()).isEqualTo("lost");
        assertThat(conversation.branch(1).missingParent()).isNull();
    }

    @Test
    void the_same_import_again_changes_nothing() {
        open("memory");
        conversation.importMessage("A", null, user("A"), null);

        assertThat(conversation.importMessage("A", null, user("A"), null).replayed())
                .isTrue();
        assertThat(conversation.history(HistoryQuery.newest(10)).messages()).hasSize(1);
    }

    @Test
    void a_fork_without_a_message_ends_with_the_newest_one_of_the_current_branch() {
        Keepsake keepsake = open("memory");
        assertThrown(InvalidInputException.class, () -> conversation.fork("copy"), "alice");
        conversation.append(Parent.head(), "A", user("A"));
        conversation.append(Parent.head(), "B", ai("B"));
        conversation.append(Parent.of("A"), "C", ai("C"));
        conversation.switchTo("B");

        assertThat(conversation.fork("copy").messages()).containsExactly(user("A"), ai("B"));
        conversation.erase();
        assertThat(keepsake.conversation("copy").messages()).hasSize(2);
    }

    @Test
    void history_pages_both_ways() {
        open("memory");
        for (int i = 0; i < 7; i++) {
            conversation.append(Parent.head(), "m" + i, user("m" + i));
        }
        HistoryPage newest = conversation.history(HistoryQuery.newest(3));
        HistoryPage older = conversation.history(newest.next().orElseThrow());
        HistoryPage oldest = conversation.history(older.next().orElseThrow());

        assertThat(newest.messages()).extracting(LoggedMessage::id).containsExactly("m4", "m5", "m6");
        assertThat(older.messages()).extracting(LoggedMessage::id).containsExactly("m1", "m2", "m3");
        assertThat(oldest.messages()).extracting(LoggedMessage::id).containsExactly("m0");
        assertThat(oldest.next()).isEmpty();
    }

    @Test
    void a_conversation_that_is_erased_is_gone_and_one_that_is_described_is_listed() {
        Keepsake keepsake = open("sqlite");
        conversation.append(Parent.head(), "A", user("A"));
        conversation.describe("About A", Map.of("mood", "good"));

        assertThat(keepsake.conversations(ListQuery.first(10)).memories())
                .singleElement()
                .satisfies(info -> {
                    assertThat(info.key()).isEqualTo(conversation.key());
                    assertThat(info.title()).isEqualTo("About A");
                    assertThat(info.metadata()).containsEntry("mood", "good");
                    assertThat(info.messages()).isEqualTo(1);
                });
        conversation.erase();

        assertThat(conversation.messages()).isEmpty();
        assertThat(conversation.history(HistoryQuery.newest(10)).messages()).isEmpty();
        assertThat(keepsake.conversations(ListQuery.first(10)).memories()).isEmpty();
    }

    @Test
    void reading_what_is_shown_counts_no_tokens() {
        CountingEstimator estimator = new CountingEstimator(JtokkitTokenCountEstimator.forModel("gpt-4o"));
        Keepsake keepsake = Keepsakes.on(log, TokenLimit.withMaxTokens(100, estimator));
        KeepsakeChatMemory memory = keepsake.chatMemory("alice");
        for (int i = 0; i < 20; i++) {
            memory.add(user("question " + i), ai("answer " + i));
        }
        int counted = estimator.calls();
        assertThat(counted)
                .as("one count for each message, and one for the empty list")
                .isEqualTo(41);

        List<ChatMessage> shown = memory.messages();
        keepsake.conversation("alice").messages();

        assertThat(estimator.calls()).isEqualTo(counted);
        assertThat(shown).hasSizeBetween(2, 39).contains(ai("answer 19"));
        assertThat(estimator.estimateTokenCountInMessages(shown)).isLessThanOrEqualTo(100);
    }

    @Test
    void the_standard_counters_table_is_loaded_before_any_turn() {
        CountingEstimator estimator = new CountingEstimator(JtokkitTokenCountEstimator.forModel("gpt-4o"));
        TokenCounter standard = TokenCounter.named(TokenCounter.standard().name(), estimator);
        Keepsake.builder().messageLog(log).tokenCountEstimator(standard).build();
        await().untilAsserted(() -> assertThat(estimator.calls()).isEqualTo(1));

        Keepsake.builder().messageLog(log).tokenCountEstimator(estimator).build();
        assertThat(estimator.calls()).as("only the library's own is loaded").isEqualTo(1);
    }

    private Keepsake open(String backend) {
        if (backend.equals("sqlite")) {
            log = SqliteMessageLog.open(directory.resolve("chat.db"));
        }
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        conversation = keepsake.conversation("alice");
        return keepsake;
    }

    private static List<String> ids(Tail tail) {
        return tail.messages().stream().map(LoggedMessage::id).toList();
    }
}
