package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.Recall;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.AskedConversation.Turn;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.Recalled.Passage;
import io.github.keepsake4j.recall.WrittenChat.Asked;
import io.github.keepsake4j.recall.WrittenChat.FollowUp;
import io.github.keepsake4j.recall.WrittenChat.Line;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Measures the recall of 20 facts in chats of 600 messages in three languages, through {@link Keepsake#recall()}.
 * Counts the paraphrases and mistyped questions that find the fact among the first 10, the questions for what the assistant
 * said that do, and the follow-ups. Of 100 questions and greetings
 * about what was never said, counts those that retrieve nothing, and those that retrieve something without their words.
 * {@link OwnChatTest} says what the chats are like.
 *
 * <p>Run it with {@code mvn test-compile exec:java -Dexec.mainClass=io.github.keepsake4j.recall.OwnChatBenchmark
 * -Dexec.args="[class of the embedding model] [missed]"}. With {@code missed}, prints each question that goes wrong.
 */
public final class OwnChatBenchmark {

    private static final List<String> LANGUAGES = List.of("en", "zh", "de");

    /** The memory that a model is shown, which has none of the messages. */
    private static final ConversationKey NOBODY = ConversationKey.of("benchmark", "nobody");

    private static final RecallOptions OPTIONS = RecallOptions.standard()
            .withMaxTokens(Integer.MAX_VALUE)
            .withMaxPassages(10)
            .withNeighbours(0)
            .shownTo(NOBODY);

    private final String language;
    private final MemoryKey key;
    private final WrittenChat chat;
    private final boolean printMissed;

    private OwnChatBenchmark(String language, boolean printMissed) {
        this.language = language;
        this.key = ConversationKey.of("benchmark", language);
        this.chat = WrittenChat.read("own-" + language);
        this.printMissed = printMissed;
    }

    /** Runs the benchmark. */
    public static void main(String[] args) throws Exception {
        List<String> arguments = List.of(args);
        Optional<String> model =
                arguments.stream().filter(arg -> !arg.equals("missed")).findFirst();
        for (String language : LANGUAGES) {
            OwnChatBenchmark benchmark = new OwnChatBenchmark(language, arguments.contains("missed"));
            benchmark.run("words alone", null);
            if (model.isPresent()) {
                Object made = Class.forName(model.get()).getConstructor().newInstance();
                benchmark.run(made.getClass().getSimpleName(), new CountingModel((EmbeddingModel) made));
            }
        }
        System.exit(0);
    }

    private void run(String name, @Nullable CountingModel model) throws Exception {
        ThreadPoolExecutor executor = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
        try (MessageLog log = new InMemoryMessageLog();
                MessageIndex index = new InMemoryMessageIndex()) {
            log.append(
                    key,
                    Append.under(
                            Parent.head(),
                            chat.lines().stream().map(OwnChatBenchmark::message).toList()));
            Keepsake.Builder builder = Keepsake.builder()
                    .messageLog(log)
                    .index(index)
                    .tenant(key.tenant())
                    .executor(executor);
            if (model != null) {
                // Loaded by its name, as the model is: this benchmark also measures versions without meaning.
                builder.getClass()
                        .getMethod("embeddingModel", EmbeddingModel.class, String.class)
                        .invoke(builder, model, name);
            }
            Recall recall = builder.build().recall();
            recall.find(Scope.memory(key), "wake the indexer", OPTIONS);
            while (!isIndexed(index)
                    || (model != null && model.embedded.get() < chat.lines().size())
                    || executor.getActiveCount() > 0) {
                TimeUnit.MILLISECONDS.sleep(50);
            }
            System.out.printf(
                    Locale.ROOT,
                    "%s, %s: hit@10 of paraphrases %d of %d, of typos %d of %d, of the "
                            + "assistant's %d of %d (Lucene %d), of follow-ups %d of %d; nothing for %d of %d, something without a word for %d%n",
                    language,
                    name,
                    hits(recall, chat.questions()),
                    chat.questions().size(),
                    hits(recall, chat.typos()),
                    chat.typos().size(),
                    hits(recall, chat.ofAssistant()),
                    chat.ofAssistant().size(),
                    hitsOfLucene(),
                    followed(recall, log),
                    chat.followUps().size(),
                    nothing(recall),
                    chat.unanswered().size(),
                    withoutWord(recall));
        } finally {
            executor.shutdown();
        }
    }

    private static NewMessage message(Line line) {
        ChatMessage message = line.user() ? UserMessage.from(line.text()) : AiMessage.from(line.text());
        return new NewMessage(Integer.toString(line.number()), message, 1, "none", line.time());
    }

    private boolean isIndexed(MessageIndex index) {
        Watermark watermark = index.watermarks(List.of(key)).get(key);
        return watermark != null && watermark.sequence() == chat.lines().size();
    }

    private long hits(Recall recall, List<Asked> questions) {
        return questions.stream()
                .filter(asked -> isRight(finds(recall, asked), asked.text()))
                .count();
    }

    private long hitsOfLucene() throws IOException {
        List<Turn> turns = chat.lines().stream()
                .map(line -> new Turn(Integer.toString(line.number()), "", !line.user(), line.time(), line.text()))
                .toList();
        Set<String> all = turns.stream().map(Turn::id).collect(Collectors.toSet());
        long hits = 0;
        try (LuceneBm25 lucene = new LuceneBm25(turns)) {
            for (Asked asked : chat.ofAssistant()) {
                hits += lucene.best(asked.text(), 10, all).contains(Integer.toString(asked.answer())) ? 1 : 0;
            }
        }
        return hits;
    }

    /** Counts the follow-ups that find the fact after what the user says before them in another memory. */
    private long followed(Recall recall, MessageLog log) {
        long hits = 0;
        for (FollowUp followUp : chat.followUps()) {
            NewMessage before = NewMessage.of(UserMessage.from(followUp.before()), 1, "none");
            log.append(NOBODY, Append.under(Parent.head(), List.of(before)));
            hits += isRight(finds(recall, followUp.asked()), followUp.asked().text()) ? 1 : 0;
        }
        return hits;
    }

    private boolean finds(Recall recall, Asked asked) {
        String id = Integer.toString(asked.answer());
        return found(recall, asked.text()).stream()
                .anyMatch(passage -> passage.message().id().equals(id));
    }

    private long nothing(Recall recall) {
        return chat.unanswered().stream()
                .filter(text -> isRight(found(recall, text).isEmpty(), text))
                .count();
    }

    /** Counts the questions that recall a message though no word of theirs is in it or its neighbours. */
    private long withoutWord(Recall recall) {
        return chat.unanswered().stream()
                .filter(text -> found(recall, text).stream()
                        .anyMatch(passage -> passage.features().words() == 0))
                .count();
    }

    private boolean isRight(boolean right, String text) {
        if (!right && printMissed) {
            System.out.println("    missed: " + text);
        }
        return right;
    }

    private List<Passage> found(Recall recall, String question) {
        return recall.find(Scope.memory(key), question, OPTIONS).passages();
    }

    /** Counts the messages that were embedded. */
    private static final class CountingModel implements EmbeddingModel {

        private final EmbeddingModel model;
        private final AtomicInteger embedded = new AtomicInteger();

        CountingModel(EmbeddingModel model) {
            this.model = model;
        }

        @Override
        public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
            Response<List<Embedding>> response = model.embedAll(segments);
            embedded.addAndGet(segments.size());
            return response;
        }

        @Override
        public int dimension() {
            return model.dimension();
        }
    }
}
