package io.github.keepsake4j.samples;

import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.NodeMemories;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Conversation.BranchPreview;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.MessagePreview;
import io.github.keepsake4j.component.MemoryComponent;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.component.MemoryOutput;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.memories.ConversationMemories;
import io.github.keepsake4j.memories.Discussion;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.DiscussionMemories;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Memories;
import io.github.keepsake4j.memories.MemoryKind;
import io.github.keepsake4j.memories.MemoryOptions;
import io.github.keepsake4j.memories.MemoryRun;
import io.github.keepsake4j.memories.MemoryStore;
import io.github.keepsake4j.memories.NodeConfig;
import io.github.keepsake4j.memories.SourceMessage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.MicrometerMetrics;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.SearchOptions;
import io.github.keepsake4j.recall.SearchResult;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.transfer.MarkdownExport;
import io.github.keepsake4j.transfer.MemoryCopy;
import io.github.keepsake4j.transfer.Ndjson;
import io.github.keepsake4j.transfer.jdbc.JdbcImportSource;
import io.github.keepsake4j.turn.Turn;
import io.github.keepsake4j.turn.TurnPolicy;
import io.github.keepsake4j.workflow.LlmNode;
import io.github.keepsake4j.workflow.MemoryConfig;
import io.github.keepsake4j.workflow.MemoryMode;
import io.github.keepsake4j.workflow.NodeRun;
import io.github.keepsake4j.workflow.NodeTurn;
import io.github.keepsake4j.workflow.WorkflowMemories;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.sqlite.SQLiteDataSource;

/**
 * The code in the guide (src/docs/guide), compiled and run: one method for each page. A test compares the parts between
 * the markers with the guide.
 */
final class GuideExample {

    private final ChatModel model;
    private final MessageLog log;
    private final TokenCountEstimator estimator = JtokkitTokenCountEstimator.forModel("gpt-4o-mini");
    private final Keepsake keepsake;
    private final Assistant assistant;

    interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    private GuideExample(ChatModel model, MessageLog log) {
        this.model = model;
        this.log = log;
        this.keepsake = Keepsake.builder().messageLog(log).build();
        this.assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();
    }

    static String run(ChatModel model, Path directory) {
        try (MessageLog log = JdbcMessageLog.sqlite(directory.resolve("guide.db"), "user")) {
            GuideExample guide = new GuideExample(model, log);
            guide.whatTheModelSees();
            guide.regenerating();
            guide.underLangChain4jWindows();
            guide.summaries();
            guide.whenTurnsMeet();
            guide.nodes();
            guide.backends();
            guide.coming();
            guide.between();
            guide.forking();
            guide.exporting(directory);
            guide.metrics();
            guide.component();
            guide.search(directory);
            guide.recall(directory);
            guide.memories(directory);
            guide.memoriesOfConversations(directory);
            guide.agents();
            guide.userInterfaces();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return "all pages";
    }

    private void whatTheModelSees() {
        // example begins
        Keepsake limited = Keepsake.builder()
                .messageLog(log)
                .strategy(Pinned.firstMessages(4)
                        .and(ClearToolResults.keepNewest(3).except("search").atLeast(2000))
                        .and(TokenLimit.withContextSize(128_000, 4_000, estimator)))
                .build();
        Assistant bounded = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(limited.chatMemoryProvider())
                .chatRequestTransformer(limited.requestBudget()) // a limit on the whole request
                .build();
        bounded.chat("alice", "My name is Alice.");
        Explanation explanation = limited.conversation("alice").explain(); // what is shown, what is not, and why
        // example ends
        check(explanation.shown().size() == 2 && explanation.omitted().isEmpty(), "both messages are shown");
    }

    private void regenerating() {
        Conversation conversation = keepsake.conversation("alice");
        AiMessage otherAnswer = AiMessage.from("Hello, Alice.");
        // example begins
        List<LoggedMessage> turn = conversation.branch(2).messages(); // the newest question and its answer
        LoggedMessage question = turn.get(0);
        LoggedMessage oldAnswer = turn.get(1);
        conversation.append(Parent.of(question.id()), Ids.next(), otherAnswer); // now the current branch
        conversation.switchTo(oldAnswer.id()); // back to the old answer
        // example ends
        check(conversation.branches().size() == 2, "both answers are kept");
        check(conversation.messages().get(1).equals(oldAnswer.message()), "the old answer is shown");
    }

    private void underLangChain4jWindows() {
        // example begins
        ChatMemoryProvider windows = id -> MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(20)
                .chatMemoryStore(keepsake.chatMemoryStore())
                .build();
        // example ends
        ChatMessage message = UserMessage.from("kept");
        windows.get("bob").add(message);
        check(keepsake.conversation("bob").messages().equals(List.of(message)), "the window's message is in the log");
    }

    private void summaries() {
        // example begins
        Keepsake summarized = Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerTokens(4000)
                        .keepTokens(1000)
                        .countedBy(estimator)
                        .and(TokenLimit.withMaxTokens(6000, estimator)))
                .summarizer(Summarizer.of(model))
                .build();
        int made = summarized.conversation("alice").summarizeNow(); // for a batch job; chats need not call it
        List<Summary> summaries = summarized.conversation("alice").summaries(); // all that were ever made
        // example ends
        check(made == summaries.size(), "every summary that was made is there");
    }

    private void whenTurnsMeet() {
        // example begins
        String answer = keepsake.turn("alice", TurnPolicy.WAIT, () -> assistant.chat("alice", "What is my name?"));
        // example ends
        List<ChatMessage> shown = keepsake.conversation("alice").messages();
        check(
                shown.get(shown.size() - 1) instanceof AiMessage newest
                        && answer.equals(newest.text())
                        && answer.contains("Alice"),
                "the turn's answer is the newest message");
    }

    private void nodes() {
        // example begins
        WorkflowMemories memories =
                WorkflowMemories.builder().conversationLog(log).nodeLog(log).build();
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        NodeTurn turn = NodeTurn.of("m2").under("m1"); // ids of the conversation's messages
        LlmNode.Reply reply = writer.run(NodeRun.of("acme", "my-app", "c1", "writer", turn, "A slogan, please"));
        // example ends
        check(reply.failure() == null, "the node has run");

        // example begins
        NodeMemories nodes = keepsake.nodes("my-app");
        Assistant critic = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(nodes.chatMemoryProvider("critic"))
                .build();
        // example ends
        critic.chat("c1", String.valueOf(reply.text()));
        check(nodes.conversation("critic", "c1").messages().size() == 2, "the critic has a memory of its own");
    }

    private void backends() {
        // example begins
        keepsake.conversation("alice").describe("Names", Map.of("project", "bees"));
        MemoryPage page = keepsake.conversations(ListQuery.first(50).byActivity());
        Optional<ListQuery> next = page.next(); // the next page's query
        // example ends
        check(next.isEmpty() && page.memories().stream().anyMatch(memory -> "Names".equals(memory.title())), "listed");

        // example begins
        MemoryPage own = keepsake.conversations(ListQuery.first(50).byActivity().withMetadata("user", "u-17"));
        // example ends
        check(own.memories().isEmpty(), "no conversation is the user's");

        // example begins
        CleanUp.Report report = CleanUp.of(log).idleFor(Duration.ofDays(180)).run("default");
        // example ends
        check(report.looked() >= page.memories().size() && report.removed() == 0, "nothing is old enough");
    }

    private void coming() {
        SQLiteDataSource dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite::memory:");
        // example begins
        Keepsake moved = Keepsake.builder()
                .messageLog(log)
                .importFrom(JdbcImportSource.langChain4j(dataSource)) // or any ChatMemoryStore
                .build();
        // example ends
        try {
            moved.chatMemory("nothing").messages();
            check(false, "there is no table");
        } catch (KeepsakeException e) {
            check(!e.isRetryable(), "a table that is missing does not come by itself");
        }
    }

    private void between() {
        MessageLog target = new InMemoryMessageLog();
        // example begins
        MemoryCopy.Report copied = MemoryCopy.between(log, target).tenant("default");
        // example ends
        check(
                copied.memories()
                        == target.list("default", ListQuery.first(50))
                                .memories()
                                .size(),
                "all are copied");
    }

    private void forking() {
        String answerId =
                keepsake.conversation("alice").branch(1).messages().get(0).id();
        // example begins
        Conversation fork = keepsake.conversation("alice").fork(answerId, "alice-2");
        // example ends
        check(
                fork.messages().equals(keepsake.conversation("alice").messages()),
                "the fork shows what the original shows");
    }

    private void exporting(Path directory) throws IOException {
        MessageLog target = new InMemoryMessageLog();
        // example begins
        try (OutputStream out = Files.newOutputStream(directory.resolve("chats.ndjson"))) {
            Ndjson.of(log).writeTenant("default", out);
        }
        try (InputStream in = Files.newInputStream(directory.resolve("chats.ndjson"))) {
            Ndjson.of(target).read(in);
        }
        // example ends
        MemoryKey key = ConversationKey.of("default", "alice");
        check(
                target.history(key, HistoryQuery.oldest(50)).equals(log.history(key, HistoryQuery.oldest(50))),
                "all messages are read");
        // example begins
        try (Writer out = Files.newBufferedWriter(directory.resolve("alice.md"))) {
            MarkdownExport.of(log).writeMemory(key, out);
        }
        // example ends
        check(Files.readString(directory.resolve("alice.md")).contains("    My name is Alice."), "the text is there");
    }

    private void metrics() {
        // example begins
        MeterRegistry registry = new SimpleMeterRegistry();
        Keepsake counted = Keepsake.builder()
                .messageLog(log)
                .metrics(new MicrometerMetrics(registry))
                .build();
        // example ends
        counted.conversation("alice").messages();
        check(registry.get("keepsake.reads").tag("backend", "sqlite").counter().count() == 1, "the read is counted");
    }

    private void component() {
        // example begins
        MemoryComponent memory = MemoryComponent.builder()
                .backend("sqlite", () -> log)
                .summarizer(Summarizer.of(model))
                .build();
        MemoryInput question = MemoryInput.add("sess_123", UserMessage.from("How do bees talk?"))
                .onBackend("sqlite");
        memory.run(question);
        MemoryOutput output = memory.run(MemoryInput.get("sess_123").onBackend("sqlite"));
        // example ends
        check(output.messageCount() == 1, "the question is there");
    }

    private void search(Path directory) {
        // example begins
        MessageIndex index = JdbcMessageIndex.sqlite(directory.resolve("index.db")); // a file of its own
        Keepsake searchable = Keepsake.builder().messageLog(log).index(index).build();
        searchable.chatMemory("carol").add(UserMessage.from("Book a table at the Italian restaurant"));

        MemoryKey carol = ConversationKey.of("default", "carol");
        SearchOptions options = SearchOptions.standard().withPageSize(20).ofTypes(ChatMessageType.USER);
        SearchResult page = searchable.search().find(Scope.memory(carol), "restaurants", options);
        for (SearchResult.Hit hit : page.hits()) {
            LoggedMessage found = hit.message(); // with hit.before(), hit.after(), hit.highlights()
        }
        SearchResult everywhere =
                searchable.search().find(Scope.tenant("default"), "ital"); // for the tenant's own staff
        // example ends
        check(page.hits().size() == 1 && everywhere.hits().size() == 1, "the message is found");

        // example begins
        int hits = 0;
        Optional<SearchOptions> next = Optional.of(SearchOptions.standard().withPageSize(20));
        while (next.isPresent()) {
            SearchResult result = searchable.search().find(Scope.memory(carol), "table restaurant", next.get());
            hits += result.hits().size();
            next = result.next(); // the options of the next page, empty behind the last one
        }
        // example ends
        check(hits == 1, "all pages are read");
    }

    private void memories(Path directory) {
        // example begins
        try (MemoryStore store = FileMemoryStore.of(directory.resolve("memories"))) { // or JdbcMemoryStore.postgres(…)
            Discussions discussions = Discussions.builder(store)
                    .chatModel(model) // a small one, also for workflow files
                    .workflowDirectory(directory.resolve("workflows")) // WilmerAI's files of Standard nodes
                    .workflow("my-facts", inputs -> "[]") // or a function, such as an AI service
                    .config(DiscussionConfig.ofJson("{\"lookbackStartTurn\": 3}"))
                    .retriever(
                            "FirstFiveMemories",
                            (memories, config) -> DiscussionMemories.join(
                                    memories.chunks().stream().limit(5).toList()))
                    .build();
            Discussion discussion = discussions.discussion("alice", "42");

            List<SourceMessage> messages = keepsake.conversation("alice").branch(10_000).messages().stream()
                    .map(SourceMessage::of)
                    .toList();
            MemoryRun run = discussion.qualityMemory(messages); // makes what is due; not on a turn's thread
            discussion.updateSummary();

            String recent = discussion.retrieve("RecentMemory", NodeConfig.EMPTY, messages); // only reads
            String first = discussion.retrieve("FirstFiveMemories", NodeConfig.EMPTY, messages);
        }
        // example ends
    }

    private void memoriesOfConversations(Path directory) {
        // example begins
        MemoryStore store =
                FileMemoryStore.of(directory.resolve("made")); // the application closes it, after the last turn
        Discussions discussions = Discussions.builder(store)
                .chatModel(model)
                .config(DiscussionConfig.ofJson("{\"lookbackStartTurn\": 1}"))
                .build();
        Keepsake remembering = Keepsake.builder()
                .messageLog(log)
                .memories(discussions, Duration.ofMinutes(5)) // made in the background, at most this long after a turn
                .strategy(SlidingWindow.withMaxMessages(50).and(Memories.block(800))) // shown in front of each turn
                .build();
        Assistant assistant = remembering
                .aiServices(Assistant.class)
                .chatModel(model)
                .contentRetriever(
                        remembering.longTermMemories().retriever(MemoryOptions.standard())) // before each question
                .tools(remembering.longTermMemories().tools(MemoryOptions.standard())) // or when the model asks for it
                .build();
        assistant.chat("emma", "My name is Emma.");
        assistant.chat("emma", "I keep bees.");
        assistant.chat("emma", "They are busy.");
        assistant.chat("emma", "It is June.");
        MemoryRun run = remembering.longTermMemories().make("emma"); // at once what is due, for a batch job

        ConversationMemories memories =
                remembering.longTermMemories().of("emma"); // for a page where users see what is remembered
        MadeMemory made = memories.list(MemoryKind.CHUNK).get(0); // or FACT, SUMMARY
        MadeMemory corrected = memories.correct(made.id(), "Emma keeps bees", Trust.USER);
        memories.pin(corrected.id(), true);
        List<ChatMessage> shown = remembering.conversation("emma").messages(); // what is remembered is in front
        memories.forget(corrected.id());
        // example ends
        check(run.made().size() == 1, "a memory is made");
        check(shown.get(0).toString().contains("Emma keeps bees"), "the correction is shown");
        check(memories.list(MemoryKind.CHUNK).isEmpty(), "what is forgotten is gone");
        store.close();
    }

    private void recall(Path directory) {
        MessageIndex index = JdbcMessageIndex.sqlite(directory.resolve("recall.db"));
        Keepsake small = Keepsake.builder()
                .messageLog(log)
                .index(index)
                .strategy(SlidingWindow.withMaxMessages(2))
                .build();
        small.chatMemory("dora").add(UserMessage.from("My parrot is called Coco"));
        small.chatMemory("dora").add(AiMessage.from("A nice name."));
        // example begins
        Keepsake remembering = Keepsake.builder()
                .messageLog(log)
                .index(index)
                .strategy(SlidingWindow.withMaxMessages(2))
                .build();
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(remembering.chatMemoryProvider())
                .contentRetriever(remembering.recall().retriever(RecallOptions.standard())) // before each question
                .tools(remembering.recall().tool(RecallOptions.standard())) // or when the model asks for it
                .build();

        MemoryKey dora = ConversationKey.of("default", "dora");
        Recalled recalled = remembering.recall().find(Scope.memory(dora), "What is the parrot called?");
        for (Recalled.Passage passage : recalled.passages()) {
            List<LoggedMessage> messages = passage.messages(); // with passage.score() and passage.features()
        }
        // example ends
        check(recalled.passages().isEmpty(), "what the window shows is not recalled");
        assistant.chat("dora", "It rains");
        check(
                !remembering
                        .recall()
                        .find(Scope.memory(dora), "What is the parrot called?")
                        .passages()
                        .isEmpty(),
                "what the window does not show is recalled");
    }

    /** Writes. */
    public interface WriterAgent {
        /**
         * Writes a draft.
         *
         * @param conversation the conversation
         * @param topic the topic
         * @return the draft
         */
        @dev.langchain4j.service.UserMessage("Write about {{topic}}.")
        @Agent(description = "writes", outputKey = "draft")
        String write(@MemoryId String conversation, @V("topic") String topic);
    }

    /** Edits what the writer wrote. */
    public interface EditorAgent {
        /**
         * Judges a draft.
         *
         * @param conversation the conversation
         * @param draft the draft
         * @return the remark
         */
        @dev.langchain4j.service.UserMessage("Judge: {{draft}}")
        @Agent(description = "edits", outputKey = "remark")
        String edit(@MemoryId String conversation, @V("draft") String draft);
    }

    /** Both agents. */
    public interface Newsroom {
        /**
         * Works.
         *
         * @param conversation the conversation
         * @param topic the topic
         * @return the last remark
         */
        @Agent
        String work(@MemoryId String conversation, @V("topic") String topic);
    }

    private void agents() {
        // example begins
        NodeMemories agents = keepsake.nodes("newsroom");
        WriterAgent writer = AgenticServices.agentBuilder(WriterAgent.class)
                .chatModel(model)
                .chatMemoryProvider(agents.chatMemoryProvider("writer"))
                .build();
        EditorAgent editor = AgenticServices.agentBuilder(EditorAgent.class)
                .chatModel(model)
                .chatMemoryProvider(agents.chatMemoryProvider("editor"))
                .build();
        Newsroom newsroom = AgenticServices.loopBuilder(Newsroom.class)
                .subAgents(writer, editor)
                .maxIterations(2)
                .outputKey("remark")
                .build();
        newsroom.work("c1", "bees");
        List<ChatMessage> drafts = agents.conversation("writer", "c1").messages(); // what the writer sees
        // example ends
        check(drafts.size() == 4, "the writer sees its own two turns");
    }

    private void userInterfaces() {
        keepsake.conversation("alice").describe("Names", Map.of("project", "bees"));
        // example begins
        MemoryPage recent = keepsake.conversations(ListQuery.first(20).byActivity()); // titles, counts, times
        Conversation chat = keepsake.conversation("alice");
        Optional<MessagePreview> last = chat.preview(); // one read for each entry that is shown
        chat.setTitle("Bees"); // the metadata stay

        HistoryPage page = chat.history(HistoryQuery.newest(50));
        Optional<HistoryQuery> older = page.next(); // the page before this one
        Stream<LoggedMessage> everything = chat.historyStream(HistoryQuery.oldest(500)); // read page by page

        List<BranchPreview> branches = chat.branchPreviews(20);
        chat.switchTo(branches.get(0).branch().leafId());
        // example ends
        check(recent.memories().size() > 1 && last.isPresent() && older.isEmpty(), "a list and a page");
        check(everything.count() == page.messages().size(), "the stream has the page's messages");
        check(chat.info().orElseThrow().metadata().containsKey("project"), "the metadata are kept");

        ChatMessage answer = chat.branch(1).messages().get(0).message();
        // example begins
        String answerId = chat.idOf(answer).orElseThrow(); // a message in hand, such as response.aiMessage()
        LoggedMessage question = chat.questionOf(answerId).orElseThrow();
        keepsake.conversation("alice").regenerate(answerId, asked -> assistant.chat("alice", asked.singleText()));
        keepsake.conversation("alice").turn(Turn.edit(question.id()), () -> assistant.chat("alice", "Who are you?"));
        int stopped = keepsake.conversation("alice").stop(); // the answers that are being streamed
        // example ends
        check(stopped == 0, "nothing is streamed");
        check(chat.branches().size() > branches.size(), "there are new branches");
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("does not hold: " + what);
        }
    }
}
