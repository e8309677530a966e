package io.github.keepsake4j.recall;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Counts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What every index must do. */
public abstract class MessageIndexContract extends VectorIndexContract {

    private static final int SEALED = 16_384;

    private static final MemoryKey ONE = ConversationKey.of("acme", "one");
    private static final MemoryKey TWO = NodeKey.of("acme", "app", "conversation", "node");
    private static final MemoryKey FOREIGN = ConversationKey.of("other", "one");

    private static IndexedMessage message(long sequence, String... terms) {
        Map<String, Integer> counts = new HashMap<>();
        Arrays.stream(terms).forEach(term -> counts.merge(term, 1, Integer::sum));
        return new IndexedMessage(sequence, ChatMessageType.USER, terms.length, counts);
    }

    private void add(MemoryKey key, long from, String... texts) {
        MessageIndex.Watermark before = index.watermarks(List.of(key)).get(key);
        List<IndexedMessage> messages = new ArrayList<>();
        for (int i = 0; i < texts.length; i++) {
            messages.add(message(from + i, texts[i].split(" ")));
        }
        assertThat(index.add(key, before, new MessageIndex.Watermark(1, from + texts.length - 1), messages))
                .isTrue();
    }

    private static List<Long> sequences(Matches matches, String term) {
        return matches.postings().getOrDefault(term, List.of()).stream()
                .map(Posting::sequence)
                .toList();
    }

    private Matches match(Scope scope, String... terms) {
        return index.match(scope, List.of(terms), 1_000);
    }

    @Test
    void a_term_is_found_in_its_memory_with_what_ranking_needs() {
        add(ONE, 1, "the cat sat", "the dog the dog", "a bird");
        add(TWO, 1, "the cat");

        Matches matches = match(Scope.memory(ONE), "the", "cat", "fish");

        assertThat(matches.messages()).isEqualTo(3);
        assertThat(matches.averageLength()).isEqualTo(3);
        assertThat(matches.frequencies()).isEqualTo(Map.of("the", 2L, "cat", 1L));
        assertThat(matches.postings().keySet()).containsExactly("cat", "the");
        assertThat(sequences(matches, "the")).containsExactly(2L, 1L);
        Posting dog = matches.postings().get("the").get(0);
        assertThat(dog.count()).isEqualTo(2);
        assertThat(dog.length()).isEqualTo(4);
        assertThat(dog.type()).isEqualTo(ChatMessageType.USER);
        assertThat(index.keys(List.of(dog.memory()))).containsOnly(Map.entry(dog.memory(), ONE));
    }

    @Test
    void a_scope_is_one_memory_or_some_or_a_tenant() {
        add(ONE, 1, "cat", "dog");
        add(TWO, 1, "cat cat", "cat");
        add(FOREIGN, 1, "cat", "cat");

        assertThat(match(Scope.memory(TWO), "cat").frequency("cat")).isEqualTo(2);
        Matches both = match(Scope.memories(List.of(ONE, TWO)), "cat");
        Matches tenant = match(Scope.tenant("acme"), "cat");
        assertThat(tenant).isEqualTo(both);
        assertThat(tenant.messages()).isEqualTo(4);
        assertThat(tenant.totalLength()).isEqualTo(5);
        assertThat(tenant.frequency("cat")).isEqualTo(3);
        assertThat(match(new Scope("acme", List.of()), "cat")).isEqualTo(Matches.NONE);
        assertThat(match(Scope.tenant("nobody"), "cat")).isEqualTo(Matches.NONE);
        assertThat(match(Scope.memory(ConversationKey.of("acme", "nothing")), "cat"))
                .isEqualTo(Matches.NONE);
    }

    @Test
    void a_word_that_is_rare_in_a_list_is_read_however_frequent_it_is_elsewhere() {
        List<String> terms = IntStream.range(0, 30).mapToObj(i -> "word" + i).collect(Collectors.toList());
        List<MemoryKey> list = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            MemoryKey key = ConversationKey.of("acme", "of the list " + i);
            list.add(key);
            add(key, 1, String.join(" ", terms), i == 7 ? "luna" : "lake");
        }
        add(ONE, 1, IntStream.range(0, 300).mapToObj(i -> "luna moon").toArray(String[]::new));

        terms.add("luna");
        Matches matches = index.match(Scope.memories(list), terms, 20);

        assertThat(matches.frequencies()).containsEntry("luna", 1L).containsEntry("word7", 40L);
        assertThat(sequences(matches, "luna")).containsExactly(2L);
    }

    @Test
    void each_memory_of_a_list_is_read_though_its_postings_are_in_several_rows() {
        List<MemoryKey> list = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            MemoryKey key = ConversationKey.of("acme", "of the list " + i);
            list.add(key);
            List<IndexedMessage> far = IntStream.range(0, 4)
                    .mapToObj(place -> message(1 + 1_024L * place, "parrot"))
                    .toList();
            assertThat(index.add(key, null, new MessageIndex.Watermark(1, 3_073), far))
                    .isTrue();
        }

        Matches matches = index.match(Scope.memories(list), List.of("parrot"), 20_000);

        assertThat(sequences(matches, "parrot")).hasSize(2_400);
    }

    @Test
    void the_watermark_moves_with_the_rows_and_only_from_what_the_caller_has_seen() {
        MessageIndex.Watermark first = new MessageIndex.Watermark(1, 1);
        assertThat(index.add(ONE, null, first, List.of(message(1, "cat")))).isTrue();
        assertThat(index.add(ONE, null, first, List.of(message(1, "cat")))).isFalse();
        assertThat(index.add(
                        ONE,
                        new MessageIndex.Watermark(2, 1),
                        new MessageIndex.Watermark(2, 2),
                        List.of(message(2, "cat"))))
                .isFalse();
        assertThat(index.add(TWO, first, new MessageIndex.Watermark(1, 2), List.of(message(2, "cat"))))
                .isFalse();
        assertThat(index.watermarks(List.of(ONE, TWO))).isEqualTo(Map.of(ONE, first));
        assertThat(match(Scope.tenant("acme"), "cat").frequency("cat")).isEqualTo(1);

        assertThat(index.add(ONE, first, new MessageIndex.Watermark(1, 7), List.of()))
                .isTrue();
        assertThat(index.watermarks(List.of(ONE))).isEqualTo(Map.of(ONE, new MessageIndex.Watermark(1, 7)));
        assertThrown(
                InvalidInputException.class,
                () -> index.add(ONE, new MessageIndex.Watermark(1, 7), new MessageIndex.Watermark(1, 6), List.of()));
    }

    @Test
    void rare_terms_are_read_first_and_the_limit_holds() {
        String[] texts = new String[300];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = "often" + (i % 3 == 0 ? " sometimes" : "") + (i % 100 == 0 ? " seldom" : "");
        }
        add(ONE, 1, texts);

        Matches matches = index.match(Scope.memory(ONE), List.of("often", "seldom", "sometimes"), 50);

        assertThat(matches.frequencies()).isEqualTo(Map.of("often", 300L, "seldom", 3L, "sometimes", 100L));
        assertThat(matches.postings().keySet()).containsExactly("seldom", "sometimes");
        assertThat(sequences(matches, "seldom")).containsExactly(201L, 101L, 1L);
        assertThat(sequences(matches, "sometimes")).hasSize(47).startsWith(298L, 295L);
    }

    @Test
    void in_a_tenant_each_memory_gives_its_share_of_a_frequent_term() {
        for (int memory = 0; memory < 10; memory++) {
            String[] texts = new String[10 * (memory + 1)];
            Arrays.fill(texts, "word");
            add(ConversationKey.of("acme", "memory" + memory), 1, texts);
        }

        Matches matches = index.match(Scope.tenant("acme"), List.of("word"), 55);

        Map<Long, Long> byMemory = matches.postings().get("word").stream()
                .collect(Collectors.groupingBy(Posting::memory, Collectors.counting()));
        assertThat(matches.frequency("word")).isEqualTo(550);
        assertThat(byMemory.values()).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
    }

    @Test
    void many_named_memories_are_read_like_each_of_them() {
        Random random = new Random(3);
        List<MemoryKey> named = new ArrayList<>();
        for (int memory = 0; memory < 60; memory++) {
            MemoryKey key = ConversationKey.of("acme", "memory" + memory);
            String[] texts = new String[12];
            Arrays.setAll(texts, i -> "w" + (int) (40 * Math.pow(random.nextDouble(), 3)) + " every");
            add(key, 1, texts);
            if (memory % 4 != 0) {
                named.add(key);
            }
        }
        List<String> terms = new ArrayList<>(List.of("every", "absent"));
        IntStream.range(0, 40).forEach(word -> terms.add("w" + word));
        Map<String, Long> frequencies = new HashMap<>();
        Map<String, Set<Posting>> postings = new HashMap<>();
        for (MemoryKey key : named) {
            Matches one = index.match(Scope.memory(key), terms, 1_000_000);
            one.frequencies().forEach((term, count) -> frequencies.merge(term, count, Long::sum));
            one.postings().forEach((term, list) -> postings.computeIfAbsent(term, t -> new HashSet<>())
                    .addAll(list));
        }

        Matches all = index.match(Scope.memories(named), terms, 1_000_000);
        assertThat(all.messages()).isEqualTo(named.size() * 12L);
        assertThat(all.frequencies()).isEqualTo(frequencies);
        postings.forEach(
                (term, expected) -> assertThat(all.postings().get(term)).containsExactlyInAnyOrderElementsOf(expected));

        Matches some = index.match(Scope.memories(named), terms, 60);
        assertThat(some.postings()).isNotEmpty();
        assertThat(some.postings().values().stream().mapToInt(List::size).sum()).isBetween(60, 60 + named.size());
        assertThat(some.frequencies()).isEqualTo(frequencies);
    }

    @Test
    void a_removed_memory_leaves_nothing_and_the_others_as_they_were() {
        add(ONE, 1, "cat dog");
        add(FOREIGN, 1, "cat fish");
        Matches before = match(Scope.tenant("acme"), "cat", "dog", "secret");
        add(TWO, 1, "cat secret", "secret");

        index.remove(TWO);
        index.remove(TWO);

        assertThat(match(Scope.tenant("acme"), "cat", "dog", "secret")).isEqualTo(before);
        assertThat(index.watermarks(List.of(ONE, TWO)).keySet()).containsExactly(ONE);
        assertThat(index.memories("acme", 0, 10).values()).containsExactly(ONE);
        index.remove(ONE);
        assertThat(index.tenants()).containsExactly("other");
        add(TWO, 1, "cat");
        assertThat(match(Scope.tenant("acme"), "cat", "secret").frequencies()).isEqualTo(Map.of("cat", 1L));
    }

    @Test
    void memories_are_listed_page_by_page() {
        List<MemoryKey> keys = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            keys.add(ConversationKey.of("acme", "memory" + i));
            add(keys.get(i), 1, "word");
        }
        add(FOREIGN, 1, "word");
        List<MemoryKey> listed = new ArrayList<>();
        long after = 0;
        for (Map<Long, MemoryKey> page = index.memories("acme", after, 2);
                !page.isEmpty();
                page = index.memories("acme", after, 2)) {
            listed.addAll(page.values());
            after = page.keySet().stream().mapToLong(Long::longValue).max().orElseThrow();
        }
        assertThat(listed).containsExactlyElementsOf(keys);
        assertThat(index.tenants()).containsExactlyInAnyOrder("acme", "other");
    }

    @Test
    void what_is_read_does_not_depend_on_how_it_was_added() {
        int messages = 2 * SEALED + 3_000;
        Random random = new Random(5);
        List<IndexedMessage> all = new ArrayList<>();
        for (int sequence = 1; sequence <= messages; sequence++) {
            all.add(message(sequence, "all", "t" + random.nextInt(3), "u" + random.nextInt(2_000)));
        }
        List<Matches> read = new ArrayList<>();
        for (int most : new int[] {2_000, 40_000}) {
            index.clear();
            MessageIndex.Watermark before = null;
            for (int from = 0; from < messages; ) {
                int to = Math.min(messages, from + 1 + random.nextInt(most));
                MessageIndex.Watermark after = new MessageIndex.Watermark(1, to);
                assertThat(index.add(ONE, before, after, all.subList(from, to))).isTrue();
                before = after;
                from = to;
            }
            read.add(index.match(Scope.memory(ONE), List.of("t1", "u7", "u99"), 1_000_000));
        }
        List<Long> expected = all.stream()
                .filter(message -> message.terms().containsKey("t1"))
                .map(IndexedMessage::sequence)
                .sorted(Comparator.reverseOrder())
                .toList();
        assertThat(sequences(read.get(0), "t1")).isEqualTo(expected);
        assertThat(sequences(read.get(1), "t1")).isEqualTo(expected);
        assertThat(read.get(1).frequencies()).isEqualTo(read.get(0).frequencies());
    }

    @Test
    void hostile_terms_are_data() {
        add(ONE, 1, "'\"*:&|!()NEAR \uD83D\uDE00 %_ \\' {a,\"b\"} \u0001");
        for (String term : List.of("'\"*:&|!()NEAR", "\uD83D\uDE00", "%_", "\\'", "{a,\"b\"}", "\u0001")) {
            assertThat(match(Scope.memory(ONE), term).frequency(term)).isEqualTo(1);
        }
        assertThat(match(Scope.tenant("acme"), "%", "*", "NEAR").frequencies()).isEmpty();
    }

    @Test
    void writers_that_meet_add_each_message_once() throws Exception {
        int memories = 3;
        int messages = Counts.of(40, 400);
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try (MessageIndex other = sameIndex()) {
            List<Callable<Boolean>> work = new ArrayList<>();
            for (int writer = 0; writer < 4; writer++) {
                MessageIndex own = writer % 2 == 0 ? index : other;
                work.add(() -> {
                    for (int i = 0; i < memories; i++) {
                        MemoryKey key = ConversationKey.of("acme", "memory" + i);
                        for (long next = 1; next <= messages; ) {
                            MessageIndex.Watermark before =
                                    own.watermarks(List.of(key)).get(key);
                            next = before == null ? 1 : before.sequence() + 1;
                            if (next <= messages) {
                                own.add(
                                        key,
                                        before,
                                        new MessageIndex.Watermark(1, next),
                                        List.of(message(next, "word", "w" + next)));
                            }
                        }
                    }
                    return true;
                });
            }
            for (Future<Boolean> done : executor.invokeAll(work)) {
                done.get();
            }
        } finally {
            executor.shutdown();
        }
        Matches matches = index.match(Scope.tenant("acme"), List.of("word", "w7"), 100_000);
        assertThat(matches.messages()).isEqualTo(memories * messages);
        assertThat(matches.frequencies()).isEqualTo(Map.of("word", (long) memories * messages, "w7", 3L));
        assertThat(matches.postings().get("word")).hasSize(memories * messages).doesNotHaveDuplicates();
    }

    @Test
    void the_words_of_an_index_do_not_change() throws Exception {
        index.open("v1");
        index.open("v1");
        try (MessageIndex other = sameIndex()) {
            assertThrown(KeepsakeException.class, () -> other.open("v2"), "clear()");
        }
        add(ONE, 1, "cat");
        index.clear();
        index.open("v2");
        assertThat(match(Scope.tenant("acme"), "cat")).isEqualTo(Matches.NONE);
        assertThat(index.tenants()).isEmpty();
    }

    @Test
    void an_index_is_compacted_in_use() throws Exception {
        add(ONE, 1, "cat");
        add(TWO, 1, "dog");
        index.remove(TWO);
        index.compact();
        assertThat(match(Scope.tenant("acme"), "cat", "dog").frequencies()).isEqualTo(Map.of("cat", 1L));
    }
}
