package io.github.keepsake4j.memories;

import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.memories.background.BackgroundCreators;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.testing.Watched;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Memories that are made of conversations of a log, and how they reach a model. */
abstract class BranchMemoriesContract extends MadeMemoriesFixture {

    @Test
    void a_regenerated_answer_has_memories_of_its_own_and_switching_brings_those_of_the_other_back() {
        for (MessageLog log : List.of(newLog(), SqliteMessageLog.open(directory.resolve("chat.db")))) {
            String id = log.backend();
            Keepsake keepsake =
                    keepsake(log, FACTS, MadeMemoriesFixture::lastLine).build();
            Chat chat = chat(keepsake);
            chat.chat(id, "Hello");
            chat.chat(id, "Hello again");
            keepsake.longTermMemories().make(id);
            model.says("Take the train.");
            chat.chat(id, "How do I get to Rome?");
            keepsake.longTermMemories().make(id);
            String first = newest(keepsake, id);
            assertThat(texts(keepsake.longTermMemories().of(id).list(MadeMemory.Kind.FACT)))
                    .containsExactly("Assistant: Fine.", "Assistant: Take the train.");

            model.says("Take a plane.");
            keepsake.conversation(id).regenerate(first, question -> chat.chat(id, question.singleText()));
            // Nothing was made since, and what is gone from the branch is not read any more.
            assertThat(texts(keepsake.longTermMemories().of(id).list(MadeMemory.Kind.FACT)))
                    .containsExactly("Assistant: Fine.");
            assertThat(keepsake.longTermMemories().of(id).search(FactQuery.of("train")))
                    .isEmpty();
            assertThat(retrieved(keepsake, id, "train")).isEmpty();
            keepsake.longTermMemories().make(id);
            assertThat(texts(keepsake.longTermMemories().of(id).list(MadeMemory.Kind.FACT)))
                    .containsExactly("Assistant: Fine.", "Assistant: Take a plane.");

            keepsake.conversation(id).switchTo(first);
            assertThat(texts(keepsake.longTermMemories().of(id).list(MadeMemory.Kind.FACT)))
                    .containsExactly("Assistant: Fine.");
            keepsake.longTermMemories().make(id);
            assertThat(texts(keepsake.longTermMemories().of(id).list(MadeMemory.Kind.FACT)))
                    .containsExactly("Assistant: Fine.", "Assistant: Take the train.");
        }
    }

    @Test
    void a_correction_belongs_to_the_branch_of_what_it_corrects() {
        Keepsake keepsake =
                keepsake(newLog(), FACTS, MadeMemoriesFixture::lastLine).build();
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "Hello again");
        keepsake.longTermMemories().make("a");
        model.says("Take the train.");
        chat.chat("a", "How do I get to Rome?");
        MadeMemory train = keepsake.longTermMemories().make("a").made().get(0);
        keepsake.longTermMemories().of("a").correct(train.id(), "They like trains.", Trust.USER);
        String first = newest(keepsake, "a");
        model.says("Take a plane.");
        keepsake.conversation("a").regenerate(first, question -> chat.chat("a", question.singleText()));
        keepsake.longTermMemories().make("a");
        assertThat(texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)))
                .containsExactly("Assistant: Fine.", "Assistant: Take a plane.");
        keepsake.conversation("a").switchTo(first);
        assertThat(texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)))
                .containsExactly("Assistant: Fine.", "They like trains.");
    }

    @Test
    void without_a_model_a_fact_about_a_user_is_shown_in_each_conversation_and_no_run_removes_it() {
        MessageLog log = newLog();
        open.add(log);
        store = newStore();
        open.add(store);
        Keepsake keepsake =
                Keepsake.builder().messageLog(log).longTermMemories(store).build();
        LongTermMemoriesOfConversation ofAda = keepsake.longTermMemories().of("ada");
        MadeMemory fact = ofAda.remember("Food", "Ada is a vegetarian.", Trust.USER);
        assertThat(keepsake.longTermMemories().make("ada").made()).isEmpty();
        Chat chat = chat(keepsake);
        chat.chat("trip", "Hello");
        assertThat(keepsake.longTermMemories().make("trip").made()).isEmpty();
        assertThat(ofAda.list(MadeMemory.Kind.FACT)).containsExactly(fact);
        LongTermMemoryTools tools = keepsake.longTermMemories()
                .tools(
                        LongTermMemoryTools.Options.standard(),
                        trip -> Scope.memories(List.of(trip, ConversationKey.of("default", "ada"))));
        assertThat(tools.searchMemory("vegetarian", "trip")).contains("Ada is a vegetarian.");
    }

    @Test
    void what_was_remembered_by_hand_is_shown_from_the_first_question_on_and_on_every_branch_until_an_erasure() {
        MessageLog log = newLog();
        Keepsake keepsake = keepsake(log, FACTS, MadeMemoriesFixture::lastLine).build();
        LongTermMemoriesOfConversation memories = keepsake.longTermMemories().of("a");
        MadeMemory fact = memories.remember("Food", "Ada is a vegetarian.", Trust.USER);
        assertThat(memories.list(MadeMemory.Kind.FACT)).containsExactly(fact);
        assertThat(memories.search(FactQuery.of("vegetarian"))).containsExactly(fact);
        assertThat(retrieved(keepsake, "a", "Is Ada a vegetarian?"))
                .singleElement()
                .asString()
                .contains("vegetarian");
        assertThrown(InvalidInputException.class, () -> memories.remember("Food", " ", Trust.USER), "text");

        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        String first = newest(keepsake, "a");
        keepsake.conversation("a").regenerate(first, question -> chat.chat("a", question.singleText()));
        assertThat(memories.list(MadeMemory.Kind.FACT)).containsExactly(fact);
        assertThat(memories.correct(fact.id(), "Ada is a vegan.", Trust.USER).title())
                .isEqualTo("Food");
        assertThat(texts(memories.list(MadeMemory.Kind.FACT))).containsExactly("Ada is a vegan.");

        log.erase(ConversationKey.of("default", "a"));
        assertThat(memories.list(MadeMemory.Kind.FACT)).isEmpty();
        assertThrown(
                InvalidInputException.class,
                () -> memories.remember("Food", "Ada is a vegetarian.", Trust.USER),
                "conversation/default/a was erased");
    }

    private static List<String> retrieved(Keepsake keepsake, String id, String question) {
        var query = dev.langchain4j.rag.query.Query.from(
                question, dev.langchain4j.rag.query.Metadata.from(UserMessage.from(question), id, List.of()));
        return keepsake.longTermMemories().retriever(LongTermMemoryTools.Options.standard()).retrieve(query).stream()
                .map(content -> content.textSegment().text())
                .toList();
    }

    @Test
    void a_newer_fact_names_the_older_one_that_it_contradicts_and_only_on_its_branch() {
        Keepsake keepsake = keepsake(
                        newLog(),
                        FACTS,
                        passage -> passage.contains("Rome")
                                ? "{\"title\":\"Home\",\"summary\":\"Ada lives in Rome.\",\"entities\":[],"
                                        + "\"key_phrases\":[],\"replaces\":\"home\"}"
                                : fact("Home", "Ada lives in Oslo."))
                .build();
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "I live in Oslo");
        keepsake.longTermMemories().make("a");
        String before = newest(keepsake, "a");
        chat.chat("a", "I moved to Rome");
        keepsake.longTermMemories().make("a");

        List<MadeMemory> current = keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT);
        assertThat(texts(current)).containsExactly("Ada lives in Rome.");
        String older = current.get(0).replaces();
        assertThat(older).isNotNull();
        assertThat(keepsake.longTermMemories().of("a").find(older)).hasValueSatisfying(memory -> {
            assertThat(memory.text()).isEqualTo("Ada lives in Oslo.");
            assertThat(memory.status()).isEqualTo(MadeMemory.Status.REPLACED);
        });

        keepsake.conversation("a").switchTo(before);
        keepsake.longTermMemories().make("a");
        assertThat(texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)))
                .containsExactly("Ada lives in Oslo.");
    }

    @Test
    void a_model_replaces_no_fact_that_is_pinned_or_trusted_more() {
        Keepsake keepsake = keepsake(
                        newLog(),
                        FACTS,
                        passage -> "{\"title\":\"Home\",\"summary\":\""
                                + passage.lines().count()
                                + "\",\"entities\":[],\"key_phrases\":[],\"replaces\":\"Home\"}")
                .build();
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "one");
        MadeMemory made = keepsake.longTermMemories().make("a").made().get(0);
        MadeMemory corrected = keepsake.longTermMemories().of("a").correct(made.id(), "Ada lives in Oslo.", Trust.USER);
        chat.chat("a", "two");
        MadeMemory second = keepsake.longTermMemories().make("a").made().get(0);
        assertThat(second.replaces()).isNull();
        keepsake.longTermMemories().of("a").pin(second.id(), true);
        chat.chat("a", "three");
        assertThat(keepsake.longTermMemories().make("a").made().get(0).replaces())
                .isNull();
        assertThat(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT))
                .extracting(MadeMemory::id)
                .contains(corrected.id(), second.id());
    }

    @Test
    void a_memory_is_corrected_and_forgotten_and_its_summary_is_made_again() throws Exception {
        Keepsake keepsake = keepsake(newLog(), CHUNKS, passage -> "On " + passage.replace('\n', ' '))
                .build();
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "Oslo");
        keepsake.longTermMemories().make("a");
        chat.chat("a", "Paris");
        keepsake.longTermMemories().make("a");
        LongTermMemoriesOfConversation memories = keepsake.longTermMemories().of("a");
        List<MadeMemory> chunks = memories.list(MadeMemory.Kind.CHUNK);
        assertThat(memories.list(MadeMemory.Kind.SUMMARY).get(0).text()).contains("Paris");

        MadeMemory correction = memories.correct(chunks.get(0).id(), "It was Rome.", Trust.USER);
        assertThat(memories.list(MadeMemory.Kind.SUMMARY)).isEmpty();
        keepsake.longTermMemories().make("a");
        assertThat(memories.list(MadeMemory.Kind.SUMMARY).get(0).text())
                .contains("It was Rome.", "Paris")
                .doesNotContain("Oslo");
        assertThat(memories.find(chunks.get(0).id()))
                .hasValueSatisfying(older -> assertThat(older.status()).isEqualTo(MadeMemory.Status.REPLACED));

        memories.forget(correction.id());
        keepsake.longTermMemories().make("a");
        assertThat(texts(memories.list(MadeMemory.Kind.CHUNK)))
                .singleElement()
                .asString()
                .contains("Paris");
        assertThat(memories.list(MadeMemory.Kind.SUMMARY).get(0).text()).doesNotContain("Rome", "Oslo");
        assertThat(stored()).doesNotContain("Rome", "Oslo");
        assertThrown(InvalidInputException.class, () -> memories.pin(correction.id(), true), "FORGOTTEN");
    }

    @Test
    void an_erased_conversation_has_no_memories_also_if_a_creator_was_at_work() throws Exception {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch erased = new CountDownLatch(1);
        Keepsake keepsake = keepsake(newLog(), FACTS, passage -> {
                    if (passage.contains("late")) {
                        working.countDown();
                        try {
                            assertThat(erased.await(30, TimeUnit.SECONDS)).isTrue();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                    return fact("Quokka", "A quokka.");
                })
                .build();
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "early");
        keepsake.longTermMemories().make("a");
        assertThat(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT))
                .hasSize(1);
        assertThat(stored()).containsIgnoringCase("quokka");

        chat.chat("a", "late");
        Thread creator = new Thread(() -> keepsake.longTermMemories().make("a"));
        creator.start();
        assertThat(working.await(30, TimeUnit.SECONDS)).isTrue();
        keepsake.conversation("a").erase();
        erased.countDown();
        creator.join();
        assertThat(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT))
                .isEmpty();
        assertThat(stored()).doesNotContainIgnoringCase("quokka");
    }

    /** Makes a memory of a conversation, and returns the log that knows of no memories. */
    private MessageLog remembered(Keepsake keepsake, MessageLog log) throws Exception {
        model.says("Hi.", "A quokka.");
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "I like the quokka");
        // Creators may be at work in the background.
        await().until(() -> {
            keepsake.longTermMemories().make("a");
            return !keepsake.longTermMemories()
                    .of("a")
                    .list(MadeMemory.Kind.FACT)
                    .isEmpty();
        });
        MadeMemory made =
                keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT).get(0);
        keepsake.longTermMemories().of("a").correct(made.id(), "A quokka, by hand", Trust.USER);
        assertThat(stored()).containsIgnoringCase("quokka");
        return log;
    }

    /** Makes a fact of a passage: what its last line says. */
    private static Discussions lastLines(LongTermMemoryStore of) {
        return Discussions.builder(of)
                .config(DiscussionConfig.ofJson(FACTS))
                .workflow("w", inputs -> lastLine(inputs.get(0)))
                .build();
    }

    @Test
    void what_a_clean_up_removes_has_no_memories_afterwards() throws Exception {
        for (boolean bare : new boolean[] {false, true}) {
            MessageLog log = newLog();
            Keepsake keepsake =
                    keepsake(log, FACTS, MadeMemoriesFixture::lastLine).build();
            remembered(keepsake, log);
            CleanUp cleanUp = (bare ? CleanUp.of(log).alsoErasing(store::erase) : keepsake.cleanUp())
                    .idleFor(Duration.ofMillis(1));
            assertThat(cleanUp.dryRun().run("default").messages()).isLessThan(5);
            assertThat(stored()).containsIgnoringCase("quokka");
            await().until(() -> cleanUp.run("default").removed() == 1);
            assertThat(stored()).doesNotContainIgnoringCase("quokka");
            assertThat(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT))
                    .isEmpty();
        }
    }

    @Test
    void what_a_crash_left_of_a_removed_conversation_goes_with_the_next_clean_up() throws Exception {
        MessageLog log = newLog();
        Keepsake keepsake = keepsake(log, FACTS, MadeMemoriesFixture::lastLine).build();
        remembered(keepsake, log);
        // As a process leaves it that dies behind the first of the two steps.
        assertThat(log.eraseIfIdle(
                        ConversationKey.of("default", "a"), Instant.now().plusSeconds(1)))
                .isTrue();
        assertThat(stored()).containsIgnoringCase("quokka");

        assertThat(keepsake.cleanUp().run("default").removed()).isZero();

        assertThat(stored()).doesNotContainIgnoringCase("quokka");
    }

    @Test
    void a_conversation_that_is_begun_again_while_it_is_cleaned_up_has_its_new_memories() throws Exception {
        MessageLog log = newLog();
        open.add(log);
        store = newStore();
        open.add(store);
        AtomicReference<Runnable> beforeErasure = new AtomicReference<>(() -> {});
        LongTermMemoryStore watched = Watched.of(LongTermMemoryStore.class, store, call -> {
            if (call.name().equals("erase")) {
                beforeErasure.getAndSet(() -> {}).run();
            }
            return call.proceed();
        });
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .longTermMemories(lastLines(watched), Duration.ZERO)
                .build();
        remembered(keepsake, log);
        log.erase(ConversationKey.of("default", "a"));
        beforeErasure.set(() -> {
            // A run may take part of a turn, so that the rest waits for more.
            await().until(() -> {
                model.says("A wombat.");
                chat(keepsake).chat("a", "A wombat");
                return texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)).stream()
                        .anyMatch(text -> text.contains("wombat"));
            });
        });
        keepsake.cleanUp().run("default");
        await().untilAsserted(() -> assertThat(
                        texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)))
                .anyMatch(text -> text.contains("wombat")));
        assertThat(stored()).doesNotContainIgnoringCase("quokka");
    }

    @Test
    void what_was_erased_by_what_knows_of_no_memories_has_none_after_the_next_read() throws Exception {
        MessageLog log = newLog();
        MemoryKey key = ConversationKey.of("default", "a");
        Keepsake keepsake = keepsake(log, FACTS, MadeMemoriesFixture::lastLine)
                .longTermMemories(lastLines(store), Duration.ZERO)
                .build();
        remembered(keepsake, log);
        log.erase(key);
        assertThat(retrieved(keepsake, "a", "quokka")).isEmpty();
        await().untilAsserted(() -> assertThat(stored()).doesNotContainIgnoringCase("quokka"));
    }

    @Test
    void what_was_erased_and_begun_anew_has_only_memories_of_what_is_there() throws Exception {
        MessageLog log = newLog();
        Keepsake keepsake = keepsake(log, FACTS, MadeMemoriesFixture::lastLine).build();
        remembered(keepsake, log);
        log.erase(ConversationKey.of("default", "a"));
        chat(keepsake).chat("a", "Hello");
        model.says("A wombat.");
        chat(keepsake).chat("a", "Another animal");
        assertThat(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT))
                .isEmpty();
        keepsake.longTermMemories().make("a");
        assertThat(stored()).doesNotContainIgnoringCase("quokka").containsIgnoringCase("wombat");
        assertThat(texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)))
                .singleElement()
                .asString()
                .contains("wombat");
    }

    @Test
    void memories_of_the_user_alone_are_made_of_what_users_wrote() {
        MessageLog log = newLog();
        open.add(log);
        store = newStore();
        open.add(store);
        List<String> seen = new ArrayList<>();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .longTermMemories(
                        Discussions.builder(store)
                                .config(DiscussionConfig.ofJson(FACTS))
                                .workflow("w", inputs -> {
                                    seen.add(inputs.get(0));
                                    return fact("t", "s");
                                })
                                .userTextOnly()
                                .build(),
                        Duration.ofDays(1))
                .build();
        Chat chat = chat(keepsake);
        for (int i = 0; i < 3; i++) {
            chat.chat("a", "question " + i);
        }
        Discussion.Run run = keepsake.longTermMemories().make("a");
        assertThat(run.made()).extracting(MadeMemory::trust).containsOnly(Trust.USER);
        assertThat(String.join("\n", seen)).contains("question 0", "question 2").doesNotContain("Assistant", "Fine");
    }

    @Test
    void memories_reach_a_model_by_a_retriever_and_by_tools_of_its_own_conversation_alone() {
        Keepsake keepsake =
                keepsake(newLog(), FACTS, MadeMemoriesFixture::lastLine).build();
        for (String id : List.of("alice", "bob")) {
            chat(keepsake).chat(id, "Hello");
            model.says(AiMessage.from("Your parrot is called " + (id.equals("bob") ? "Rex." : "Coco.")));
            chat(keepsake).chat(id, "My parrot");
        }
        keepsake.longTermMemories().make("alice");
        keepsake.longTermMemories().make("bob");

        Chat withRetriever = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .contentRetriever(keepsake.longTermMemories().retriever(LongTermMemoryTools.Options.standard()))
                .build();
        withRetriever.chat("alice", "What is the parrot called?");
        assertThat(model.lastMessages().toString())
                .contains("<made-memories>", "from the conversation] ", "Your parrot is called Coco.")
                .doesNotContain("Rex");

        Chat withTools = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .tools(keepsake.longTermMemories().tools(LongTermMemoryTools.Options.standard()))
                .build();
        for (String tool : List.of("searchMemory", "recentMemories")) {
            model.says(AiMessage.from(call(tool, tool, "{\"question\": \"parrot\", \"memoryId\": \"bob\"}")));
            withTools.chat("alice", "And the parrot?");
            assertThat(model.lastMessages())
                    .filteredOn(ToolExecutionResultMessage.class::isInstance)
                    .last()
                    .satisfies(result -> assertThat(((ToolExecutionResultMessage) result).text())
                            .contains("Coco")
                            .doesNotContain("Rex"));
        }

        Function<MemoryKey, Scope> both = key ->
                Scope.memories(List.of(ConversationKey.of("default", "alice"), ConversationKey.of("default", "bob")));
        assertThat(keepsake.longTermMemories()
                        .tools(LongTermMemoryTools.Options.standard(), both)
                        .searchMemory("parrot", "carol"))
                .contains("Coco", "Rex");
        assertThrown(
                InvalidInputException.class,
                () -> keepsake.longTermMemories()
                        .tools(LongTermMemoryTools.Options.standard(), key -> Scope.tenant("default"))
                        .searchMemory("parrot", "alice"),
                "scope");
        assertThat(keepsake.longTermMemories()
                        .tools(LongTermMemoryTools.Options.standard().withMinTrust(Trust.USER))
                        .searchMemory("parrot", "alice"))
                .isEqualTo(LongTermMemoriesOfDiscussion.NO_MATCH);
    }

    @Test
    void retrievers_and_tools_only_read() {
        keepsake(newLog(), FACTS, MadeMemoriesFixture::lastLine);
        LongTermMemoryReader reader = Watched.of(LongTermMemoryStore.class, store, call -> {
            assertThat(call.method().getDeclaringClass()).isEqualTo(LongTermMemoryReader.class);
            return call.proceed();
        });
        MessageLog log = Watched.log((MessageLog) open.get(0), call -> {
            assertThat(call.name()).isEqualTo("read");
            return call.proceed();
        });
        MemoryKey key = ConversationKey.of("default", "a");
        MadeMemory fact = MadeMemory.fact("Pet", "A cat.", List.of(), List.of(), Passage.NONE, Trust.USER);
        store.add(key, MadeMemory.Kind.FACT, 0, Passage.NONE, List.of(fact));
        LongTermMemoryTools lookup = new LongTermMemoryTools(
                reader, any -> log, id -> key, Scope::memory, LongTermMemoryTools.Options.standard(), any -> {});
        assertThat(lookup.search("a", "cat"))
                .as("made by hand, before the first message")
                .hasSize(1);
        chat(Keepsake.builder().messageLog((MessageLog) open.get(0)).build()).chat("a", "Hello");
        assertThat(lookup.search("a", "cat")).hasSize(1);
        assertThat(lookup.recent("a")).hasSize(1);
    }

    @Test
    void what_is_passed_by_is_counted_and_made_when_memories_are_made_by_a_call() {
        List<String> counted = new ArrayList<>();
        boolean[] fails = {true};
        Keepsake keepsake = keepsake(newLog(), FACTS, passage -> {
                    if (fails[0]) {
                        throw new IllegalStateException("down");
                    }
                    return MadeMemoriesFixture.lastLine(passage);
                })
                .metrics(new Metrics() {
                    @Override
                    public void passagePassedBy(String backend) {
                        counted.add(backend);
                    }
                })
                .build();
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "Hello again");
        for (int attempt = 1; attempt < 5; attempt++) {
            assertThrown(LongTermMemoryFailedException.class, () -> keepsake.longTermMemories()
                    .make("a"));
            assertThat(counted).isEmpty();
        }
        assertThat(keepsake.longTermMemories().make("a").problems()).hasSize(1);
        assertThat(keepsake.longTermMemories().make("a").problems()).hasSize(1);
        assertThat(counted).containsExactly(store.backend());
        fails[0] = false;
        Discussion.Run made = keepsake.longTermMemories().make("a");
        assertThat(made.problems()).isEmpty();
        assertThat(texts(made.made()))
                .isEqualTo(texts(keepsake.longTermMemories().of("a").list(MadeMemory.Kind.FACT)))
                .isNotEmpty();
    }

    /** Returns creators whose runs wait in a queue. */
    private BackgroundCreators creators(
            MessageLog log, int seconds, Queue<Runnable> work, List<Duration> pauses, LongTermMemoryWorkflow workflow) {
        return new BackgroundCreators(
                Discussions.builder(store)
                        .config(DiscussionConfig.ofJson(FACTS))
                        .workflow("w", workflow)
                        .build(),
                any -> log,
                Duration.ofSeconds(seconds),
                Runnable::run,
                pause -> {
                    pauses.add(pause);
                    return work::add;
                },
                () -> {});
    }

    @Test
    void creators_run_in_the_background_once_for_several_turns_and_again_after_a_failure() {
        MessageLog log = newLog();
        MemoryKey key = ConversationKey.of("default", "a");
        chat(Keepsake.builder().messageLog(log).build()).chat("a", "Hello");
        store = newStore();
        open.add(store);
        boolean[] fails = {true};
        ConcurrentLinkedQueue<Runnable> work = new ConcurrentLinkedQueue<>();
        List<Duration> pauses = new ArrayList<>();
        BackgroundCreators creators = creators(log, 10, work, pauses, inputs -> {
            if (fails[0]) {
                throw new IllegalStateException("down");
            }
            return fact("t", "s");
        });
        chat(Keepsake.builder().messageLog(log).build()).chat("a", "Hello again");
        creators.appended(key);
        creators.appended(key);
        assertThat(work).as("several changes are one run").hasSize(1);
        work.remove().run();
        assertThat(work).as("it failed and is tried again").hasSize(1);
        work.remove().run();
        assertThat(store.facts(key, 9)).isEmpty();
        fails[0] = false;
        work.remove().run();
        assertThat(work).isEmpty();
        assertThat(store.facts(key, 9)).isNotEmpty();
        assertThat(pauses).containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofSeconds(20));
        creators.appended(key);
        assertThat(work).hasSize(1);
    }

    @Test
    void while_another_process_is_at_work_a_creator_asks_less_and_less_often() {
        MessageLog log = newLog();
        MemoryKey key = ConversationKey.of("default", "a");
        Chat chat = chat(Keepsake.builder().messageLog(log).build());
        chat.chat("a", "Hello");
        chat.chat("a", "Hello again");
        store = newStore();
        open.add(store);
        ConcurrentLinkedQueue<Runnable> work = new ConcurrentLinkedQueue<>();
        List<Duration> pauses = new ArrayList<>();
        BackgroundCreators creators = creators(log, 1, work, pauses, inputs -> fact("t", "s"));
        assertThat(store.acquireLease(key, "memories", "another", Duration.ofMinutes(5)))
                .isPresent();
        creators.appended(key);
        for (int i = 0; i < 4; i++) {
            work.remove().run();
        }
        assertThat(pauses.stream().map(Duration::toSeconds)).containsExactly(1L, 1L, 2L, 4L, 8L);
        assertThat(store.facts(key, 9)).isEmpty();
        store.releaseLease(key, "memories", "another");
        work.remove().run();
        assertThat(store.facts(key, 9)).hasSize(1);
        assertThat(work).isEmpty();
    }

    @Test
    void a_creator_that_hangs_holds_no_turn_and_runs_on_no_turns_thread() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        MessageLog log = newLog();
        open.add(log);
        store = newStore();
        open.add(store);
        List<Thread> threads = new CopyOnWriteArrayList<>();
        Set<Thread> inStore = ConcurrentHashMap.newKeySet();
        LongTermMemoryStore watched = Watched.of(LongTermMemoryStore.class, store, call -> {
            inStore.add(Thread.currentThread());
            return call.proceed();
        });
        AtomicInteger running = new AtomicInteger();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .executor(work -> {
                    running.incrementAndGet();
                    new Thread(() -> {
                                try {
                                    work.run();
                                } finally {
                                    running.decrementAndGet();
                                }
                            })
                            .start();
                })
                .longTermMemories(
                        Discussions.builder(watched)
                                .config(DiscussionConfig.ofJson(FACTS))
                                .workflow("w", inputs -> {
                                    threads.add(Thread.currentThread());
                                    hanging.countDown();
                                    try {
                                        assertThat(end.await(60, TimeUnit.SECONDS))
                                                .isTrue();
                                    } catch (InterruptedException e) {
                                        throw new AssertionError(e);
                                    }
                                    return null;
                                })
                                .build(),
                        Duration.ZERO)
                .build();
        Chat chat = chat(keepsake);
        chat.chat("a", "one");
        chat.chat("a", "two");
        assertThat(hanging.await(30, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < 20; i++) {
            assertThat(chat.chat("a", "while it hangs")).isEqualTo("Fine.");
        }
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
        assertThat(inStore)
                .as("a turn reads and writes no memories")
                .isNotEmpty()
                .doesNotContain(Thread.currentThread());
        end.countDown();
        // The store must not be closed, nor its directory deleted, while a creator writes.
        await().until(() -> running.get() == 0);
    }

    @Test
    void fifty_injections_become_no_memory_of_user_trust_and_none_leaves_its_fence() {
        MessageLog log = newLog();
        Keepsake keepsake = keepsake(log, FACTS, PoisonedTexts::obey)
                .strategy(SlidingWindow.withMaxMessages(50)
                        .and(LongTermMemoryBlock.withMaxTokens(1_000_000)
                                .withMaxRecent(200)
                                .withMinTrust(Trust.RETRIEVED)))
                .build();
        PoisonedTexts.chat(keepsake, model);
        List<String> made = new ArrayList<>();
        for (String id : PoisonedTexts.conversations()) {
            keepsake.longTermMemories().make(id);
            for (MadeMemory memory : keepsake.longTermMemories().of(id).list(MadeMemory.Kind.FACT)) {
                if (memory.text().contains(PoisonedTexts.MARK)) {
                    made.add(memory.id());
                    assertThat(memory.trust()).isIn(Trust.TOOL, Trust.RETRIEVED);
                    assertThat(memory.pinned()).isFalse();
                }
            }
            assertThat(made).as(id).isNotEmpty();
            String standard = keepsake.longTermMemories()
                    .tools(LongTermMemoryTools.Options.standard().withLimit(100))
                    .recentMemories(id);
            assertThat(standard).doesNotContain(PoisonedTexts.MARK);
            LongTermMemoryTools.Options any =
                    LongTermMemoryTools.Options.standard().withLimit(100).withMinTrust(Trust.RETRIEVED);
            String block = keepsake.conversation(id).messages().stream()
                    .filter(Remembered::isShown)
                    .map(message -> ((UserMessage) message).singleText())
                    .findFirst()
                    .orElseThrow();
            PoisonedTexts.assertFenced(block.substring(block.indexOf('\n') + 1));
            PoisonedTexts.assertFenced(keepsake.longTermMemories().tools(any).recentMemories(id));
            PoisonedTexts.assertFenced(keepsake.longTermMemories().tools(any).searchMemory(PoisonedTexts.MARK, id));
            assertThat(keepsake.longTermMemories()
                            .tools(LongTermMemoryTools.Options.standard().withMinTrust(Trust.USER))
                            .recentMemories(id))
                    .isEqualTo(LongTermMemoriesOfDiscussion.NO_MEMORIES);
        }
        assertThat(made).as("the creator obeyed").hasSizeGreaterThanOrEqualTo(50);
    }
}
