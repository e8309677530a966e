package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.recall.SearchResult.Highlight;
import io.github.keepsake4j.recall.SearchResult.Hit;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.text.OwnText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What search must do with every index. */
public abstract class MessageSearchContract {

    private static final ConversationKey CHAT = ConversationKey.of("acme", "chat");
    private static final NodeKey NODE = NodeKey.of("acme", "app", "chat", "writer");
    private static final ConversationKey FOREIGN = ConversationKey.of("other", "chat");

    protected MessageIndex index;
    protected MessageLog log;
    private Process process;

    /** Opens a new, empty index. */
    protected abstract MessageIndex newIndex() throws Exception;

    /** Opens a new, empty log. */
    protected abstract MessageLog newLog() throws Exception;

    /** A process that uses the log and the index, whose indexer works only when it is told to. */
    protected final class Process {
        final Indexer indexer;
        final MessageSearch search;
        final MessageLog watched;

        Process(MessageLog logOfProcess) {
            this(logOfProcess, Words.standard());
        }

        Process(MessageLog logOfProcess, Words words) {
            indexer = new Indexer(
                    index,
                    key -> logOfProcess,
                    List.of(logOfProcess),
                    words,
                    task -> {},
                    pause -> task -> {},
                    new Indexer.Settings(Duration.ofMillis(1), Duration.ofSeconds(30), 2, 64, Duration.ofSeconds(60)),
                    null);
            search = new MessageSearch(index, key -> logOfProcess, words, indexer, MessageSearch.MAX_POSTINGS);
            watched = search.watched(logOfProcess);
            indexer.use("acme");
        }
    }

    @BeforeEach
    void open() throws Exception {
        index = newIndex();
        log = newLog();
        process = new Process(log);
    }

    @AfterEach
    void close() {
        log.close();
        index.close();
    }

    private static ChatMessage message(String text) {
        return text.startsWith("AI: ") ? AiMessage.from(text.substring(4)) : UserMessage.from(text);
    }

    private static NewMessage newMessage(ChatMessage message) {
        return NewMessage.of(message, 1, "test");
    }

    private List<String> say(MemoryKey key, String... texts) {
        return say(process.watched, key, texts);
    }

    /** Appends one after the other, and returns the ids. */
    private static List<String> say(MessageLog to, MemoryKey key, String... texts) {
        List<NewMessage> messages = new ArrayList<>();
        for (String text : texts) {
            messages.add(newMessage(message(text)));
        }
        to.append(key, Append.underHead(messages.toArray(NewMessage[]::new)));
        return messages.stream().map(NewMessage::id).toList();
    }

    private SearchResult search(Scope scope, String text) {
        return process.search.search(scope, text, SearchOptions.standard());
    }

    private static List<String> texts(SearchResult result) {
        return result.hits().stream()
                .map(hit -> OwnText.blanked(hit.message().message()))
                .toList();
    }

    private static List<String> texts(List<LoggedMessage> messages) {
        return messages.stream().map(one -> OwnText.blanked(one.message())).toList();
    }

    /** Terms are made where a text is split, and a word's only once while it is remembered. In memory, verify checks it too. */
    @Test
    @Tag("landing")
    protected void a_search_splits_little_of_what_is_not_indexed_yet_however_long_it_is() {
        AtomicLong mapped = new AtomicLong();
        Words counting = Words.builder()
                .language("en")
                .mapping(term -> {
                    mapped.addAndGet(term.length());
                    return term;
                })
                .build();
        process = new Process(log, counting);
        Random random = new Random(1);
        StringBuilder distinct = new StringBuilder("zebra ");
        while (distinct.length() < Words.MAX_LENGTH + 2 * Finder.MAX_SPLIT) {
            distinct.append(Integer.toString(random.nextInt(1 << 30), 36)).append(' ');
        }
        say(CHAT, "I like quokkas.", distinct.toString(), "And wombats.");

        SearchResult found = search(Scope.memory(CHAT), "quokkas wombats zebra");
        assertThat(texts(found)).containsExactlyInAnyOrder("I like quokkas.", "And wombats.");
        assertThat(found.lagging()).isTrue();
        // Each letter of a word is in a few terms: its stems, its parts and its beginnings.
        assertThat(mapped).hasValueLessThan(12L * Finder.MAX_SPLIT);

        process.indexer.drain();
        mapped.set(0);
        SearchResult indexed = search(Scope.memory(CHAT), "zebra");
        assertThat(indexed.hits()).hasSize(1);
        assertThat(indexed.lagging()).isFalse();
        assertThat(mapped).hasValueLessThan(12L * Words.MAX_LENGTH);
    }

    @Test
    void what_was_just_said_is_found_however_far_behind_the_index_is() {
        String[] many = new String[1_000];
        Arrays.setAll(many, i -> "message " + i);
        say(CHAT, many);
        say(CHAT, "The wombat sleeps.");

        SearchResult found = search(Scope.memory(CHAT), "wombat");
        assertThat(texts(found)).containsExactly("The wombat sleeps.");
        assertThat(found.lagging()).isTrue();
    }

    @Test
    void what_was_just_said_in_many_memories_is_found_however_far_behind_the_index_is() {
        for (int memories : new int[] {1, 20}) {
            List<ConversationKey> keys = IntStream.range(0, memories)
                    .mapToObj(i -> ConversationKey.of("acme", memories + " " + i))
                    .toList();
            for (int i = 0; i < keys.size(); i++) {
                String[] many = new String[memories == 1 ? Counts.of(2_000, 5_000) : 5_000 / memories];
                int memory = i;
                Arrays.setAll(many, at -> "Message " + word(memory, many.length - at));
                say(keys.get(i), many);
            }
            Scope scope = Scope.memories(keys);
            MessageRecall recall =
                    new MessageRecall(process.search, key -> MessageRecallContract.seen(log, key, Set.of()));
            for (int i = 0; i < keys.size(); i += 7) {
                for (int at = 1; at <= 50; at += Counts.of(49, 7)) {
                    String word = word(i, at);
                    assertThat(texts(search(scope, word))).as(word).startsWith("Message " + word);
                    assertThat(recall.recall(
                                            scope,
                                            word,
                                            RecallOptions.standard().withNeighbours(0))
                                    .passages())
                            .as(word)
                            .first()
                            .satisfies(passage ->
                                    assertThat(texts(passage.messages())).containsExactly("Message " + word));
                }
            }
        }
    }

    @Test
    void what_was_just_said_in_one_of_more_memories_than_are_read_is_found() {
        for (int i = 0; i < 30; i++) {
            say(ConversationKey.of("acme", "chat" + i), "message " + word(i, 0));
        }

        assertThat(texts(search(Scope.tenant("acme"), word(29, 0)))).containsExactly("message " + word(29, 0));
    }

    /** Returns a word that shares few letters with others. */
    private static String word(int memory, int number) {
        return new Random(1_000_003L * memory + number)
                .ints(10, 'a', 'z' + 1)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    @Test
    void a_long_message_hides_none_that_were_said_before_it() {
        for (int length : new int[] {Finder.MAX_SPLIT - 100, 2 * Finder.MAX_SPLIT}) {
            ConversationKey key = ConversationKey.of("acme", "long" + length);
            String[] texts = new String[50];
            Arrays.setAll(texts, i -> "This is message word" + i + ".");
            texts[49] = "long ".repeat(length / 5);
            say(key, texts);

            for (int i = 0; i < 49; i++) {
                assertThat(texts(search(Scope.memory(key), "word" + i)))
                        .as("word" + i)
                        .startsWith(texts[i]);
            }
        }
    }

    @Test
    void an_emoji_alone_is_found_and_highlighted_whole() {
        String text = "Hello👩‍👩‍👧 from 🇩🇪, with ❤️ and 🦜🦜!";
        say(CHAT, text);
        for (boolean indexed : new boolean[] {false, true}) {
            if (indexed) {
                process.indexer.drain();
            }
            for (String emoji : List.of("👩‍👩‍👧", "🇩🇪", "❤️", "❤", "🦜")) {
                Hit hit = search(Scope.memory(CHAT), emoji).hits().get(0);
                assertThat(hit.highlights())
                        .extracting(place -> text.substring(place.start(), place.end()))
                        .containsExactly(emoji.equals("❤") ? "❤️" : emoji.equals("🦜") ? "🦜🦜" : emoji);
            }
        }
    }

    @Test
    void an_index_that_has_more_than_the_log_is_made_again() {
        say(CHAT, "one", "two", "three", "four", "five elephants");
        process.indexer.drain();
        try (MessageLog older = new InMemoryMessageLog()) {
            Process restored = new Process(older);
            say(restored.watched, CHAT, "one", "my parrot is called Luna");

            assertThat(texts(restored.search.search(Scope.memory(CHAT), "parrot", SearchOptions.standard())))
                    .containsExactly("my parrot is called Luna");
            restored.indexer.drain();
            assertThat(index.watermarks(List.of(CHAT))).containsEntry(CHAT, new MessageIndex.Watermark(1, 2));
            assertThat(texts(restored.search.search(Scope.memory(CHAT), "parrot", SearchOptions.standard())))
                    .containsExactly("my parrot is called Luna");
        }
    }

    @Test
    void what_is_on_a_named_branch_alone_is_found() {
        log.append(
                CHAT,
                Append.under(Parent.head(), List.of(newMessage(message("a parrot on a branch"))))
                        .onBranch("tab"));

        assertThat(texts(search(Scope.memory(CHAT), "parrot"))).containsExactly("a parrot on a branch");
        process.indexer.sweep();
        process.indexer.drain();
        assertThat(index.watermarks(List.of(CHAT))).containsEntry(CHAT, new MessageIndex.Watermark(1, 1));
        assertThat(texts(search(Scope.tenant("acme"), "parrot"))).containsExactly("a parrot on a branch");
    }

    @Test
    void what_was_just_said_is_found_and_indexing_changes_neither_hits_nor_scores() {
        say(CHAT, "I would like to adopt a cat", "AI: A cat needs company", "And what does a dog need?");
        say(NODE, "The cat of the neighbours");
        SearchResult before = search(Scope.memory(CHAT), "cat");
        SearchResult all = search(Scope.tenant("acme"), "cat");
        assertThat(index.tenants()).isEmpty();

        process.indexer.drain();

        assertThat(texts(before)).containsExactlyInAnyOrder("I would like to adopt a cat", "A cat needs company");
        assertThat(search(Scope.memory(CHAT), "cat")).isEqualTo(before);
        assertThat(all.hits()).hasSize(3);
        assertThat(search(Scope.tenant("acme"), "cat").hits()).isEqualTo(all.hits());
        assertThat(search(Scope.memories(List.of(CHAT, NODE)), "cat").hits()).isEqualTo(all.hits());
        assertThat(before.lagging()).isFalse();
        say(CHAT, "One cat more");
        assertThat(search(Scope.memory(CHAT), "cat").hits()).hasSize(3);
        assertThat(search(Scope.memory(FOREIGN), "cat").hits()).isEmpty();
    }

    @Test
    void a_hit_has_its_place_in_the_text_and_its_neighbours_on_its_branch() {
        List<String> ids =
                say(CHAT, "Hello", "AI: Hi", "Where is the \uD83D\uDE00 Straße, and a street?", "AI: In Berlin");
        process.watched.append(
                CHAT, Append.under(Parent.of(ids.get(0)), List.of(newMessage(message("AI: Hi on another branch")))));
        say(CHAT, "The newest");
        process.indexer.drain();

        Hit hit = process.search
                .search(Scope.memory(CHAT), "strasse", SearchOptions.standard().withNeighbours(2))
                .hits()
                .get(0);

        String text = OwnText.blanked(hit.message().message());
        assertThat(hit.highlights())
                .extracting(part -> text.substring(part.start(), part.end()))
                .contains("Straße");
        assertThat(texts(hit.before())).containsExactly("Hello", "Hi");
        assertThat(texts(hit.after())).containsExactly("In Berlin");
        Hit other = search(Scope.memory(CHAT), "newest").hits().get(0);
        assertThat(texts(other.before())).containsExactly("Hi on another branch");
        Hit first = search(Scope.memory(CHAT), "hello").hits().get(0);
        assertThat(first.highlights()).containsExactly(new Highlight(0, 5));
        assertThat(texts(first.after())).as("the newest answer").containsExactly("Hi on another branch");
    }

    @Test
    void the_last_word_may_be_unfinished_from_two_letters_on() {
        say(CHAT, "The deployment of the service", "Nothing to see", "the umbrella");
        process.indexer.drain();
        for (String typed : List.of("de", "dep", "depl", "deploym", "service de", "nothing um")) {
            assertThat(texts(search(Scope.memory(CHAT), typed)))
                    .as(typed)
                    .containsAnyOf("The deployment of the service", "the umbrella");
        }
        assertThat(search(Scope.memory(CHAT), "de ").hits()).isEmpty();
        assertThat(search(Scope.memory(CHAT), "d").hits()).isEmpty();
        Hit hit = search(Scope.memory(CHAT), "dep").hits().get(0);
        assertThat(hit.highlights()).containsExactly(new Highlight(4, 7));
    }

    @Test
    void who_searches_may_narrow_what_is_found() {
        log.append(CHAT, Append.underHead(newMessage(SystemMessage.from("The word of the system"))));
        List<String> ids = say(CHAT, "The first word", "AI: The second word");
        process.watched.append(
                CHAT, Append.under(Parent.of(ids.get(0)), List.of(newMessage(message("AI: The third word")))));
        process.indexer.drain();
        SearchOptions standard = SearchOptions.standard();
        Scope scope = Scope.memory(CHAT);

        assertThat(texts(search(scope, "word")))
                .containsExactlyInAnyOrder("The first word", "The second word", "The third word");
        assertThat(texts(process.search.search(scope, "word", standard.ofTypes(ChatMessageType.AI))))
                .containsExactlyInAnyOrder("The second word", "The third word");
        assertThat(texts(process.search.search(scope, "word", standard.ofTypes(ChatMessageType.SYSTEM))))
                .containsExactly("The word of the system");
        assertThat(texts(process.search.search(scope, "word", standard.onCurrentBranch())))
                .containsExactlyInAnyOrder("The first word", "The third word");
        Instant now = Instant.now();
        assertThat(process.search
                        .search(scope, "word", standard.between(now.minusSeconds(600), now.plusSeconds(600)))
                        .hits())
                .hasSize(3);
        assertThat(process.search
                        .search(scope, "word", standard.between(now.plusSeconds(600), null))
                        .hits())
                .isEmpty();
        assertThat(process.search
                        .search(scope, "word", standard.between(null, now.minusSeconds(600)))
                        .hits())
                .isEmpty();
    }

    @Test
    void what_was_hidden_or_failed_is_found_unless_it_is_left_out() {
        List<String> ids = say(CHAT, "The word before clear", "AI: The word after that");
        process.watched.append(CHAT, Append.viewOnly(View.of(null, List.of(new View.Run(null, ids.get(0))))));
        List<String> failed = say(CHAT, "The word that failed", "AI: The word that was cut", "The word that is shown");
        Logs.setOutcome(log, CHAT, failed.get(0), Outcome.failed("IOException"), null);
        Logs.setOutcome(log, CHAT, failed.get(1), Outcome.incomplete("cut"), null);
        process.indexer.drain();

        assertThat(search(Scope.memory(CHAT), "word").hits()).hasSize(5);
        assertThat(texts(process.search.search(
                        Scope.memory(CHAT), "word", SearchOptions.standard().onlyVisible())))
                .containsExactlyInAnyOrder("The word before clear", "The word that was cut", "The word that is shown");
    }

    @Test
    void hits_come_in_pages() {
        for (int i = 0; i < 25; i++) {
            say(CHAT, "message number " + i);
        }
        process.indexer.drain();
        List<Long> found = new ArrayList<>();
        Optional<SearchOptions> next = Optional.of(SearchOptions.standard());
        int pages = 0;
        while (next.isPresent()) {
            SearchResult page = process.search.search(Scope.memory(CHAT), "message", next.get());
            page.hits().forEach(hit -> found.add(hit.message().sequence()));
            next = page.next();
            pages++;
        }
        assertThat(pages).isEqualTo(3);
        assertThat(found).hasSize(25).doesNotHaveDuplicates();
    }

    @Test
    void erased_text_is_not_found_from_the_moment_on_at_which_the_erasure_returns() {
        say(CHAT, "a secret", "AI: another secret");
        say(NODE, "a secret too");
        process.indexer.drain();

        process.watched.erase(CHAT);

        assertThat(search(Scope.memory(CHAT), "secret").hits()).isEmpty();
        assertThat(search(Scope.tenant("acme"), "secret").hits()).hasSize(1);
        say(CHAT, "hello", "AI: what a day");
        assertThat(search(Scope.memory(CHAT), "secret").hits()).isEmpty();
        assertThat(search(Scope.memory(CHAT), "hello").hits()).hasSize(1);
        process.indexer.drain();
        assertThat(index.match(Scope.tenant("acme"), List.of("secret"), 10).frequency("secret"))
                .isEqualTo(1);
        assertThat(index.watermarks(List.of(CHAT))).containsEntry(CHAT, new MessageIndex.Watermark(2, 2));
    }

    @Test
    void what_other_processes_append_and_erase_is_found_by_the_sweep() {
        say(CHAT, "a secret of this process");
        process.indexer.sweep();
        process.indexer.drain();
        MessageLog elsewhere = log;
        say(elsewhere, NODE, "a secret of another process");
        assertThat(search(Scope.memory(NODE), "secret").hits()).hasSize(1);
        assertThat(search(Scope.tenant("acme"), "secret").hits()).hasSize(1);

        process.indexer.sweep();
        process.indexer.drain();
        SearchResult swept = search(Scope.tenant("acme"), "secret");
        assertThat(swept.hits()).hasSize(2);
        assertThat(swept.lagging()).isFalse();

        elsewhere.erase(NODE);
        assertThat(search(Scope.tenant("acme"), "secret").hits()).hasSize(1);
        process.indexer.sweep();
        process.indexer.drain();
        assertThat(index.memories("acme", 0, 10).values()).containsExactly(CHAT);
    }

    @Test
    void a_tenant_that_was_not_swept_may_lag() {
        assertThat(search(Scope.tenant("acme"), "word").lagging()).isTrue();
        process.indexer.sweep();
        assertThat(search(Scope.tenant("acme"), "word").lagging()).isFalse();
        String[] texts = new String[300];
        Arrays.fill(texts, "word");
        say(CHAT, texts);
        assertThat(search(Scope.memory(CHAT), "word").lagging())
                .as("more than 200")
                .isTrue();
        process.indexer.drain();
        assertThat(search(Scope.memory(CHAT), "word").lagging()).isFalse();
    }

    @Test
    void an_append_calls_nothing_more_with_an_index() {
        WatchedLog counted = new WatchedLog(log);
        MessageLog watched = new Process(counted.log()).watched;
        say(watched, CHAT, "hello", "AI: hi");
        watched.read(CHAT, ReadQuery.newest(10));
        assertThat(counted.calls()).containsExactly("append", "read");
    }

    @Test
    void a_long_history_is_indexed_by_one_process_and_only_once() {
        for (int i = 0; i < 5; i++) {
            String[] texts = new String[50];
            Arrays.fill(texts, "word " + i);
            say(CHAT, texts);
        }
        Process other = new Process(log);
        log.acquireLease(CHAT, "index", "another process", Duration.ofMinutes(5));
        assertThat(other.indexer.catchUp(CHAT)).isFalse();
        log.releaseLease(CHAT, "index", "another process");
        assertThat(other.indexer.catchUp(CHAT)).isTrue();
        process.indexer.drain();
        assertThat(index.match(Scope.memory(CHAT), List.of("word"), 1_000).frequency("word"))
                .isEqualTo(250);
        assertThat(log.acquireLease(CHAT, "index", "a third", Duration.ofMinutes(5)))
                .isPresent();
    }

    @Test
    void what_is_erased_while_it_is_indexed_leaves_nothing() {
        say(log, CHAT, "a secret");
        WatchedLog erasing = new WatchedLog(log) {
            private boolean erased;

            @Override
            protected void called(String method) {
                if (method.equals("history") && !erased) {
                    erased = true;
                } else if (method.equals("read") && erased) {
                    log.erase(CHAT);
                }
            }
        };
        Process other = new Process(erasing.log());
        assertThat(other.indexer.catchUp(CHAT)).isFalse();
        assertThat(index.match(Scope.tenant("acme"), List.of("secret"), 10)).isEqualTo(Matches.NONE);
        assertThat(other.indexer.catchUp(CHAT)).isTrue();
        assertThat(index.tenants()).isEmpty();
    }

    @Test
    void an_index_that_is_dropped_is_made_again_as_it_was() {
        GeneratedText text = new GeneratedText(3, 500);
        for (int i = 0; i < 10; i++) {
            say(ConversationKey.of("acme", "chat" + i % 3), text.sentence(3, 12), "AI: " + text.sentence(3, 12));
            if (i % 4 == 0) {
                process.indexer.drain();
            }
        }
        process.indexer.drain();
        List<String> queries = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            queries.add(text.sentence(1, 3));
        }
        Map<String, List<Hit>> before = new HashMap<>();
        queries.forEach(
                query -> before.put(query, search(Scope.tenant("acme"), query).hits()));

        index.clear();
        Process later = new Process(log);
        later.indexer.sweep();
        later.indexer.drain();

        for (String query : queries) {
            assertThat(later.search
                            .search(Scope.tenant("acme"), query, SearchOptions.standard())
                            .hits())
                    .usingElementComparator(Comparator.comparing(Hit::score)
                            .thenComparing(hit -> hit.message().id()))
                    .containsExactlyInAnyOrderElementsOf(before.get(query));
        }
    }

    @Test
    void another_tenant_with_the_same_words_changes_neither_hits_nor_scores() {
        GeneratedText text = new GeneratedText(Counts.seed(4), 300);
        for (int i = 0; i < 30; i++) {
            say(ConversationKey.of("acme", "chat" + i % 3), text.sentence(3, 12));
        }
        process.indexer.drain();
        List<String> queries = new ArrayList<>();
        List<List<Hit>> alone = new ArrayList<>();
        for (int i = 0; i < Counts.of(30, 10_000); i++) {
            queries.add(text.sentence(1, 4));
            alone.add(search(scope(i), queries.get(i)).hits());
        }
        for (int i = 0; i < 60; i++) {
            say(ConversationKey.of("other", "chat" + i % 3), text.sentence(3, 12));
        }
        process.indexer.drain();
        for (int i = 0; i < queries.size(); i++) {
            assertThat(search(scope(i), queries.get(i)).hits())
                    .as(queries.get(i))
                    .isEqualTo(alone.get(i));
        }
    }

    private static Scope scope(int i) {
        return i % 2 == 0 ? Scope.tenant("acme") : Scope.memory(ConversationKey.of("acme", "chat" + i % 3));
    }

    @Test
    void no_text_breaks_a_search() {
        say(CHAT, "quotes \" and ' and * and NEAR(a, b) and :*&|! and %_\\", "AI: 東京へ行きました。 ok");
        process.indexer.drain();
        String alphabet = "ab\"'*:&|!()\\%_-^~{}[]<>$#@;,. \t\n\0\uD83D\uDE00\u0301東ひß";
        Random random = new Random(Counts.seed(6));
        List<String> hostile = new ArrayList<>(List.of(
                "",
                " ",
                "*",
                "\"",
                "NEAR",
                "a NEAR/3 b",
                "'; DROP TABLE keepsake_index_posting; --",
                "\uD83D",
                "\0",
                "word ".repeat(2_000),
                "x".repeat(10_000),
                ":*&|!".repeat(2_000),
                "東".repeat(10_000)));
        for (int i = 0; i < Counts.of(200, 100_000); i++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(20); length > 0; length--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            hostile.add(text.toString());
        }
        for (String text : hostile) {
            assertThat(Query.of(text, Words.standard()).terms()).hasSizeLessThanOrEqualTo(Query.MAX_TERMS);
            assertThat(search(Scope.memory(CHAT), text).hits()).hasSizeLessThanOrEqualTo(2);
        }
        assertThat(search(Scope.memory(CHAT), "near \" quotes").hits()).hasSize(1);
        assertThat(search(Scope.memory(CHAT), "東京").hits()).hasSize(1);
    }
}
