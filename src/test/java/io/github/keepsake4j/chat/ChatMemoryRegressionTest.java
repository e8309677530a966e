package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.*;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.*;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.*;
import io.github.keepsake4j.log.*;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Tell;
import java.lang.reflect.*;
import java.util.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * Regression tests: sequences of calls that once lost, doubled or misplaced a message. Each is named after the error.
 */
class ChatMemoryRegressionTest {
    boolean failBefore, failAfter;
    int reads;
    MessageLog real = new InMemoryMessageLog();
    MessageLog log = (MessageLog)
            Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {MessageLog.class}, (p, m, a) -> {
                if (m.getName().equals("read")) reads++;
                if (m.getName().equals("append") && failBefore) throw new StorageUnavailableException("down", null);
                try {
                    Object r = m.invoke(real, a);
                    if (m.getName().equals("append") && failAfter) throw new StorageUnavailableException("down", null);
                    return r;
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    Keepsake k;
    KeepsakeChatMemory m;

    void use(ContextStrategy s) {
        k = Keepsake.builder().messageLog(log).strategy(s).build();
        m = k.chatMemory("x");
    }

    List<ChatMessage> history() {
        return Dialogue.history(k.conversation("x"));
    }

    @BeforeEach
    void open() {
        use(SlidingWindow.withMaxMessages(100));
    }

    ChatMessage[] a(ChatMessage... x) {
        return x;
    }

    static final SystemMessage S1 = SystemMessage.from("s1"), S2 = SystemMessage.from("s2");

    @Test
    void set_new_system_in_front() {
        m.add(user("1"), ai("2"), user("3"), ai("4"));
        List<ChatMessage> l = m.messages();
        l.add(0, S1);
        m.set(l);
        assertThat(m.messages()).containsExactly(S1, user("1"), ai("2"), user("3"), ai("4"));
    }

    @Test
    void set_new_user_in_front() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        l.add(0, ai("hello"));
        l.add(0, user("summary"));
        m.set(l);
        assertThat(m.messages()).containsExactly(user("summary"), ai("hello"), user("1"), ai("2"));
    }

    @Test
    void compacted_user_tool_loop_window() {
        use(SlidingWindow.withMaxMessages(4));
        m.add(user("1"), calls("a"), result("a"));
        List<ChatMessage> l = m.messages();
        l.set(0, user("compacted"));
        m.set(l);
        m.add(calls("b"));
        m.add(result("b"));
        assertThat(m.messages()).containsExactly(user("compacted"), calls("b"), result("b"));
    }

    @Test
    void retry_after_messages() {
        UserMessage u = user("1");
        failBefore = true;
        try {
            m.add(u);
            Assertions.fail("x");
        } catch (StorageUnavailableException e) {
        }
        failBefore = false;
        m.messages();
        m.add(u);
        assertThat(history()).containsExactly(u);
    }

    @Test
    void accepted_result_lost() {
        m.add(user("1"), calls("a", "b"));
        m.add(result("a"));
        failBefore = true;
        try {
            m.add(result("b"));
            Assertions.fail("x");
        } catch (StorageUnavailableException e) {
        }
        failBefore = false;
        m.add(result("b"), user("2"));
        assertThat(history()).contains(result("a"));
    }

    @Test
    void poison() {
        try {
            m.add(UserMessage.builder()
                    .addContent(TextContent.from("1"))
                    .attributes(Map.of("o", new Object()))
                    .build());
            Assertions.fail("no refuse");
        } catch (RuntimeException e) {
            assertThat(e).isInstanceOf(InvalidInputException.class);
        }
        m.messages();
    }

    @Test
    void poison_batch() {
        try {
            m.add(
                    user("0"),
                    UserMessage.builder()
                            .addContent(TextContent.from("1"))
                            .attributes(Map.of("o", new Object()))
                            .build());
            Assertions.fail("no refuse");
        } catch (RuntimeException e) {
            assertThat(e).isInstanceOf(InvalidInputException.class);
        }
        m.add(user("2"));
        m.add(ai("3"));
        assertThat(history()).containsExactly(user("2"), ai("3"));
    }

    @Test
    void relink_retry() {
        UserMessage u = user("1");
        m.add(u);
        m.add(ai("2"));
        List<ChatMessage> l = m.messages();
        m.clear();
        failBefore = true;
        try {
            m.add(l.get(0));
            Assertions.fail("x");
        } catch (StorageUnavailableException e) {
        }
        failBefore = false;
        m.add(l.get(0));
        assertThat(history()).containsExactly(u, ai("2"));
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
        List<ChatMessage> l2 = m.messages();
        l2.set(1, ai("2b"));
        m.set(l2);
        List<ChatMessage> l = m.messages();
        String other = k.conversation("x").branches().get(1).leafId();
        k.conversation("x").switchTo(other);
        l.add(user("3"));
        m.set(l);
        assertThat(m.messages()).containsExactly(user("1"), ai("2b"), user("3"));
    }

    @Test
    void fork_window() {
        use(SlidingWindow.withMaxMessages(4));
        for (int i = 0; i < 5; i++) m.add(user("u" + i), ai("a" + i));
        List<ChatMessage> l = m.messages();
        m.set(l.get(0), ai("new"));
        assertThat(m.messages()).containsExactly(user("u3"), ai("new"));
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
        for (int i = 0; i < 5; i++) m.add(user("u" + i), ai("a" + i));
        List<ChatMessage> l = m.messages();
        Collections.swap(l, 0, 2);
        Collections.swap(l, 4, 6);
        m.set(l);
        for (int i = 0; i < 100; i++) m.add(user("v" + i), ai("b" + i));
        reads = 0;
        m.messages();
        assertThat(reads).isEqualTo(1);
    }

    @Test
    void set_lost_ack_retry() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        l.set(0, user("1b"));
        failAfter = true;
        try {
            m.set(l);
            Assertions.fail("x");
        } catch (StorageUnavailableException e) {
        }
        failAfter = false;
        m.set(l);
        assertThat(m.messages()).containsExactly(user("1b"), ai("2"));
        assertThat(history()).hasSize(3);
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
        List<ChatMessage> l = m.messages();
        l.add(0, S1);
        m.set(l);
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
        Map<String, Integer> fails = new TreeMap<>();
        for (int seed = 0; seed < 3000; seed++) {
            real = new InMemoryMessageLog();
            open();
            Random r = new Random(seed);
            List<ChatMessage> o = new ArrayList<>();
            int n = 0;
            StringBuilder sb = new StringBuilder();
            try {
                for (int step = 0; step < 8; step++) {
                    int op = r.nextInt(5);
                    if (op <= 1) {
                        ChatMessage u = user("u" + n), x = ai("a" + n++);
                        m.add(u, x);
                        o.add(u);
                        o.add(x);
                        sb.append("add2;");
                    } else if (op == 2 && !o.isEmpty()) { // set: replace ai's / drop a turn / replace user
                        List<ChatMessage> l = m.messages();
                        int i = 2 * r.nextInt(l.size() / 2);
                        int w = r.nextInt(4);
                        if (w == 0) {
                            l.set(i + 1, ai("s" + n++));
                        } else if (w == 1 && l.size() > 2) {
                            l.remove(i);
                            l.remove(i);
                        } else if (w == 2) {
                            l = new ArrayList<>(l.subList(0, i + 1));
                            l.add(ai("f" + n++));
                        } else {
                            l.add(user("e" + n));
                            l.add(ai("e" + n++));
                        }
                        sb.append("set" + w + "@" + i + ";");
                        m.set(l);
                        o = new ArrayList<>(l);
                    } else if (op == 3 && !o.isEmpty()) {
                        List<ChatMessage> l = m.messages();
                        int c = 2 * r.nextInt(l.size() / 2 + 1);
                        m.clear();
                        l = l.subList(0, c);
                        l.forEach(m::add);
                        o = new ArrayList<>(l);
                        sb.append("clear+" + c + ";");
                    } else if (r.nextBoolean()) {
                        m = k.chatMemory("x");
                        sb.append("fresh;");
                    }
                    List<ChatMessage> got = r.nextInt(3) == 0 ? m.messages() : o;
                    if (!got.equals(o)) throw new IllegalStateException("differs " + got.size() + " vs " + o.size());
                }
                if (!m.messages().equals(o)) throw new IllegalStateException("differs ");
                if (new HashSet<>(history()).size() != history().size()) throw new IllegalStateException("dup");
            } catch (RuntimeException e) {
                if (fails.size() < 6) fails.put(sb + " -> " + e, seed);
            }
        }
        assertThat(fails).isEmpty();
    }

    @TempDir
    java.nio.file.Path dir;

    @Test
    void late_parent_sqlite() {
        real = io.github.keepsake4j.log.jdbc.SqliteMessageLog.open(dir.resolve("a.db"));
        open();
        k.conversation("x").importMessage("m2", "m1", user("2"), null);
        k.conversation("x").importMessage("m1", null, user("1"), null);
        k.conversation("x").switchTo("m2");
        List<ChatMessage> l = m.messages();
        assertThat(l).containsExactly(user("2"));
        l.add(0, user("0"));
        m.set(l);
        assertThat(m.messages()).containsExactly(user("0"), user("2"));
    }

    @Test
    void missing_sqlite() {
        real = io.github.keepsake4j.log.jdbc.SqliteMessageLog.open(dir.resolve("a.db"));
        open();
        missing_parent_clear_relink();
    }

    @Test
    void sqlite_dup() {
        real = io.github.keepsake4j.log.jdbc.SqliteMessageLog.open(dir.resolve("a.db"));
        open();
        set_new_system_in_front();
    }

    @Test
    void turns_window_reads_all() {
        use(SlidingWindow.withMaxTurns(2));
        m.add(user("1"));
        for (int i = 0; i < 500; i++) m.add(ai("n" + i));
        m.messages();
        Tell.line("T33 reads " + reads);
    }

    @Test
    void lost_ack_clear() {
        m.add(user("1"), ai("2"), user("3"), ai("bad"));
        List<ChatMessage> l = m.messages();
        failAfter = true;
        try {
            m.clear();
            Assertions.fail("x");
        } catch (StorageUnavailableException e) {
        }
        failAfter = false;
        m.clear();
        l.subList(0, 3).forEach(m::add);
        assertThat(history()).hasSize(4);
    }

    @Test
    void continuation_lost_ack() {
        m.add(user("1"), ai("2"));
        List<ChatMessage> l = m.messages();
        l.add(user("3"));
        failAfter = true;
        try {
            m.set(l);
            Assertions.fail("x");
        } catch (StorageUnavailableException e) {
        }
        failAfter = false;
        m.set(l);
        assertThat(history()).hasSize(3);
    }
}
