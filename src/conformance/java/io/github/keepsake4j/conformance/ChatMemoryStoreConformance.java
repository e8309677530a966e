package io.github.keepsake4j.conformance;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.conformance.ConformanceReport.Level;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;

/**
 * Checks of a {@link ChatMemoryStore}. Extend it, say how the store is opened, and JUnit runs the checks. A check that
 * the store does not want to pass is overridden with {@link #notApplicable}.
 */
@Timeout(300)
public abstract class ChatMemoryStoreConformance extends Conformance<ChatMemoryStore> {

    private static final int THREADS = 8;

    /** Creates a suite. */
    protected ChatMemoryStoreConformance() {}

    /**
     * Returns whether updates that meet are merged. Then messages that others have set since a list was read are kept
     * behind it, so that no update takes an unseen message away. Unless overridden, the last update wins.
     *
     * @return false unless overridden
     */
    protected boolean mergesUpdates() {
        return false;
    }

    /** The order of a list is the order of the conversation. */
    @Check(Level.BASIC)
    protected void order_is_kept() throws Exception {
        List<ChatMessage> list = numbered(100);
        expectKept(opened(), newId(), list);
        saw("100 messages in order");
    }

    /** A question that comes back otherwise is another question: contents, images, names, attributes. */
    @Check(Level.BASIC)
    protected void user_messages_come_back_equal() throws Exception {
        expectEqual(Samples.users());
    }

    /** Providers need thinking, signatures and tool calls of earlier answers as they were. */
    @Check(Level.BASIC)
    protected void ai_messages_come_back_equal() throws Exception {
        expectEqual(Samples.answers());
    }

    /** A result without its call's id, or an error that looks like a success, misleads the model. */
    @Check(Level.BASIC)
    protected void tool_results_come_back_equal() throws Exception {
        expectEqual(Samples.results());
    }

    /** The rest of LangChain4j's types. */
    @Check(Level.BASIC)
    protected void system_and_custom_messages_come_back_equal() throws Exception {
        expectEqual(Samples.others());
    }

    /** A conversation repeats itself: "yes", "yes". */
    @Check(Level.BASIC)
    protected void equal_messages_are_kept_as_often_as_they_were_said() throws Exception {
        expectKept(
                opened(),
                newId(),
                List.of(
                        UserMessage.from("yes"),
                        AiMessage.from("ok"),
                        UserMessage.from("yes"),
                        AiMessage.from("ok"),
                        UserMessage.from("yes")));
        saw("3 equal questions, 2 equal answers");
    }

    /** Users paste anything, and models answer in any script. */
    @Check(Level.BASIC)
    protected void texts_of_all_characters_come_back_equal() throws Exception {
        Map<String, ChatMessage> texts = new LinkedHashMap<>();
        texts.put("quotes and backslashes", UserMessage.from("' \" \\ \\n % _ ; -- ${x} {{y}} <b>&amp;"));
        texts.put("lines, tabs and spaces at the ends", UserMessage.from(" a\r\n\tb\u2028c \n"));
        texts.put("an emoji of several code points", UserMessage.from("👩‍👩‍👧‍👦 🇫🇷 𝕏"));
        texts.put("a letter in two Unicode forms", UserMessage.from("\u00e9 e\u0301 \ufb01 \u212b"));
        texts.put("Hebrew, Chinese, Hindi", UserMessage.from("שלום 你好 नमस्ते"));
        texts.put("a zero character", UserMessage.from("a\u0000b\u0001c\ufffe"));
        expectEqual(texts);
    }

    /** Frameworks ask for the messages of a conversation that has none. */
    @Check(Level.BASIC)
    protected void an_unknown_id_has_an_empty_list() throws Exception {
        ChatMemoryStore store = opened();
        String id = newId();
        List<ChatMessage> list = store.getMessages(id);
        expect(list != null && list.isEmpty(), "got %s", list);
        // Not one list that all unknown ids share.
        Samples.thrownBy(() -> list.add(UserMessage.from("not set")));
        expectNone(Samples.prefixed(
                "a returned list that changes: ", Samples.difference(List.of(), store.getMessages(id))));
        expectNone(Samples.prefixed("another unknown id: ", Samples.difference(List.of(), store.getMessages(newId()))));
        saw("an empty list");
    }

    /** A window sets the whole list each time: what is not in it is gone. */
    @Check(Level.BASIC)
    protected void an_update_replaces_the_whole_list() throws Exception {
        ChatMemoryStore store = opened();
        String id = newId();
        List<ChatMessage> ten = numbered(10);
        expectKept(store, id, ten);
        expectKept(store, id, ten.subList(3, 10));
        List<ChatMessage> changed = new ArrayList<>(ten.subList(3, 10));
        changed.set(2, UserMessage.from("changed"));
        expectKept(store, id, changed);
        expectKept(store, id, List.of(UserMessage.from("alone")));
        expectKept(store, id, numbered(10));
        saw("10, 7, 7 with another message, 1, 10 messages");
    }

    /** An application takes a step back: it sets the very list that it had before. */
    @Check(Level.BASIC)
    protected void an_older_list_replaces_a_newer_one() throws Exception {
        if (mergesUpdates()) {
            notApplicable("the store keeps what was set since the older list was read");
        }
        ChatMemoryStore store = opened();
        String id = newId();
        expectKept(store, id, numbered(4));
        List<ChatMessage> older = new ArrayList<>(store.getMessages(id));
        expectKept(store, id, numbered(6));
        expectKept(store, id, List.of(UserMessage.from("alone")));
        expectKept(store, id, older);
        saw("4, 6, 1 and the same 4 messages");
    }

    /** An empty window is a window. */
    @Check(Level.BASIC)
    protected void an_empty_list_empties() throws Exception {
        ChatMemoryStore store = opened();
        String id = newId();
        expectKept(store, id, numbered(3));
        expectKept(store, id, List.of());
        expectKept(store, id, numbered(2));
        saw("3, 0, 2 messages");
    }

    /** A deleted conversation does not come back, and takes no other one with it. */
    @Check(Level.BASIC)
    protected void delete_empties_this_list_only() throws Exception {
        ChatMemoryStore store = opened();
        String id = newId();
        String other = newId();
        store.deleteMessages(id);
        expectKept(store, id, numbered(3));
        expectKept(store, other, numbered(4));
        store.deleteMessages(id);
        expectNone(Samples.difference(List.of(), store.getMessages(id)));
        expectNone(Samples.prefixed(
                "another list, not deleted: ", Samples.difference(numbered(4), store.getMessages(other))));
        expectKept(store, id, List.of(UserMessage.from("new")));
        saw("a deleted list is empty, the other one is whole");
    }

    /** A list that the caller changes is the caller's. */
    @Check(Level.BASIC)
    protected void a_list_of_the_caller_is_not_a_list_of_the_store() throws Exception {
        ChatMemoryStore store = opened();
        String id = newId();
        List<ChatMessage> given = new ArrayList<>(numbered(3));
        store.updateMessages(id, given);
        given.add(UserMessage.from("not set"));
        expectNone(
                Samples.prefixed("a set list that changes: ", Samples.difference(numbered(3), store.getMessages(id))));
        List<ChatMessage> got = store.getMessages(id);
        boolean mutable = Samples.thrownBy(() -> got.add(UserMessage.from("not set"))) == null;
        expectNone(Samples.prefixed(
                "a returned list that changes: ", Samples.difference(numbered(3), store.getMessages(id))));
        saw("both are copies; the returned one %s be changed", mutable ? "can" : "cannot");
    }

    /** Long-lived conversations: 10,000 messages. */
    @Check(Level.BASIC)
    protected void a_long_list_is_kept() throws Exception {
        int size = count(10_000);
        ChatMemoryStore store = opened();
        String id = newId();
        expectKept(store, id, numbered(size));
        List<ChatMessage> longer = new ArrayList<>(store.getMessages(id));
        longer.add(UserMessage.from("one more"));
        expectKept(store, id, longer);
        saw("%,d messages, and one more", size);
    }

    /** A pasted document: a message of 1 MB. */
    @Check(Level.BASIC)
    protected void a_large_message_is_kept() throws Exception {
        String text = "Größe 12 ≤ 13 🙂 ".repeat(60_000);
        expectKept(opened(), newId(), List.of(UserMessage.from("a"), UserMessage.from(text), AiMessage.from("b")));
        saw("a text of %,d characters", text.length());
    }

    /** LangChain4j's ids are objects: applications use strings, numbers and UUIDs. */
    @Check(Level.BASIC)
    protected void ids_may_be_strings_numbers_and_uuids() throws Exception {
        ChatMemoryStore store = opened();
        long number = ThreadLocalRandom.current().nextLong(1L << 40, 1L << 50);
        UUID uuid = UUID.randomUUID();
        int small = ThreadLocalRandom.current().nextInt(1 << 20, Integer.MAX_VALUE);
        Map<Object, List<ChatMessage>> lists = new LinkedHashMap<>();
        for (Object id : List.of(number, small, uuid, newId())) {
            lists.put(id, Samples.list(id.getClass().getSimpleName(), 1));
        }
        lists.forEach(store::updateMessages);
        lists.forEach((id, list) -> expectNone(Samples.prefixed(
                id.getClass().getSimpleName() + ": ", Samples.difference(list, store.getMessages(id)))));
        expectNone(Samples.prefixed(
                "an equal id that is another object: ",
                Samples.difference(lists.get(uuid), store.getMessages(UUID.fromString(uuid.toString())))));
        saw(
                "Long, Integer, UUID and String; %d and \"%d\" are %s",
                small, small, store.getMessages(Integer.toString(small)).isEmpty() ? "two memories" : "one memory");
    }

    /**
     * Two ids that differ in case, form, a space or the last of 1,000 characters are two users. A store may refuse an id,
     * but never mixes two.
     */
    @Check(Level.BASIC)
    protected void ids_that_differ_are_different_memories() throws Exception {
        ChatMemoryStore store = opened();
        String tag = newId().substring(0, 8);
        List<String> refused = new ArrayList<>();
        Map<String, List<ChatMessage>> lists = new LinkedHashMap<>();
        List<String> ids = oddIds(tag);
        for (int i = 0; i < ids.size(); i++) {
            String id = ids.get(i);
            List<ChatMessage> list = Samples.list("odd", i);
            Exception thrown = Samples.thrownBy(() -> {
                store.updateMessages(id, list);
                return null;
            });
            if (thrown == null) {
                lists.put(id, list);
            } else {
                refused.add(shown(id, tag));
            }
        }
        expectEachKept(store, lists, tag, "");
        // Also ids that a pattern of the others would be.
        for (String end : List.of("a", "a_b", "a%b", "a*")) {
            store.deleteMessages(tag + end);
            lists.remove(tag + end);
            expectEachKept(store, lists, tag, "after the delete of '…" + end + "', ");
        }
        expect(lists.size() > ids.size() / 2, "refused: %s", refused);
        saw("%d ids%s", ids.size(), refused.isEmpty() ? "" : ", refused: " + String.join(", ", refused));
    }

    private void expectEachKept(ChatMemoryStore store, Map<String, List<ChatMessage>> lists, String tag, String when) {
        lists.forEach((id, list) -> {
            List<ChatMessage> got = store.getMessages(id);
            String of = lists.keySet().stream()
                    .filter(other -> !other.equals(id) && lists.get(other).equals(got))
                    .findFirst()
                    .map(other -> "the messages of " + shown(other, tag) + ": ")
                    .orElse("");
            expectNone(Samples.prefixed(when + "id " + shown(id, tag) + ": " + of, Samples.difference(list, got)));
        });
    }

    private static List<String> oddIds(String tag) {
        String end = "x".repeat(1_000 - tag.length());
        return List.of(
                tag + "a",
                tag + "A",
                tag + "a ",
                " " + tag + "a",
                tag + "\u00e9",
                tag + "e\u0301",
                tag + "e",
                tag + "ß",
                tag + "ss",
                tag + "a/b",
                tag + "a%2Fb",
                tag + "a_b",
                tag + "a%b",
                tag + "a*",
                tag + "..",
                tag + "a:b",
                tag + "'; --",
                tag + "\"a\"",
                tag + "a\\b",
                tag + "a\nb",
                tag + "🙂",
                tag + "🙃",
                tag + "a\u0000b",
                tag + "Aa", // these two have one hash code
                tag + "BB",
                tag + end + "1",
                tag + end + "2");
    }

    private static String shown(String id, String tag) {
        String text = id.replace(tag, "…").replace("\u0000", "\\0").replace("\n", "\\n");
        return text.length() > 30 ? "one of " + id.length() + " characters" : "'" + text + "'";
    }

    /**
     * An update that fails leaves the old list. It is made to fail by a null in the list, by an attribute that cannot be
     * written, and by a list that throws in the middle.
     */
    @Check(Level.BASIC)
    protected void a_failed_update_leaves_the_old_list() throws Exception {
        ChatMemoryStore store = opened();
        List<String> taken = new ArrayList<>();
        expectOldOrNew(store, "a null", Arrays.asList(UserMessage.from("1"), null, UserMessage.from("2")), taken);
        expectOldOrNew(
                store,
                "an attribute that cannot be written",
                List.of(
                        UserMessage.from("1"),
                        CustomMessage.from(Map.of("bean", new Unreadable())),
                        UserMessage.from("2")),
                taken);
        List<ChatMessage> throwing = new AbstractList<>() {
            @Override
            public ChatMessage get(int index) {
                if (index == 2) {
                    throw new IllegalStateException("the list ends early");
                }
                return UserMessage.from("new " + index);
            }

            @Override
            public int size() {
                return 4;
            }
        };
        expectOldOrNew(store, "a list that throws", throwing, taken);
        saw("the old list is there%s", taken.isEmpty() ? "" : "; taken as the new one: " + String.join(", ", taken));
    }

    /** An attribute that no serializer can read. */
    public static final class Unreadable {

        /** Creates one. */
        public Unreadable() {}

        /**
         * Fails.
         *
         * @return never
         */
        public String getText() {
            throw new IllegalStateException("cannot be read");
        }
    }

    private static void expectOldOrNew(
            ChatMemoryStore store, String fault, List<ChatMessage> update, List<String> taken) {
        String id = newId();
        List<ChatMessage> old = numbered(5);
        store.updateMessages(id, old);
        boolean thrown = Samples.thrownBy(() -> {
                    store.updateMessages(id, update);
                    return null;
                })
                != null;
        String fromOld;
        boolean isNew;
        try {
            List<ChatMessage> now = new ArrayList<>(store.getMessages(id));
            fromOld = Samples.difference(old, now);
            isNew = !thrown && Samples.difference(update, now) == null;
        } catch (IllegalStateException e) {
            fromOld = "the list cannot be read: " + e;
            isNew = false;
        }
        expect(
                isNew || thrown && fromOld == null,
                "after %s (%s): %s",
                fault,
                thrown ? "refused" : "not refused",
                fromOld == null ? "the old list, and no error" : fromOld);
        if (isNew) {
            taken.add(fault);
        }
    }

    /** Eight users at once: each finds their own list after each turn. */
    @Check(Level.CONCURRENT)
    protected void threads_with_an_id_each_read_what_they_wrote() throws Exception {
        ChatMemoryStore store = opened();
        int rounds = count(100);
        List<String> ids = java.util.stream.Stream.generate(Conformance::newId)
                .limit(THREADS)
                .toList();
        together(THREADS, thread -> {
            for (int i = 0; i < rounds; i++) {
                store.updateMessages(ids.get(thread), Samples.list("w" + thread, i));
                expectNone(Samples.prefixed(
                        "thread " + thread + ": ",
                        Samples.difference(Samples.list("w" + thread, i), store.getMessages(ids.get(thread)))));
            }
        });
        saw("%d threads with an id each, %d lists each", THREADS, rounds);
    }

    /** Updates that meet leave one of the lists, never a mixture, and readers never see half of one. */
    @Check(Level.CONCURRENT)
    protected void threads_on_one_id_leave_the_last_list_and_show_no_other() throws Exception {
        ChatMemoryStore store = opened();
        String id = newId();
        int rounds = count(100);
        store.updateMessages(id, Samples.list("first", 0));
        AtomicInteger writing = new AtomicInteger(THREADS);
        AtomicInteger reads = new AtomicInteger();
        together(THREADS + 1, thread -> {
            if (thread == THREADS) {
                while (writing.get() > 0) {
                    expectWhole(store, id);
                    reads.incrementAndGet();
                }
                return;
            }
            try {
                for (int i = 0; i < rounds; i++) {
                    store.updateMessages(id, Samples.list("w" + thread, i));
                }
            } finally {
                writing.decrementAndGet();
            }
        });
        expectLast(expectWhole(store, id), rounds);
        saw("%d threads, %d lists each, %,d whole lists read meanwhile", THREADS, rounds, reads.get());
    }

    private List<Samples.Written> expectWhole(ChatMemoryStore store, String id) {
        List<ChatMessage> list = store.getMessages(id);
        return mergesUpdates() ? Samples.wholes(list) : List.of(Samples.written(list));
    }

    private static void expectLast(List<Samples.Written> found, int rounds) {
        expect(
                found.stream().anyMatch(written -> written.number() == rounds - 1),
                "no last list of a writer is there, but %s",
                found);
    }

    /** Another instance, as a second server has, sees each update at once: no cache answers for the data. */
    @Check(Level.DURABLE)
    protected void another_instance_reads_each_update() throws Exception {
        shared();
        ChatMemoryStore one = opened();
        ChatMemoryStore other = opened();
        String id = newId();
        for (int i = 0; i < 5; i++) {
            one.updateMessages(id, Samples.list("one", i));
            expectNone(Samples.difference(Samples.list("one", i), other.getMessages(id)));
            other.updateMessages(id, Samples.list("other", i));
            expectNone(Samples.difference(Samples.list("other", i), one.getMessages(id)));
        }
        one.deleteMessages(id);
        expectNone(Samples.difference(List.of(), other.getMessages(id)));
        saw("10 updates and a delete, each read by the other instance");
    }

    /** A restart keeps all. */
    @Check(Level.DURABLE)
    protected void another_process_reads_equal_messages() throws Exception {
        shared();
        ChatMemoryStore store = opened();
        String theirs = newId();
        String ours = newId();
        store.updateMessages(ours, Samples.all());
        try (ChildProcess child = child("samples", theirs, ours)) {
            String answer = child.ready().go().last();
            expect("equal".equals(answer), "in the other process: %s", answer);
        }
        expectNone(Samples.prefixed(
                "from the other process: ", Samples.difference(Samples.all(), store.getMessages(theirs))));
        saw("%d messages of all types, both ways", Samples.all().size());
    }

    /** Two servers on one conversation leave the last list of one of them. */
    @Check(Level.DURABLE)
    protected void two_processes_on_one_id_leave_the_last_list() throws Exception {
        shared();
        ChatMemoryStore store = opened();
        String id = newId();
        int rounds = count(100);
        try (ChildProcess one = child("lists", id, "one", rounds);
                ChildProcess two = child("lists", id, "two", rounds)) {
            ChildProcess.together(one, two);
        }
        expectLast(expectWhole(store, id), rounds);
        saw("2 processes, %d lists each; the last list is whole", rounds);
    }

    /** A process that dies in the middle of an update leaves the list before it or after it. */
    @Check(Level.DURABLE)
    protected void a_killed_process_leaves_the_list_before_or_after() throws Exception {
        shared();
        int kills = count(20);
        int after = 0;
        for (int kill = 0; kill < kills; kill++) {
            String id = newId();
            int last = killed("lists", id, 5 + kill);
            Samples.Written found = Samples.written(opened().getMessages(id));
            expect(
                    found.number() == last || found.number() == last + 1,
                    "update %d had returned before the kill, and the list is number %d",
                    last,
                    found.number());
            after += found.number() - last;
            closeOpened();
        }
        saw("after %d of %d kills the list before, else the list after", kills - after, kills);
    }

    private void expectEqual(Map<String, ChatMessage> messages) throws Exception {
        ChatMemoryStore store = opened();
        List<String> different = new ArrayList<>();
        messages.forEach((what, message) -> {
            String id = newId();
            String problem;
            try {
                store.updateMessages(id, List.of(message));
                problem = Samples.difference(List.of(message), store.getMessages(id));
            } catch (RuntimeException e) {
                problem = "threw " + e;
            }
            if (problem != null) {
                different.add(what + " (" + problem + ")");
            }
        });
        expect(different.isEmpty(), "%d of %d: %s", different.size(), messages.size(), String.join("; ", different));
        saw("%s", String.join(", ", messages.keySet()));
    }

    private static void expectKept(ChatMemoryStore store, Object id, List<ChatMessage> list) {
        store.updateMessages(id, list);
        expectNone(Samples.difference(list, store.getMessages(id)));
    }

    private static List<ChatMessage> numbered(int size) {
        List<ChatMessage> list = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            list.add(i % 2 == 0 ? UserMessage.from("question " + i) : AiMessage.from("answer " + i));
        }
        return list;
    }
}
