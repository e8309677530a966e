package io.github.keepsake4j.conformance;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import io.github.keepsake4j.conformance.ConformanceReport.Level;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;

/**
 * Checks of the {@link ChatMemory} objects of a {@link ChatMemoryProvider}. The provider is to make memories that show
 * {@link #shown} short messages and evict older ones at some point.
 */
@Timeout(300)
public abstract class ChatMemoryConformance extends Conformance<ChatMemoryProvider> {

    private static final int THREADS = 8;

    /** How many turns of five messages are tried until a memory evicts. */
    private static final int TURNS = 100;

    /** Creates a suite. */
    protected ChatMemoryConformance() {}

    /**
     * Returns the number of short messages that a memory shows at least.
     *
     * @return 40 unless overridden; at least 40, or checks fail that cannot
     */
    protected int shown() {
        return 40;
    }

    /**
     * Returns all messages that were added to a memory, evicted ones too. Unless overridden, returns null: the memory does
     * not claim to keep what it evicts.
     *
     * @param memory a memory of this suite's provider
     * @return the messages in order, or null
     */
    protected List<ChatMessage> kept(ChatMemory memory) {
        return null;
    }

    /** The order of a conversation is the order in which it was added. */
    @Check(Level.BASIC)
    protected void added_messages_are_shown_in_order() throws Exception {
        ChatMemory memory = opened().get(newId());
        List<ChatMessage> added = new ArrayList<>();
        for (int i = 0; i < shown(); i++) {
            ChatMessage message = i % 2 == 0 ? UserMessage.from("question " + i) : AiMessage.from("answer " + i);
            memory.add(message);
            added.add(message);
            expectNone(Samples.difference(added, memory.messages()));
        }
        saw("%d messages, each shown at once", added.size());
    }

    /** What the model gets is what was said. */
    @Check(Level.BASIC)
    protected void messages_of_all_types_are_shown_equal() throws Exception {
        ChatMemory memory = opened().get(newId());
        List<ChatMessage> all = Samples.all();
        all.forEach(memory::add);
        expectNone(Samples.difference(all, memory.messages()));
        saw("%d messages of all types", all.size());
    }

    /** A memory without messages is empty. */
    @Check(Level.BASIC)
    protected void a_new_memory_is_empty() throws Exception {
        ChatMemory memory = opened().get(newId());
        expectNone(Samples.difference(List.of(), memory.messages()));
        saw("an empty list");
    }

    /** AI services look memories up by id, and two ids are two users. */
    @Check(Level.BASIC)
    protected void a_memory_has_the_id_it_was_made_with_and_its_own_messages() throws Exception {
        ChatMemoryProvider provider = opened();
        List<Object> ids = List.of(
                newId(), newId(), UUID.randomUUID(), ThreadLocalRandom.current().nextLong(1L << 40, 1L << 50));
        List<ChatMemory> memories = ids.stream().map(provider::get).toList();
        for (int i = 0; i < ids.size(); i++) {
            expect(
                    ids.get(i).equals(memories.get(i).id()),
                    "id %s of %s",
                    memories.get(i).id(),
                    ids.get(i));
            memories.get(i).add(UserMessage.from("of " + i));
        }
        for (int i = 0; i < ids.size(); i++) {
            expectNone(Samples.difference(
                    List.of(UserMessage.from("of " + i)), memories.get(i).messages()));
        }
        saw("ids of strings, a UUID and a number");
    }

    /** A conversation has one system message, and a new one replaces it. */
    @Check(Level.BASIC)
    protected void a_new_system_message_replaces_the_old_one() throws Exception {
        ChatMemory memory = opened().get(newId());
        memory.add(SystemMessage.from("Be brief"));
        memory.add(UserMessage.from("Hello"));
        memory.add(AiMessage.from("Hi"));
        memory.add(SystemMessage.from("Be brief"));
        expectSystem(memory, "Be brief", 3);
        memory.add(SystemMessage.from("Be kind"));
        expectSystem(memory, "Be kind", 3);
        saw("an equal one is not added again, another one replaces it");
    }

    private static void expectSystem(ChatMemory memory, String text, int size) {
        List<ChatMessage> list = memory.messages();
        List<ChatMessage> system =
                list.stream().filter(SystemMessage.class::isInstance).toList();
        expect(system.equals(List.of(SystemMessage.from(text))), "system messages %s", system);
        expect(list.size() == size, "%d messages instead of %d", list.size(), size);
    }

    /** A cleared memory is empty, and what is added later is alone in it. */
    @Check(Level.BASIC)
    protected void clear_empties() throws Exception {
        ChatMemoryProvider provider = opened();
        ChatMemory memory = provider.get(newId());
        ChatMemory other = provider.get(newId());
        memory.add(SystemMessage.from("Be brief"));
        memory.add(UserMessage.from("1"));
        other.add(UserMessage.from("other"));
        memory.clear();
        expectNone(Samples.difference(List.of(), memory.messages()));
        memory.add(UserMessage.from("2"));
        expectNone(Samples.difference(List.of(UserMessage.from("2")), memory.messages()));
        expectNone(Samples.prefixed(
                "another memory, not cleared: ",
                Samples.difference(List.of(UserMessage.from("other")), other.messages())));
        saw("empty, then one new message; another memory is whole");
    }

    /** Compaction and guardrails set a list: it replaces all. */
    @Check(Level.BASIC)
    protected void set_replaces_all_messages() throws Exception {
        ChatMemory memory = opened().get(newId());
        IntStream.range(0, 10)
                .forEach(i -> memory.add(i % 2 == 0 ? UserMessage.from("q" + i) : AiMessage.from("a" + i)));
        List<ChatMessage> list =
                List.of(SystemMessage.from("Be brief"), UserMessage.from("q4"), AiMessage.from("another answer"));
        memory.set(list);
        expectNone(Samples.difference(list, memory.messages()));
        saw("10 messages replaced by 3");
    }

    /** A list that the caller changes is the caller's. */
    @Check(Level.BASIC)
    protected void a_returned_list_is_a_copy() throws Exception {
        ChatMemory memory = opened().get(newId());
        memory.add(UserMessage.from("1"));
        List<ChatMessage> list = memory.messages();
        boolean mutable = Samples.thrownBy(() -> list.add(UserMessage.from("not added"))) == null;
        expectNone(Samples.difference(List.of(UserMessage.from("1")), memory.messages()));
        saw("the returned list %s be changed", mutable ? "can" : "cannot");
    }

    /**
     * Providers refuse a tool result without its call, and a call without its results. Whenever a model may be asked, a
     * view has both or neither, and the newest message.
     */
    @Check(Level.BASIC)
    protected void eviction_tears_no_tool_pair() throws Exception {
        ChatMemory memory = opened().get(newId());
        List<ChatMessage> added = evict(memory, true);
        saw("%d messages of %d added are shown", memory.messages().size(), added.size());
    }

    /** The system message survives eviction. */
    @Check(Level.BASIC)
    protected void eviction_keeps_the_system_message() throws Exception {
        ChatMemory memory = opened().get(newId());
        evict(memory, false);
        expect(
                memory.messages().get(0).equals(SystemMessage.from("Be brief")),
                "the first message is %s",
                memory.messages().get(0));
        saw("it is the first message");
    }

    /** What is no longer shown is not lost, if the memory says so. */
    @Check(Level.BASIC)
    protected void what_is_evicted_is_kept() throws Exception {
        ChatMemory memory = opened().get(newId());
        memory.add(UserMessage.from("the first one"));
        if (kept(memory) == null) {
            notApplicable("the memory does not claim it");
        }
        List<ChatMessage> added = new ArrayList<>(List.of(UserMessage.from("the first one"), AiMessage.from("yes")));
        memory.add(AiMessage.from("yes"));
        added.addAll(evict(memory, false));
        List<ChatMessage> kept = new ArrayList<>(kept(memory));
        kept.removeIf(SystemMessage.class::isInstance);
        added.removeIf(SystemMessage.class::isInstance);
        expectNone(Samples.difference(added, kept));
        saw("all %d messages, %d of them shown", added.size(), memory.messages().size());
    }

    /** Adds turns with two tool calls until the memory has evicted for a while, and returns what it added. */
    private List<ChatMessage> evict(ChatMemory memory, boolean each) {
        List<ChatMessage> added = new ArrayList<>();
        added.add(SystemMessage.from("Be brief"));
        memory.add(added.get(0));
        int evicting = 0;
        for (int turn = 0; turn < TURNS && evicting < 8; turn++) {
            for (ChatMessage message : turn(turn)) {
                memory.add(message);
                added.add(message);
                if (each && isAsked(message)) {
                    expectWhole(memory.messages(), added);
                }
            }
            evicting += memory.messages().size() < added.size() ? 1 : 0;
        }
        if (evicting == 0) {
            notApplicable("nothing was evicted in %d messages".formatted(added.size()));
        }
        return added;
    }

    /** A model is not asked before all results are there. */
    private static boolean isAsked(ChatMessage message) {
        boolean calls = message instanceof AiMessage answer && answer.hasToolExecutionRequests();
        return !calls
                && !(message instanceof ToolExecutionResultMessage result
                        && result.id().endsWith("-a"));
    }

    private static List<ChatMessage> turn(int number) {
        String first = "call-" + number + "-a";
        String second = "call-" + number + "-b";
        return List.of(
                UserMessage.from("question " + number),
                Samples.calls(first, second),
                Samples.result(first),
                Samples.result(second),
                AiMessage.from("answer " + number));
    }

    private static void expectWhole(List<ChatMessage> list, List<ChatMessage> added) {
        ChatMessage newest = added.get(added.size() - 1);
        expect(list.contains(newest), "the newest message is not shown: %s", newest);
        Set<String> called = new HashSet<>();
        Set<String> results = ids(list);
        Set<String> allResults = ids(added);
        for (ChatMessage message : list) {
            if (message instanceof ToolExecutionResultMessage result) {
                expect(called.contains(result.id()), "a result without its call: %s", result.id());
            } else if (message instanceof AiMessage answer) {
                answer.toolExecutionRequests().forEach(call -> {
                    called.add(call.id());
                    expect(
                            results.contains(call.id()) || !allResults.contains(call.id()),
                            "a call without its result: %s",
                            call.id());
                });
            }
        }
    }

    private static Set<String> ids(List<ChatMessage> list) {
        Set<String> ids = new HashSet<>();
        for (ChatMessage message : list) {
            if (message instanceof ToolExecutionResultMessage result) {
                ids.add(result.id());
            }
        }
        return ids;
    }

    /** Requests of one conversation that meet lose no message of each other. */
    @Check(Level.CONCURRENT)
    protected void threads_on_one_memory_lose_no_message() throws Exception {
        ChatMemoryProvider provider = opened();
        int rounds = count(50);
        for (int round = 0; round < rounds; round++) {
            ChatMemory memory = provider.get(newId());
            together(THREADS, thread -> addFrom("w" + thread, memory));
            expectNothingLost(
                    memory, IntStream.range(0, THREADS).mapToObj(i -> "w" + i).toList(), perWriter());
        }
        saw("%d threads, %d messages each, %d times", THREADS, perWriter(), rounds);
    }

    /** The same, with a memory object for each thread: providers make one for each request. */
    @Check(Level.CONCURRENT)
    protected void threads_with_a_memory_each_on_one_id_lose_no_message() throws Exception {
        ChatMemoryProvider provider = opened();
        expectShared(provider);
        int rounds = count(50);
        for (int round = 0; round < rounds; round++) {
            String id = newId();
            together(THREADS, thread -> addFrom("w" + thread, provider.get(id)));
            expectNothingLost(
                    provider.get(id),
                    IntStream.range(0, THREADS).mapToObj(i -> "w" + i).toList(),
                    perWriter());
        }
        saw("%d threads, %d messages each, %d times", THREADS, perWriter(), rounds);
    }

    private void expectShared(ChatMemoryProvider provider) {
        String id = newId();
        provider.get(id).add(UserMessage.from("1"));
        if (provider.get(id).messages().isEmpty()) {
            notApplicable("each memory object of an id has messages of its own");
        }
    }

    private int perWriter() {
        return shown() / THREADS;
    }

    private void addFrom(String writer, ChatMemory memory) {
        for (int i = 0; i < perWriter(); i++) {
            memory.add(UserMessage.from(Samples.name(writer, i)));
        }
    }

    private void expectNothingLost(ChatMemory memory, List<String> writers, int each) {
        List<ChatMessage> kept = kept(memory);
        List<String> texts = (kept == null ? memory.messages() : kept)
                .stream().map(Samples::text).toList();
        for (String writer : writers) {
            List<String> expected = IntStream.range(0, each)
                    .mapToObj(i -> Samples.name(writer, i))
                    .toList();
            List<String> found =
                    texts.stream().filter(text -> text.startsWith(writer + "/")).toList();
            expect(
                    found.equals(expected),
                    "%d of %d messages are there; of %s: %s",
                    texts.size(),
                    writers.size() * each,
                    writer,
                    found);
        }
    }

    /** A restart keeps the conversation. */
    @Check(Level.DURABLE)
    protected void another_instance_shows_the_same_messages() throws Exception {
        shared();
        String id = newId();
        ChatMemory memory = opened().get(id);
        ChatMemory other = opened().get(id);
        List<ChatMessage> added = new ArrayList<>();
        for (int turn = 0; turn < 3; turn++) {
            ChatMemory one = turn % 2 == 0 ? memory : other;
            for (ChatMessage message : turn(turn)) {
                one.add(message);
                added.add(message);
            }
            expectNone(Samples.difference(added, memory.messages()));
            expectNone(Samples.difference(added, other.messages()));
        }
        saw("3 turns with tool calls, added by two instances in turn");
    }

    /** Two servers on one conversation lose no message of each other. */
    @Check(Level.DURABLE)
    protected void two_processes_lose_no_message() throws Exception {
        shared();
        ChatMemoryProvider provider = opened();
        String id = newId();
        int each = shown() / 2;
        try (ChildProcess one = child("add", id, "one", each);
                ChildProcess two = child("add", id, "two", each)) {
            ChildProcess.together(one, two);
        }
        expectNothingLost(provider.get(id), List.of("one", "two"), each);
        saw("2 processes, %d messages each", each);
    }

    /** A message whose add has returned survives the end of its process, and the next one is there or not. */
    @Check(Level.DURABLE)
    protected void a_killed_process_loses_no_added_message() throws Exception {
        shared();
        int kills = count(20);
        int after = 0;
        for (int kill = 0; kill < kills; kill++) {
            String id = newId();
            int last = killed("add", id, 5 + kill);
            List<String> texts =
                    opened().get(id).messages().stream().map(Samples::text).toList();
            int size = texts.size();
            expect(size > 0, "nothing is there, and %d messages had been added", last + 1);
            int newest = Integer.parseInt(texts.get(size - 1).split("/")[1]);
            expect(
                    newest == last || newest == last + 1,
                    "message %d had been added, and the newest one is %d",
                    last,
                    newest);
            List<String> expected = IntStream.rangeClosed(newest - size + 1, newest)
                    .mapToObj(i -> Samples.name("killed", i))
                    .toList();
            expect(texts.equals(expected), "messages are missing or doubled: %s", texts);
            after += newest - last;
            closeOpened();
        }
        saw("after %d of %d kills the message in flight is there", after, kills);
    }
}
