package io.github.keepsake4j.memories;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.model.embedding.EmbeddingModel;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.store.FactsByMeaning;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.ConceptModel;
import io.github.keepsake4j.testing.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every store of memories must do. */
public abstract class LongTermMemoryStoreContract {

    private static final Passage FIRST = passage("", "one");
    private static final Passage SECOND = passage("one", "two");
    private static final Passage OTHER = passage("", "other");

    protected LongTermMemoryStore store;
    protected MemoryKey key = ConversationKey.of("acme", "chat");

    /** Opens a new, empty store. */
    protected abstract LongTermMemoryStore newStore() throws Exception;

    /** Opens the same store again, as another process does. */
    protected abstract LongTermMemoryStore sameStore() throws Exception;

    @BeforeEach
    void open() throws Exception {
        store = newStore();
    }

    @AfterEach
    void close() {
        store.close();
    }

    protected static Passage passage(String after, String upTo) {
        return new Passage(List.of("id-of-" + upTo), 4, "hash-of-" + upTo, after, upTo);
    }

    protected static MadeMemory chunk(String text, Passage source) {
        return MadeMemory.ofText(MadeMemory.Kind.CHUNK, text, source, Trust.ASSISTANT);
    }

    protected static MadeMemory fact(String title, String summary, Passage source, Trust trust) {
        return MadeMemory.fact(title, summary, List.of("Ada"), List.of("phrase of " + title), source, trust);
    }

    private static MadeMemory summary(String text, Passage source) {
        return MadeMemory.ofText(MadeMemory.Kind.SUMMARY, text, source, Trust.ASSISTANT);
    }

    private long revision(MadeMemory.Kind kind) {
        return store.progress(key, kind).revision();
    }

    private boolean addChunk(String text, Passage passage) {
        return store.add(
                key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), passage, List.of(chunk(text, passage)));
    }

    private boolean addFacts(Passage passage, MadeMemory... facts) {
        return store.add(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), passage, List.of(facts));
    }

    private List<String> chunks(int last) {
        return texts(store.chunks(key, last));
    }

    private static List<String> texts(List<MadeMemory> memories) {
        return memories.stream().map(MadeMemory::text).toList();
    }

    private List<String> found(String query) {
        return store.search(key, FactQuery.of(query)).stream()
                .map(found -> found.memory().title())
                .toList();
    }

    @Test
    void discussions_are_named_by_tenant_until_they_are_erased() throws Exception {
        MemoryKey odd = ConversationKey.of("acme", "../Ä/ü 1");
        MemoryKey node = NodeKey.of("acme", "app", "chat", "writer");
        MemoryKey other = ConversationKey.of("other", "chat");
        store.discussions("acme", found -> fail("nothing is kept"));
        for (MemoryKey each : List.of(key, odd, node, other)) {
            assertThat(store.add(each, MadeMemory.Kind.CHUNK, 0, FIRST, List.of(chunk("one", FIRST))))
                    .isTrue();
        }
        assertThat(discussions(store)).containsExactlyInAnyOrder(key, odd, node);
        store.erase(odd);
        try (LongTermMemoryStore again = sameStore()) {
            assertThat(discussions(again)).containsExactlyInAnyOrder(key, node);
        }
        store.discussions("acme", store::erase);
        assertThat(discussions(store)).isEmpty();
        assertThat(store.chunks(other, 1)).hasSize(1);
    }

    private List<String> shown(MadeMemory.Kind kind) {
        return FailingPassages.shown(store, key, kind);
    }

    @ParameterizedTest
    @EnumSource(
            value = MadeMemory.Kind.class,
            names = {"CHUNK", "FACT"})
    void a_passage_that_fails_for_ever_is_passed_by_after_five_tries_that_are_counted_over_restarts(
            MadeMemory.Kind kind) throws Exception {
        List<String> sent = new ArrayList<>();
        LongTermMemoryWorkflow workflow = inputs -> {
            sent.add(FailingPassages.word(inputs));
            return FailingPassages.answerOrFail(kind, inputs);
        };
        for (int attempt = 1; attempt < 5; attempt++) {
            try (LongTermMemoryStore restarted = sameStore()) {
                Discussion discussion = FailingPassages.discussion(restarted, key, kind, workflow);
                assertThrown(LongTermMemoryFailedException.class, () -> discussion.qualityMemory(FailingPassages.CHAT));
            }
            assertThat(shown(kind)).containsExactly("one");
        }
        Discussion.Run run =
                FailingPassages.discussion(store, key, kind, workflow).qualityMemory(FailingPassages.CHAT);
        assertThat(run.end()).isEqualTo(Discussion.Run.End.UP_TO_DATE);
        assertThat(run.problems())
                .singleElement()
                .asString()
                .contains("messages 2 to 2")
                .doesNotContain("secret");
        assertThat(shown(kind)).containsExactly("one", "three", "four");
        assertThat(sent).containsExactly("one", "poison", "poison", "poison", "poison", "poison", "three", "four");
        assertThat(FailingPassages.discussion(store, key, kind, workflow)
                        .qualityMemory(FailingPassages.CHAT)
                        .problems())
                .as("it is still told")
                .hasSize(1);
        assertThat(sent).hasSize(8);
    }

    @ParameterizedTest
    @EnumSource(
            value = MadeMemory.Kind.class,
            names = {"CHUNK", "FACT"})
    void what_was_passed_by_is_made_when_it_is_tried_again_and_summaries_tell_of_it(MadeMemory.Kind kind)
            throws Exception {
        boolean[] fails = {true};
        LongTermMemoryWorkflow workflow = inputs -> {
            String text = FailingPassages.word(inputs);
            return fails[0] && text.equals("poison") ? " " : FailingPassages.answer(kind, text);
        };
        Discussion discussion = FailingPassages.discussion(store, key, kind, workflow);
        for (int attempt = 1; attempt < 5; attempt++) {
            assertThat(discussion.qualityMemory(FailingPassages.CHAT).end()).isEqualTo(Discussion.Run.End.BLANK);
        }
        assertThat(discussion.retry(FailingPassages.CHAT).problems()).hasSize(1);
        discussion.updateSummary();
        assertThat(discussion.retry(FailingPassages.CHAT).problems())
                .as("in vain")
                .hasSize(1);
        fails[0] = false;
        assertThat(discussion.qualityMemory(FailingPassages.CHAT).made()).isEmpty();
        Discussion.Run run = discussion.retry(FailingPassages.CHAT);
        assertThat(texts(run.made())).containsExactly("poison");
        assertThat(run.problems()).isEmpty();
        try (LongTermMemoryStore restarted = sameStore()) {
            assertThat(FailingPassages.shown(restarted, key, kind)).containsExactly("one", "three", "four", "poison");
            List<Progress.Step> path = restarted.progress(key, kind).path();
            assertThat(path).extracting(Progress.Step::failures).containsExactly(0, 0, 0, 0);
            assertThat(path).hasSameSizeAs(restarted.progress(key, kind).steps());
        }
        if (kind == MadeMemory.Kind.CHUNK) {
            discussion.updateSummary();
            assertThat(store.summary(key)).isNotNull();
            assertThat(store.summaries(key).stream().map(MadeMemory::text).collect(Collectors.joining()))
                    .contains("poison");
        }
        // On another branch it is not shown.
        discussion.qualityMemory(
                List.of(FailingPassages.CHAT.get(0), FailingPassages.CHAT.get(2), FailingPassages.CHAT.get(3)));
        assertThat(shown(kind)).containsExactly("one", "three", "four");
        assertThat(discussion.qualityMemory(FailingPassages.CHAT).made()).isEmpty();
        assertThat(shown(kind)).containsExactly("one", "three", "four", "poison");
    }

    @ParameterizedTest
    @EnumSource(
            value = MadeMemory.Kind.class,
            names = {"CHUNK", "FACT"})
    void a_message_that_is_longer_than_a_chunk_is_sent_in_parts_and_each_sentence_once(MadeMemory.Kind kind)
            throws Exception {
        List<String> sent = new ArrayList<>();
        boolean[] fails = {true};
        Discussion discussion = FailingPassages.discussion(store, key, kind, inputs -> {
            sent.add(inputs.get(0).replace("User: ", ""));
            if (fails[0] && sent.size() == 3) {
                throw new IllegalStateException("in the third part");
            }
            return FailingPassages.repeat(kind, inputs);
        });
        assertThrown(LongTermMemoryFailedException.class, () -> discussion.qualityMemory(FailingPassages.LONG_CHAT));
        assertThat(shown(kind)).as("what is stored of it").isEmpty();
        fails[0] = false;
        sent.clear();
        assertThat(discussion.qualityMemory(FailingPassages.LONG_CHAT).made()).hasSize(6);
        assertThat(sent).hasSize(6);
        assertThat(String.join(" ", sent.subList(0, 5))).isEqualTo(String.join(" ", FailingPassages.SENTENCES));
        try (LongTermMemoryStore restarted = sameStore()) {
            List<String> shown = FailingPassages.shown(restarted, key, kind);
            assertThat(String.join(" ", shown)).startsWith(String.join(" ", FailingPassages.SENTENCES));
            assertThat(restarted.progress(key, kind).path()).hasSize(2);
        }
        assertThat(discussion.qualityMemory(FailingPassages.LONG_CHAT).made()).isEmpty();
        if (kind == MadeMemory.Kind.CHUNK) {
            discussion.updateSummary();
            assertThat(texts(store.summaries(key)).get(0))
                    .as("a summary of three chunks at a time ends at a passage's end")
                    .contains(FailingPassages.SENTENCES);
        }
    }

    @Test
    void a_failure_is_counted_at_the_revision_that_was_seen_and_is_erased() throws Exception {
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            assertThat(store.addFailure(key, kind, 7, FIRST)).isFalse();
            assertThat(store.addFailure(key, kind, 0, FIRST)).isTrue();
            assertThat(store.addFailure(key, kind, 0, FIRST))
                    .as("the same again")
                    .isFalse();
            assertThat(store.addFailure(key, kind, revision(kind), OTHER)).isTrue();
            assertThat(store.addFailure(key, kind, revision(kind), FIRST)).isTrue();
            try (LongTermMemoryStore again = sameStore()) {
                Progress progress = again.progress(key, kind);
                assertThat(progress.head()).isZero();
                assertThat(progress.steps())
                        .containsExactly(new Progress.Step(1, 0, FIRST, 2), new Progress.Step(2, 0, OTHER, 1));
                assertThat(discussions(again)).containsExactly(key);
            }
        }
        store.erase(key);
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            assertThat(store.progress(key, kind).steps()).isEmpty();
        }
        assertThat(discussions(store)).isEmpty();
    }

    private static List<MemoryKey> discussions(LongTermMemoryStore store) {
        List<MemoryKey> found = new ArrayList<>();
        store.discussions("acme", found::add);
        return found;
    }

    @Test
    void nothing_is_there_at_first() {
        assertThat(store.chunks(key, 3)).isEmpty();
        assertThat(store.facts(key, 3)).isEmpty();
        assertThat(store.search(key, FactQuery.of("anything"))).isEmpty();
        assertThat(store.summary(key)).isNull();
        assertThat(store.summaries(key)).isEmpty();
        assertThat(store.find(key, "x")).isEmpty();
        for (MadeMemory.Kind kind : MadeMemory.Kind.values()) {
            assertThat(store.progress(key, kind)).isEqualTo(new Progress(0, 0, List.of()));
        }
        assertThat(store.put(key, chunk("x", FIRST))).isFalse();
        assertThat(store.put(key, fact("x", "x", FIRST, Trust.USER))).isFalse();
    }

    /** Returns what the other methods say that is shown without a question. */
    private Overview composed(int last, Trust leastTrust) {
        return Overview.of(
                store.summary(key),
                List.of(
                        new Overview.Track(
                                store.chunks(key, Integer.MAX_VALUE),
                                store.progress(key, MadeMemory.Kind.CHUNK).path()),
                        new Overview.Track(
                                store.facts(key, Integer.MAX_VALUE),
                                store.progress(key, MadeMemory.Kind.FACT).path())),
                last,
                leastTrust);
    }

    private void assertOverviews() {
        for (Trust least : Trust.values()) {
            for (int last : new int[] {0, 1, 2, 100}) {
                Overview overview = store.overview(key, last, least);
                assertThat(overview.summary()).isEqualTo(composed(last, least).summary());
                assertThat(overview.memories())
                        .containsExactlyInAnyOrderElementsOf(
                                composed(last, least).memories());
            }
        }
    }

    @Test
    void an_overview_has_the_summary_that_holds_and_pinned_and_newest_memories() {
        assertThat(store.overview(key, 9, Trust.RETRIEVED)).isEqualTo(Overview.EMPTY);
        addChunk("First.", FIRST);
        MadeMemory second = chunk("Second.", SECOND).withPinned(true);
        store.add(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), SECOND, List.of(second));
        addChunk("Third.", passage("two", "three"));
        addChunk("Fourth.", passage("three", "four"));
        addFacts(
                FIRST,
                fact("A", "a", FIRST, Trust.TOOL).withPinned(true),
                fact("B", "b", FIRST, Trust.USER),
                fact("C", "c", FIRST, Trust.RETRIEVED));
        MadeMemory note = MadeMemory.fact("N", "by hand", List.of(), List.of(), Passage.NONE, Trust.USER);
        addFacts(Passage.NONE, note);
        store.addSummary(key, 0, revision(MadeMemory.Kind.CHUNK), summary("Of two.", SECOND));
        store.addSummary(key, 1, revision(MadeMemory.Kind.CHUNK), summary("Of four.", passage("three", "four")));
        assertOverviews();
        Overview one = store.overview(key, 1, Trust.RETRIEVED);
        assertThat(one.summary()).isNotNull().extracting(MadeMemory::text).isEqualTo("Of four.");
        assertThat(texts(one.memories())).containsExactlyInAnyOrder("Second.", "Fourth.", "a", "by hand");
        assertThat(one.byHand()).containsExactly(note.id());

        store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 3);
        assertOverviews();
        assertThat(store.overview(key, 1, Trust.RETRIEVED).summary())
                .isNotNull()
                .extracting(MadeMemory::text)
                .isEqualTo("Of two.");
        store.put(key, second.withPinned(false));
        store.put(key, note.withStatus(MadeMemory.Status.FORGOTTEN));
        assertOverviews();
        store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 0);
        assertOverviews();
        store.erase(key);
        assertThat(store.overview(key, 9, Trust.RETRIEVED)).isEqualTo(Overview.EMPTY);
    }

    @Test
    void b4_chunks_are_kept_in_order_with_all_that_is_known_of_them() throws Exception {
        MadeMemory first = chunk("They met.\nThey said \"hello\" \u4f60\u597d \uD83D\uDE00", FIRST)
                .madeBy("gpt", "workflow@1", Instant.parse("2026-01-02T03:04:05.678901Z"));
        assertThat(store.add(key, MadeMemory.Kind.CHUNK, 0, FIRST, List.of(first)))
                .isTrue();
        assertThat(addChunk("They ate.", SECOND)).isTrue();

        try (LongTermMemoryStore again = sameStore()) {
            assertThat(again.chunks(key, 9)).hasSize(2).first().isEqualTo(first);
            assertThat(again.find(key, first.id())).contains(first);
            Progress progress = again.progress(key, MadeMemory.Kind.CHUNK);
            assertThat(progress.path()).extracting(Progress.Step::passage).containsExactly(FIRST, SECOND);
            assertThat(progress.head()).isEqualTo(2);
        }
        assertThat(chunks(1)).containsExactly("They ate.");
        assertThat(chunks(0)).isEmpty();
        assertThat(chunks(Integer.MAX_VALUE)).hasSize(2);
    }

    @Test
    void facts_are_kept_with_all_that_is_known_of_them() throws Exception {
        MadeMemory first = MadeMemory.fact(
                        "Ada's \"cat\"",
                        "Ada has a cat \u732b.",
                        List.of("Ada", "Mimi"),
                        List.of("cat; dog"),
                        FIRST,
                        Trust.TOOL)
                .madeBy("gpt", "workflow@1", Instant.parse("2026-01-02T03:04:05.678901Z"))
                .withPinned(true);
        assertThat(addFacts(FIRST, first, fact("Dogs", "None.", FIRST, Trust.USER)))
                .isTrue();
        assertThat(addFacts(SECOND)).as("a passage without facts").isTrue();
        try (LongTermMemoryStore again = sameStore()) {
            assertThat(again.facts(key, 9)).hasSize(2).first().isEqualTo(first);
            assertThat(again.find(key, first.id())).contains(first);
            assertThat(again.progress(key, MadeMemory.Kind.FACT).path())
                    .extracting(Progress.Step::passage)
                    .containsExactly(FIRST, SECOND);
        }
        assertThat(store.chunks(key, 9)).isEmpty();
    }

    @Test
    void a_fact_is_found_by_its_meaning_and_its_vector_goes_with_it() throws Exception {
        LongTermMemoryStore meaning = byMeaning(store, CONCEPTS);
        List<MadeMemory> facts = List.of(
                fact("Her puppy", "She has a puppy called Luna", FIRST, Trust.USER),
                fact("Her car", "She drives an old car", FIRST, Trust.USER),
                fact("Her work", "She paints houses", FIRST, Trust.USER));
        assertThat(meaning.add(key, MadeMemory.Kind.FACT, 0, FIRST, facts)).isTrue();

        assertThat(found(store, "dog")).isEmpty();
        assertThat(found(meaning, "dog")).containsExactly("Her puppy");
        assertThat(found(meaning, "trombone")).isEmpty();
        try (LongTermMemoryStore again = sameStore()) {
            assertThat(found(byMeaning(again, CONCEPTS), "dog")).containsExactly("Her puppy");
            assertThat(found(byMeaning(again, FAILING), "dog")).isEmpty();
            assertThat(found(byMeaning(again, FAILING), "puppy")).containsExactly("Her puppy");
        }
        MadeMemory puppy = store.find(key, facts.get(0).id()).orElseThrow();
        assertThat(puppy.vector()).startsWith("concepts 64:");
        assertThat(meaning.put(key, puppy.withStatus(MadeMemory.Status.FORGOTTEN)))
                .isTrue();
        assertThat(found(meaning, "dog")).isEmpty();
        assertThat(store.find(key, puppy.id()).orElseThrow().vector()).isNull();
    }

    @Test
    void a_question_to_several_discussions_is_embedded_once() {
        ConceptModel model = new ConceptModel();
        LongTermMemoryStore meaning = byMeaning(store, model);
        MadeMemory puppy = fact("Her puppy", "She has a puppy called Luna", FIRST, Trust.USER);
        MadeMemory car = fact("Her car", "She drives an old car", FIRST, Trust.USER);
        MemoryKey other = ConversationKey.of("acme", "other");
        assertThat(meaning.add(key, MadeMemory.Kind.FACT, 0, FIRST, List.of(puppy)))
                .isTrue();
        assertThat(meaning.add(other, MadeMemory.Kind.FACT, 0, FIRST, List.of(car)))
                .isTrue();
        int before = model.calls.size();

        assertThat(meaning.search(other, FactQuery.of("hound"))).isEmpty();
        assertThat(found(meaning, "hound")).containsExactly("Her puppy");
        assertThat(meaning.rank(FactQuery.of("hound"), List.of(puppy))).isEmpty();
        assertThat(model.calls).hasSize(before + 1);
    }

    private static final EmbeddingModel CONCEPTS = new ConceptModel();

    private static final EmbeddingModel FAILING = new ConceptModel() {
        @Override
        protected Embedding vector(String text) {
            throw new IllegalStateException("out of order");
        }
    };

    private static LongTermMemoryStore byMeaning(LongTermMemoryStore behind, EmbeddingModel model) {
        MessageLog log = new InMemoryMessageLog();
        return new FactsByMeaning(
                behind,
                new MessageSearch(
                        new InMemoryMessageIndex(),
                        any -> log,
                        List.of(log),
                        Words.standard(),
                        Runnable::run,
                        pause -> work -> {},
                        new MessageSearch.Embedding(
                                model, "concepts", Runnable::run, Duration.ofSeconds(2), Metrics.NONE)));
    }

    private List<String> found(LongTermMemoryStore in, String query) {
        return in.search(key, FactQuery.of(query)).stream()
                .map(found -> found.memory().title())
                .toList();
    }

    @Test
    void of_two_creators_that_saw_the_same_one_changes_nothing() {
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            long seen = revision(kind);
            MadeMemory one = kind == MadeMemory.Kind.CHUNK ? chunk("a", FIRST) : fact("a", "a", FIRST, Trust.USER);
            MadeMemory other = kind == MadeMemory.Kind.CHUNK ? chunk("b", OTHER) : fact("b", "b", OTHER, Trust.USER);
            assertThat(store.add(key, kind, seen, FIRST, List.of(one))).isTrue();
            assertThat(store.add(key, kind, seen, OTHER, List.of(other))).isFalse();
            assertThat(store.moveTo(key, kind, seen, 0)).isFalse();
            assertThat(store.progress(key, kind).steps()).hasSize(1);
            assertThat(store.find(key, other.id())).isEmpty();
        }
    }

    @Test
    void many_creators_at_once_never_add_twice_behind_the_same_passage() throws Exception {
        int threads = 4;
        int each = 5;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Integer>> creators = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                MadeMemory.Kind kind = thread % 2 == 0 ? MadeMemory.Kind.CHUNK : MadeMemory.Kind.FACT;
                creators.add(() -> {
                    int refused = 0;
                    try (LongTermMemoryStore own = sameStore()) {
                        for (int added = 0; added < each; ) {
                            Progress seen = own.progress(key, kind);
                            Passage passage = passage(
                                    "" + seen.steps().size(), "" + (seen.steps().size() + 1));
                            MadeMemory memory = kind == MadeMemory.Kind.CHUNK
                                    ? chunk("text", passage)
                                    : fact("title", "text", passage, Trust.USER);
                            if (own.add(key, kind, seen.revision(), passage, List.of(memory))) {
                                added++;
                            } else {
                                refused++;
                            }
                        }
                    }
                    return refused;
                });
            }
            for (Future<Integer> creator : pool.invokeAll(creators)) {
                creator.get();
            }
        } finally {
            pool.shutdown();
        }
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            assertThat(store.progress(key, kind).path())
                    .hasSize(threads / 2 * each)
                    .allSatisfy(step -> assertThat(step.passage().upTo()).isEqualTo("" + step.number()));
        }
        assertThat(store.chunks(key, 99)).hasSize(threads / 2 * each);
        assertThat(store.facts(key, 99)).hasSize(threads / 2 * each);
    }

    @Test
    void what_is_off_the_path_is_not_shown_until_the_head_returns() {
        addChunk("a", FIRST);
        addChunk("b", SECOND);
        assertThat(store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 0))
                .isTrue();
        assertThat(chunks(9)).isEmpty();
        addChunk("c", OTHER);
        assertThat(chunks(9)).containsExactly("c");
        assertThat(store.progress(key, MadeMemory.Kind.CHUNK).path()).hasSize(1);
        store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 2);
        assertThat(chunks(9)).containsExactly("a", "b");

        addFacts(FIRST, fact("alpha", "first", FIRST, Trust.USER));
        addFacts(SECOND, fact("beta", "second", SECOND, Trust.USER));
        store.moveTo(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), 1);
        assertThat(found("beta")).isEmpty();
        assertThat(found("alpha")).containsExactly("alpha");
        assertThat(texts(store.facts(key, 9))).containsExactly("first");
        store.moveTo(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), 2);
        assertThat(found("beta")).containsExactly("beta");
        assertThrown(
                InvalidInputException.class,
                () -> store.moveTo(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), 7),
                "no step 7");
        assertThrown(
                InvalidInputException.class,
                () -> store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 7),
                "no step 7");
    }

    @Test
    void b11_facts_are_found_by_any_keyword_and_titles_count_most() {
        addFacts(
                FIRST,
                fact("Travel", "The hotel in Rome was booked.", FIRST, Trust.USER),
                fact("Rome", "A city.", FIRST, Trust.USER),
                fact("Food", "Pasta with nothing.", FIRST, Trust.USER));
        assertThat(found("rome; unheard")).containsExactly("Rome", "Travel");
        assertThat(found("Where did we book a hotel, by the way?")).first().isEqualTo("Travel");
        assertThat(found("pasta;hotels")).containsExactlyInAnyOrder("Food", "Travel");
        assertThat(found("nothing-of-this \"AND\" (NEAR")).containsExactly("Food");
        assertThat(found(" ; ;")).isEmpty();
        assertThat(found("zebra")).isEmpty();
        assertThat(store.search(key, new FactQuery(List.of("rome"), 1, Trust.RETRIEVED)))
                .hasSize(1);
    }

    @Test
    void facts_are_found_in_chinese_and_german() {
        addFacts(
                FIRST,
                fact("\u65c5\u884c", "\u6211\u4eec\u5728\u4e0a\u6d77\u7684\u9152\u5e97\u3002", FIRST, Trust.USER),
                fact("Reise", "Wir haben die Donaudampfschifffahrt gebucht.", FIRST, Trust.USER),
                fact("Other", "Nothing at all.", FIRST, Trust.USER));
        assertThat(found("\u4e0a\u6d77")).containsExactly("\u65c5\u884c");
        assertThat(found("Dampfschiff")).containsExactly("Reise");
    }

    @Test
    void a_search_takes_60_keywords_and_only_facts_of_enough_trust() {
        addFacts(
                FIRST,
                fact("alpha", "x", FIRST, Trust.USER),
                fact("alpha two", "x", FIRST, Trust.ASSISTANT),
                fact("omega", "x", FIRST, Trust.USER));
        List<String> many = new ArrayList<>();
        for (int i = 0; i < 59; i++) {
            many.add("unheard" + i);
        }
        many.add("alpha");
        many.add("omega");
        assertThat(store.search(key, new FactQuery(many, 9, Trust.USER)))
                .extracting(found -> found.memory().title())
                .containsExactly("alpha");
    }

    @Test
    void a_fact_that_replaces_another_one_hides_it() {
        MadeMemory old = fact("Home", "Ada lives in Oslo.", FIRST, Trust.USER);
        addFacts(FIRST, old);
        addFacts(SECOND, fact("Home", "Ada lives in Rome.", SECOND, Trust.USER).replacing(old.id()));
        assertThat(texts(store.facts(key, 9))).containsExactly("Ada lives in Rome.");
        assertThat(store.search(key, FactQuery.of("oslo"))).isEmpty();
        assertThat(store.find(key, old.id()))
                .hasValueSatisfying(memory -> assertThat(memory.status()).isEqualTo(MadeMemory.Status.REPLACED));

        MadeMemory chunk = chunk("old", FIRST);
        store.add(key, MadeMemory.Kind.CHUNK, 0, FIRST, List.of(chunk));
        store.add(
                key,
                MadeMemory.Kind.CHUNK,
                revision(MadeMemory.Kind.CHUNK),
                Passage.NONE,
                List.of(chunk("corrected", Passage.NONE).replacing(chunk.id())));
        assertThat(chunks(9)).containsExactly("corrected");
        assertThat(store.progress(key, MadeMemory.Kind.CHUNK).path()).hasSize(1);
    }

    @Test
    void what_is_replaced_on_one_branch_holds_on_the_others() {
        MadeMemory old = fact("Home", "Ada lives in Oslo.", FIRST, Trust.USER);
        addFacts(FIRST, old);
        MadeMemory newer =
                fact("Home", "Ada lives in Rome.", SECOND, Trust.USER).replacing(old.id());
        addFacts(SECOND, newer);
        store.moveTo(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), 1);
        assertThat(texts(store.facts(key, 9))).containsExactly("Ada lives in Oslo.");
        assertThat(found("oslo")).containsExactly("Home");
        store.moveTo(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), 2);
        assertThat(texts(store.facts(key, 9))).containsExactly("Ada lives in Rome.");
        assertThat(found("oslo")).isEmpty();

        store.put(key, old.withStatus(MadeMemory.Status.FORGOTTEN));
        store.moveTo(key, MadeMemory.Kind.FACT, revision(MadeMemory.Kind.FACT), 1);
        assertThat(store.facts(key, 9)).as("what is forgotten does not return").isEmpty();
    }

    @Test
    void a_memory_is_pinned_corrected_and_forgotten() {
        MadeMemory fact = fact("Pet", "A cat.", FIRST, Trust.USER);
        MadeMemory chunk = chunk("They met.", FIRST);
        addFacts(FIRST, fact);
        store.add(key, MadeMemory.Kind.CHUNK, 0, FIRST, List.of(chunk));
        addChunk("They ate.", SECOND);
        long seen = revision(MadeMemory.Kind.CHUNK);
        assertThat(store.put(key, fact.withPinned(true))).isTrue();
        assertThat(store.put(key, chunk.withPinned(true))).isTrue();
        assertThat(store.facts(key, 9).get(0).pinned()).isTrue();
        assertThat(store.chunks(key, 9).get(0).pinned()).isTrue();
        assertThat(revision(MadeMemory.Kind.CHUNK)).isGreaterThan(seen);

        assertThat(store.put(key, fact.withStatus(MadeMemory.Status.FORGOTTEN))).isTrue();
        assertThat(store.put(key, chunk.withStatus(MadeMemory.Status.FORGOTTEN)))
                .isTrue();
        assertThat(found("cat;pet")).isEmpty();
        assertThat(chunks(9)).containsExactly("They ate.");
        assertThat(store.find(key, fact.id()))
                .hasValueSatisfying(memory -> assertThat(memory.text()).isEmpty());
        assertThat(store.progress(key, MadeMemory.Kind.CHUNK).path()).hasSize(2);
        assertThat(addChunk("They left.", passage("two", "three"))).isTrue();
        assertThat(chunks(9)).containsExactly("They ate.", "They left.");
    }

    @Test
    void b12_versions_of_the_summary_are_kept_and_the_newest_on_the_path_holds() {
        addChunk("a", FIRST);
        assertThat(store.addSummary(key, 0, revision(MadeMemory.Kind.CHUNK), summary("first", FIRST)))
                .isTrue();
        addChunk("b", SECOND);
        long seen = revision(MadeMemory.Kind.CHUNK);
        assertThat(store.addSummary(key, 1, seen - 1, summary("late", SECOND))).isFalse();
        assertThat(store.addSummary(key, 0, seen, summary("late", SECOND))).isFalse();
        assertThat(store.addSummary(key, 1, seen, summary("second", SECOND))).isTrue();
        assertThat(texts(store.summaries(key))).containsExactly("first", "second");
        assertThat(store.summary(key)).extracting(MadeMemory::text).isEqualTo("second");

        store.moveTo(key, MadeMemory.Kind.CHUNK, seen, 1);
        assertThat(store.summary(key)).extracting(MadeMemory::text).isEqualTo("first");
        store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 0);
        assertThat(store.summary(key)).isNull();
        store.moveTo(key, MadeMemory.Kind.CHUNK, revision(MadeMemory.Kind.CHUNK), 2);
        assertThat(store.summary(key)).extracting(MadeMemory::text).isEqualTo("second");
    }

    @Test
    void discussions_do_not_see_each_other_whatever_their_ids() {
        List<MemoryKey> keys = List.of(
                ConversationKey.of("acme", "chat"),
                ConversationKey.of("other", "chat"),
                ConversationKey.of("acme", "CHAT"),
                ConversationKey.of("acme", "../chat"),
                ConversationKey.of("acme", "chat/\n\u4f60"),
                ConversationKey.of("acme", "x".repeat(512)),
                ConversationKey.of("acme", "chat_summary"),
                ConversationKey.of("..", "chat"),
                NodeKey.of("acme", "app", "chat", "node"));
        for (int i = 0; i < keys.size(); i++) {
            MemoryKey each = keys.get(i);
            MadeMemory chunk = chunk("chunk " + i, FIRST);
            assertThat(store.add(each, MadeMemory.Kind.CHUNK, 0, FIRST, List.of(chunk)))
                    .isTrue();
            assertThat(store.add(
                            each, MadeMemory.Kind.FACT, 0, FIRST, List.of(fact("t", "fact " + i, FIRST, Trust.USER))))
                    .isTrue();
            long revision = store.progress(each, MadeMemory.Kind.CHUNK).revision();
            assertThat(store.addSummary(each, 0, revision, summary("summary " + i, FIRST)))
                    .isTrue();
        }
        for (int i = 0; i < keys.size(); i++) {
            assertThat(texts(store.chunks(keys.get(i), 9))).containsExactly("chunk " + i);
            assertThat(texts(store.facts(keys.get(i), 9))).containsExactly("fact " + i);
            assertThat(store.summary(keys.get(i))).extracting(MadeMemory::text).isEqualTo("summary " + i);
        }
    }

    @Test
    void a_creator_that_began_before_an_erasure_adds_nothing() {
        MemoryKey other = ConversationKey.of("acme", "other");
        store.add(other, MadeMemory.Kind.CHUNK, 0, FIRST, List.of(chunk("stays", FIRST)));
        store.erase(key);
        assertThat(addNothing(0)).isFalse();
        addChunk("a", FIRST);
        addFacts(FIRST, fact("a", "a", FIRST, Trust.USER));
        store.addSummary(key, 0, revision(MadeMemory.Kind.CHUNK), summary("s", FIRST));
        long seen = revision(MadeMemory.Kind.CHUNK);
        store.acquireLease(key, "creator", "me", Duration.ofMinutes(1));
        store.erase(key);
        assertThat(addNothing(seen)).isFalse();
        assertThat(store.addSummary(key, 0, seen, summary("s", FIRST))).isFalse();
        assertThat(chunks(9)).isEmpty();
        assertThat(store.facts(key, 9)).isEmpty();
        assertThat(found("a")).isEmpty();
        assertThat(store.summaries(key)).isEmpty();
        assertThat(store.acquireLease(key, "creator", "you", Duration.ofMinutes(1)))
                .isPresent();
        assertThat(addChunk("new", FIRST)).isTrue();
        assertThat(chunks(9)).containsExactly("new");
        assertThat(texts(store.chunks(other, 9))).containsExactly("stays");
    }

    @Test
    void a_reader_finds_the_facts_or_none_while_they_are_erased_and_made_again() throws Exception {
        int rounds = Counts.of(30, 300);
        MadeMemory fact = fact("quokka", "A quokka.", FIRST, Trust.ASSISTANT);
        CompletableFuture<Void> eraser = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < rounds; i++) {
                assertThat(addFacts(FIRST, fact)).isTrue();
                store.erase(key);
            }
        });
        try (LongTermMemoryStore reader = sameStore()) {
            while (!eraser.isDone()) {
                assertThat(texts(reader.facts(key, 5))).isSubsetOf(fact.text());
                assertThat(reader.find(key, fact.id()).map(MadeMemory::text).orElse(fact.text()))
                        .isEqualTo(fact.text());
                assertThat(reader.search(key, FactQuery.of("quokka"))).hasSizeLessThan(2);
            }
        }
        eraser.get(60, TimeUnit.SECONDS);
    }

    private boolean addNothing(long revision) {
        return store.add(key, MadeMemory.Kind.CHUNK, revision, FIRST, List.of(chunk("late", FIRST)))
                || store.add(
                        key, MadeMemory.Kind.FACT, revision, FIRST, List.of(fact("late", "late", FIRST, Trust.USER)));
    }

    @Test
    void one_owner_has_a_lease_until_it_is_released_or_expires() {
        Duration minute = Duration.ofMinutes(1);
        assertThat(store.acquireLease(key, "creator", "me", minute)).isPresent();
        assertThat(store.acquireLease(key, "creator", "me", minute)).isPresent();
        assertThat(store.acquireLease(key, "creator", "you", minute)).isEmpty();
        assertThat(store.acquireLease(key, "summary", "you", minute)).isPresent();
        store.releaseLease(key, "creator", "you");
        assertThat(store.acquireLease(key, "creator", "you", minute)).isEmpty();
        store.releaseLease(key, "creator", "me");
        assertThat(store.acquireLease(key, "creator", "you", Duration.ofNanos(1_000)))
                .isPresent();
        assertThat(store.acquireLease(key, "creator", "me", minute)).isPresent();
    }

    @Test
    void what_cannot_be_stored_is_refused_by_name() {
        assertThrown(InvalidInputException.class, () -> chunk("a\0b", FIRST), "text");
        assertThrown(
                InvalidInputException.class,
                () -> store.add(key, MadeMemory.Kind.SUMMARY, 0, FIRST, List.of(summary("s", FIRST))),
                "kind");
        assertThrown(
                InvalidInputException.class,
                () -> store.add(key, MadeMemory.Kind.FACT, 0, FIRST, List.of(chunk("c", FIRST))),
                "memories");
        MadeMemory fact = fact("a", "a", FIRST, Trust.USER);
        addFacts(FIRST, fact);
        assertThrown(InvalidInputException.class, () -> addFacts(SECOND, fact), fact.id());
        assertThat(store.progress(key, MadeMemory.Kind.FACT).steps()).hasSize(1);
    }
}
