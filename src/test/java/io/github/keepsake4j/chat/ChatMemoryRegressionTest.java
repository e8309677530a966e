package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.CountedLog.Fault;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Keepsakes;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Regression tests: sequences of calls that once lost, doubled or misplaced a message. Each is named after the error.
 */
class ChatMemoryRegressionTest {

    private static final SystemMessage S1 = SystemMessage.from("s1");
    private static final SystemMessage S2 = SystemMessage.from("s2");

    private final CountedLog counted = new CountedLog();
    private MessageLog log;
    private Keepsake k;
    private KeepsakeChatMemory m;

    @TempDir
    private Path dir;

    @BeforeEach
    void open() {
        open(new InMemoryMessageLog());
    }

    private void open(MessageLog real) {
        log = counted.around(real);
        use(SlidingWindow.withMaxMessages(100));
    }

    private void openSqlite() {
        open(SqliteMessageLog.open(dir.resolve("a.db")));
    }

    private void use(ContextStrategy strategy) {
        k = Keepsakes.on(log, strategy);
        m = k.chatMemory("x");
    }

    private List<ChatMessage> history() {
        return Dialogue.history(k.conversation("x"));
    }

    /** Has a call fail with its first append, before the log has it or after. */
    private void fails(Fault fault, Runnable call) {
        counted.nextAppend = fault;
        assertThatThrownBy(call::run).isInstanceOf(StorageUnavailableException.class);
    }

    /** Sets the list of what is shown with another message in front or in place of one. */
    private void set(boolean inFront, int at, ChatMessage... messages) {
        List<ChatMessage> l = m.messages();
        for (int i = 0; i < messages.length; i++) {
            if (inFront) {
                l.add(at + i, messages[i]);
            } else {
                l.set(at + i, messages[i]);
            }
        }
        m.set(l);
    }

    @Test
    void set_new_system_in_front() {
        m.add(user("1"), ai("2"), user("3"), ai("4"));
        set(true, 0, S1);
        assertThat(m.messages()).containsExactly(S1, user("1"), ai("2"), user("3"), ai("4"));
    }

    @Test
    void set_new_user_in_front() {
        m.add(user("1"), ai("2"));
        set(true, 0, user("summary"), ai("hello"));
        assertThat(m.messages()).containsExactly(user("summary"), ai("hello"), user("1"), ai("2"));
    }

    @Test
    void compacted_user_tool_loop_window() {
        use(SlidingWindow.withMaxMessages(4));
        m.add(user("1"), calls("a"), result("a"));
        set(false, 0, user("compacted"));
        m.add(calls("b"));
        m.add(result("b"));
        assertThat(m.messages()).containsExactly(user("compacted"), calls("b"), result("b"));
    }

    @Test
    void retry_after_messages() {
        UserMessage u = user("1");
        fails(Fault.BEFORE, () -> m.add(u));
        m.messages();
        m.add(u);
        assertThat(history()).containsExactly(u);
    }

    @Test
    void accepted_result_lost() {
        m.add(user("1"), calls("a", "b"));
        m.add(result("a"));
        fails(Fault.BEFORE, () -> m.add(result("b")));
        m.add(result("b"), user("2"));
        assertThat(history()).contains(result("a"));
    }

    @Test
    void poison_batch() {
        UserMessage poison = UserMessage.builder()
                .addContent(TextContent.from("1"))
                .attributes(Map.of("o", new Object()))
                .build();
        assertThatThrownBy(() -> m.add(user("0"), poison)).isInstanceOf(InvalidInputException.class);
        m.add(user("2"));
        m.add(ai("3"));
        assertThat(history()).containsExactly(user("2"), ai("3"));
    }

    @Test
    void relink_retry() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        m.clear();
        fails(Fault.BEFORE, () -> m.add(l.get(0)));
        m.add(l.get(0));
        assertThat(history()).containsExactly(user("1"), ai("2"));
    }

    @Test
    void clear_erase_add() {
        m.add(user("1"), ai("2"));
        m.clear();
        k.conversation("x").erase();
        m.messages();
        m.add(user("1"));
        assertThat(history()).containsExactly(user("1"));
    }

    @Test
    void clear_messages_relink_set() {
        m.add(user("1"), ai("2"));
        m.clear();
        m.messages();
        m.add(user("1"));
        m.set(user("1"), ai("other"));
        assertThat(m.messages()).containsExactly(user("1"), ai("other"));
    }

    @Test
    void other_clear_then_set() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        k.chatMemory("x").clear();
        l.add(user("3"));
        m.set(l);
        assertThat(m.messages()).containsExactly(user("1"), ai("2"), user("3"));
    }

    @Test
    void switch_then_set() {
        m.add(user("1"), ai("2"));
        set(false, 1, ai("2b"));
        List<ChatMessage> l = m.messages();
        k.conversation("x").switchTo(k.conversation("x").branches().get(1).leafId());
        l.add(user("3"));
        m.set(l);
        assertThat(m.messages()).containsExactly(user("1"), ai("2b"), user("3"));
    }

    @Test
    void fork_window() {
        use(SlidingWindow.withMaxMessages(4));
        addTurns(5);
        m.set(m.messages().get(0), ai("new"));
        assertThat(m.messages()).containsExactly(user("u3"), ai("new"));
    }

    private void addTurns(int count) {
        for (int i = 0; i < count; i++) {
            m.add(user("u" + i), ai("a" + i));
        }
    }

    @Test
    void missing_parent_clear_relink() {
        k.conversation("x").importMessage("m1", "gone", user("1"), null);
        k.conversation("x").importMessage("m2", "m1", ai("2"), null);
        List<ChatMessage> l = m.messages();
        assertThat(l).hasSize(2);
        m.clear();
        m.add(l.get(0));
        assertThat(m.messages()).containsExactly(user("1"));
    }

    @Test
    void system_lost() {
        m.add(S1, user("1"), ai("2"), S2, user("3"), ai("4"));
        assertThat(history()).contains(S1, S2);
    }

    @Test
    void reads_with_outgrown_view() {
        use(SlidingWindow.withMaxMessages(10));
        addTurns(5);
        List<ChatMessage> l = m.messages();
        Collections.swap(l, 0, 2);
        Collections.swap(l, 4, 6);
        m.set(l);
        addTurns(100);
        counted.reset();
        m.messages();
        assertThat(counted.calls).isEqualTo(1);
    }

    @Test
    void set_lost_ack_retry() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        l.set(0, user("1b"));
        fails(Fault.AFTER, () -> m.set(l));
        m.set(l);
        assertThat(m.messages()).containsExactly(user("1b"), ai("2"));
        assertThat(history()).hasSize(3);
        l.add(user("3"));
        fails(Fault.AFTER, () -> m.set(l));
        m.set(l);
        assertThat(history()).hasSize(4);
    }

    @Test
    void set_in_tool_round_old_list() {
        m.add(user("1"));
        List<ChatMessage> l = m.messages();
        m.add(calls("a"));
        l.set(0, user("1b"));
        m.set(l);
        m.add(result("a"));
        assertThat(m.messages()).containsExactly(user("1b"), calls("a"), result("a"));
    }

    @Test
    void relink_retained() throws Exception {
        m.add(user("1"), ai("2"));
        m.clear();
        m.messages();
        Field unbound = KeepsakeChatMemory.class.getDeclaredField("unbound");
        unbound.setAccessible(true);
        Field f = OpenTurn.class.getDeclaredField("buffer");
        f.setAccessible(true);
        WriteBuffer buffer = (WriteBuffer) f.get(unbound.get(m));
        assertThat(buffer == null || buffer.refill() == null).isTrue();
    }

    @Test
    void erase_open_turn_result() {
        m.messages();
        m.add(user("1"));
        m.add(calls("a"));
        k.conversation("x").erase();
        m.messages();
        try {
            m.add(result("a"));
        } catch (RuntimeException e) {
            // It may be refused.
        }
        assertThat(history()).isEmpty();
    }

    @Test
    void hello_again_after_clear() {
        m.add(user("hello"), ai("hi"));
        m.clear();
        m.messages();
        m.add(user("hello"));
        assertThat(history()).hasSize(3);
    }

    @Test
    void relink_stale_anchor() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        m.clear();
        KeepsakeChatMemory o = k.chatMemory("x");
        o.add(user("B"));
        o.clear();
        m.add(l.get(0));
        assertThat(m.messages()).containsExactly(user("1"));
    }

    @Test
    void set_keeps_awaited_results() {
        m.add(user("1"), calls("a", "b"));
        m.add(result("a"));
        set(true, 0, S1);
        m.add(result("b"));
        assertThat(m.messages()).containsExactly(S1, user("1"), calls("a", "b"), result("a"), result("b"));
    }

    @Test
    void clear_in_tool_round_readd() {
        m.add(user("1"), calls("a", "b"));
        m.add(result("a"));
        List<ChatMessage> l = m.messages();
        m.clear();
        l.forEach(m::add);
        m.add(result("b"));
        assertThat(m.messages()).doesNotContain(result("b"));
        assertThat(history()).hasSize(4);
    }

    @Tag("landing")
    @Test
    void random_oracle() {
        for (int seed = 0; seed < 3000; seed++) {
            open();
            Random r = new Random(seed);
            List<ChatMessage> o = new ArrayList<>();
            StringBuilder done = new StringBuilder("seed " + seed);
            for (int step = 0; step < 8; step++) {
                o = random(r, o, step, done);
                if (r.nextInt(3) == 0) {
                    assertThat(m.messages()).as("%s", done).isEqualTo(o);
                }
            }
            assertThat(m.messages()).as("%s", done).isEqualTo(o);
            assertThat(new HashSet<>(history())).as("%s", done).hasSameSizeAs(history());
        }
    }

    /** Does something random with the memory, which shows whole turns, and returns what it must show. */
    private List<ChatMessage> random(Random r, List<ChatMessage> o, int step, StringBuilder done) {
        int op = r.nextInt(5);
        List<ChatMessage> l = new ArrayList<>(o);
        ChatMessage question = user("u" + step);
        ChatMessage answer = ai("a" + step);
        if (op <= 1) {
            done.append("; add");
            m.add(question, answer);
            l.addAll(List.of(question, answer));
        } else if (op == 2 && !o.isEmpty()) {
            l = m.messages();
            int i = 2 * r.nextInt(l.size() / 2);
            int way = r.nextInt(4);
            done.append("; set ").append(way).append(" at ").append(i);
            if (way == 0) {
                l.set(i + 1, answer);
            } else if (way == 1 && l.size() > 2) {
                l.subList(i, i + 2).clear();
            } else if (way == 2) {
                l.subList(i + 1, l.size()).clear();
                l.add(answer);
            } else {
                l.addAll(List.of(question, answer));
            }
            m.set(l);
        } else if (op == 3 && !o.isEmpty()) {
            int kept = 2 * r.nextInt(o.size() / 2 + 1);
            done.append("; clear but ").append(kept);
            l = m.messages().subList(0, kept);
            m.clear();
            l.forEach(m::add);
        } else if (r.nextBoolean()) {
            done.append("; another object");
            m = k.chatMemory("x");
        }
        return l;
    }

    @Test
    void late_parent_sqlite() {
        openSqlite();
        k.conversation("x").importMessage("m2", "m1", user("2"), null);
        k.conversation("x").importMessage("m1", null, user("1"), null);
        k.conversation("x").switchTo("m2");
        assertThat(m.messages()).containsExactly(user("2"));
        set(true, 0, user("0"));
        assertThat(m.messages()).containsExactly(user("0"), user("2"));
    }

    @Test
    void missing_sqlite() {
        openSqlite();
        missing_parent_clear_relink();
    }

    @Test
    void sqlite_dup() {
        openSqlite();
        set_new_system_in_front();
    }

    @Test
    void lost_ack_clear() {
        m.add(user("1"), ai("2"), user("3"), ai("bad"));
        List<ChatMessage> l = m.messages();
        fails(Fault.AFTER, m::clear);
        m.clear();
        l.subList(0, 3).forEach(m::add);
        assertThat(history()).hasSize(4);
    }
}
