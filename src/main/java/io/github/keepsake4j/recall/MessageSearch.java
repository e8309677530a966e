package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.model.embedding.EmbeddingModel;
import io.github.keepsake4j.backend.ObservedLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.Candidates.Candidate;
import io.github.keepsake4j.recall.SearchResult.Highlight;
import io.github.keepsake4j.recall.SearchResult.Hit;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Searches logs with an index, and keeps the index up to date. This class is not for users: a {@code Keepsake} has one.
 * It needs no closing. Thread-safe.
 */
public final class MessageSearch {

    /**
     * The largest number of postings that a search reads. Twice as many cost twice as much and change few of the first hits.
     */
    static final int MAX_POSTINGS = 20_000;

    /** The largest number of messages that a search looks up in the log. */
    private static final int MAX_CHECKED = 500;

    private final Function<MemoryKey, MessageLog> logs;
    private final Words words;
    private final Indexer indexer;
    private final Finder finder;
    private final @Nullable Meanings meanings;

    /**
     * An embedding model, by which recall finds messages of the same meaning.
     *
     * @param model the model
     * @param name identifies the model; vectors of another name are not used
     * @param calls runs the calls for questions, each of which may hang
     * @param limit the time limit of a question's call
     * @param metrics is told of the questions for which the model failed
     */
    public record Embedding(EmbeddingModel model, String name, Executor calls, Duration limit, Metrics metrics) {}

    /**
     * Creates a search. Nothing is read or written before {@link #start}, a search, or a change of a {@linkplain #watched
     * watched} log.
     *
     * @param index the index, which the caller closes when the logs are no longer used
     * @param logs returns the log that keeps a memory
     * @param allLogs all of these logs
     * @param words the splitter of texts into terms
     * @param executor runs the indexer
     * @param later returns an executor that runs something after a pause
     */
    public MessageSearch(
            MessageIndex index,
            Function<MemoryKey, MessageLog> logs,
            Collection<MessageLog> allLogs,
            Words words,
            Executor executor,
            Function<Duration, Executor> later) {
        this(index, logs, allLogs, words, executor, later, null);
    }

    /**
     * Creates a search that also knows the meaning of messages.
     *
     * @param index the index, which the caller closes when the logs are no longer used
     * @param logs returns the log that keeps a memory
     * @param allLogs all of these logs
     * @param words the splitter of texts into terms
     * @param executor runs the indexer
     * @param later returns an executor that runs something after a pause
     * @param embedding the embedding model, or null for none
     */
    public MessageSearch(
            MessageIndex index,
            Function<MemoryKey, MessageLog> logs,
            Collection<MessageLog> allLogs,
            Words words,
            Executor executor,
            Function<Duration, Executor> later,
            @Nullable Embedding embedding) {
        this.logs = logs;
        this.words = words;
        Embedder embedder = null;
        Meanings found = null;
        if (embedding != null) {
            Embeddings embeddings = new Embeddings(embedding.model(), embedding.name());
            embedder = new Embedder(index, logs, words, embeddings, executor, later, Indexer.Settings.STANDARD);
            found = new Meanings(index, embeddings, embedding.calls(), embedding.limit(), embedding.metrics());
        }
        this.meanings = found;
        this.indexer = new Indexer(index, logs, allLogs, words, executor, later, Indexer.Settings.STANDARD, embedder);
        this.finder = new Finder(InvalidInputException.given("index", index), logs, indexer, words, MAX_POSTINGS);
    }

    MessageSearch(
            MessageIndex index, Function<MemoryKey, MessageLog> logs, Words words, Indexer indexer, int maxPostings) {
        this.logs = logs;
        this.words = words;
        this.indexer = indexer;
        this.meanings = null;
        this.finder = new Finder(index, logs, indexer, words, maxPostings);
    }

    /**
     * Begins to index the messages of the logs.
     *
     * @param tenant the tenant that is indexed first; others follow when they are used
     */
    public void start(String tenant) {
        indexer.start(tenant);
    }

    /**
     * Returns a log whose changes are indexed soon.
     *
     * @param log the log behind
     * @return a log that adds no statement to any call
     */
    public MessageLog watched(MessageLog log) {
        return new ObservedLog(log, new ObservedLog.Observer() {
            @Override
            public void appended(MemoryKey key) {
                indexer.changed(key);
            }

            @Override
            public void erased(MemoryKey key) {
                indexer.changed(key);
            }
        });
    }

    /**
     * Removes a memory from the index now.
     *
     * @param key the memory
     */
    public void remove(MemoryKey key) {
        indexer.remove(key);
    }

    /**
     * Removes the memories of a tenant that no longer exist from the index now.
     *
     * @param tenant the tenant's id
     */
    public void removeErased(String tenant) {
        indexer.removeErased(tenant);
    }

    /** Returns the log that keeps a memory. */
    MessageLog log(MemoryKey key) {
        return logs.apply(key);
    }

    /** Returns the splitter of texts into terms. */
    Words words() {
        return words;
    }

    /** Returns the finder of candidates, for recall. */
    Finder finder() {
        indexer.open();
        return finder;
    }

    /**
     * Compares the meaning of a question with that of messages. Without a model, all are equally far from it.
     *
     * @param question returns the question, if there is a model
     * @param others messages that are compared even if they are not among the newest of the scope
     */
    Meaning meaning(Scope scope, Supplier<String> question, Map<MemoryKey, Set<Long>> others, Duration sessionGap) {
        return meanings == null ? Meaning.NONE : meanings.of(scope, question.get(), others, sessionGap);
    }

    /**
     * Returns what identifies the vectors of the embedding model. Call it only after the model has made a vector.
     *
     * @return the model's name and dimension
     */
    public String vectorId() {
        return meanings == null ? "" : meanings.id();
    }

    /**
     * Makes the vector of a question. Waits no longer than a recall does.
     *
     * @param question any text
     * @return the vector; empty if there is no model, or it fails or is too slow
     */
    public Optional<float[]> vectorOfQuestion(String question) {
        return meanings == null ? Optional.empty() : meanings.ofQuestion(question);
    }

    /**
     * Makes the vectors of texts.
     *
     * @param texts any texts
     * @return a vector for each text that has a direction; empty if there is no model, or it fails or is too slow
     */
    public Optional<List<Optional<float[]>>> vectorsOf(List<String> texts) {
        return meanings == null ? Optional.empty() : meanings.ofTexts(texts);
    }

    /**
     * Searches messages.
     *
     * @param scope where to look
     * @param text the user's words; any text
     * @param options how to look
     * @return a page of hits
     */
    public SearchResult search(Scope scope, String text, SearchOptions options) {
        indexer.open();
        Query query = Query.of(text, words);
        if (query.terms().isEmpty()) {
            return new SearchResult(List.of(), false, Optional.empty());
        }
        Heads heads = new Heads(logs);
        Candidates candidates =
                finder.find(scope, query.terms(), Finder.Times.NONE, MAX_CHECKED + options.offset(), heads);
        Page page = new Page(query, options, candidates.keys(), heads);
        page.fill(candidates.best());
        return page.result(candidates.lagging());
    }

    /** A page of hits while it is filled. */
    private final class Page {

        private final Query query;
        private final SearchOptions options;
        private final Map<Long, MemoryKey> keys;
        private final Heads heads;
        private final List<Hit> hits = new ArrayList<>();
        private final Map<MemoryKey, Visible> visible = new HashMap<>();
        private int skipped;

        /** The place of candidates, and the score of the best of them. */
        private record Scored(MemoryKey key, long sequence, double score) {}

        Page(Query query, SearchOptions options, Map<Long, MemoryKey> keys, Heads heads) {
            this.query = query;
            this.options = options;
            this.keys = keys;
            this.heads = heads;
        }

        /** One hit more than the page shows that there is a next page. */
        private int missing() {
            return options.pageSize() + 1 - hits.size();
        }

        /**
         * Looks up as many candidates as hits are missing, and doubles the number each time that some do not match the
         * options.
         */
        void fill(List<Candidate> best) {
            List<Scored> places = places(best);
            int batch = missing() + options.offset();
            for (int from = 0; from < places.size() && missing() > 0; batch *= 2) {
                List<Scored> next = places.subList(from, Math.min(places.size(), from + batch));
                Map<MemoryKey, Collection<Long>> sequences = new LinkedHashMap<>();
                next.forEach(place -> sequences
                        .computeIfAbsent(place.key(), key -> new LinkedHashSet<>())
                        .add(place.sequence()));
                Map<MemoryKey, Set<Long>> around = new LinkedHashMap<>();
                sequences.forEach((key, of) -> around.put(key, Finder.around(of, SearchOptions.MAX_NEIGHBOURS)));
                Map<MemoryKey, NavigableMap<Long, LoggedMessage>> read = finder.at(around);
                if (options.currentBranch()) {
                    sequences.replaceAll((key, of) -> visible(key).onBranch(of));
                }
                for (Scored place : next) {
                    if (missing() > 0
                            && sequences.getOrDefault(place.key(), List.of()).contains(place.sequence())) {
                        check(place, read.getOrDefault(place.key(), Collections.emptyNavigableMap()));
                    }
                }
                from += next.size();
            }
        }

        private List<Scored> places(List<Candidate> best) {
            List<Scored> places = new ArrayList<>();
            Map<MemoryKey, Set<Long>> known = new HashMap<>();
            for (Candidate candidate : best) {
                Posting posting = candidate.posting();
                MemoryKey key = keys.get(posting.memory());
                boolean isWanted = options.types().contains(posting.type()) || posting.type() == ChatMessageType.CUSTOM;
                if (key != null
                        && isWanted
                        && known.computeIfAbsent(key, k -> new HashSet<>()).add(posting.sequence())) {
                    places.add(new Scored(key, posting.sequence(), candidate.score()));
                }
            }
            return places;
        }

        private void check(Scored place, NavigableMap<Long, LoggedMessage> read) {
            MemoryKey key = place.key();
            long sequence = place.sequence();
            LoggedMessage message = read.get(sequence);
            if (message == null || !isWanted(key, message)) {
                return;
            }
            Collection<LoggedMessage> around = read.subMap(
                            sequence - SearchOptions.MAX_NEIGHBOURS, sequence + SearchOptions.MAX_NEIGHBOURS + 1)
                    .values();
            // A memory that was erased and written again may have another message at this place.
            String text = IndexedText.of(message);
            List<Highlight> highlights = query.highlights(text, words);
            if (highlights.isEmpty()) {
                return;
            }
            if (skipped < options.offset()) {
                skipped++;
                return;
            }
            List<LoggedMessage> before = new ArrayList<>(chain(message, one -> parent(key, one, around)));
            Collections.reverse(before);
            List<LoggedMessage> after = chain(message, one -> child(one, around));
            hits.add(new Hit(place.score(), key, message, text, before, after, highlights));
        }

        private boolean isWanted(MemoryKey key, LoggedMessage message) {
            Instant time = message.createdAt();
            return options.types().contains(message.message().type())
                    && (options.from() == null || !time.isBefore(options.from()))
                    && (options.to() == null || time.isBefore(options.to()))
                    && (!options.visibleOnly() || visible(key).shows(message));
        }

        private Visible visible(MemoryKey key) {
            return visible.computeIfAbsent(key, k -> new Visible(logs.apply(k), k, heads));
        }

        /** Returns what follows a message, one after another, as far as it is shown. */
        private List<LoggedMessage> chain(LoggedMessage from, Function<LoggedMessage, Optional<LoggedMessage>> next) {
            return Stream.iterate(Optional.of(from), Optional::isPresent, one -> one.flatMap(next))
                    .skip(1)
                    .limit(options.neighbours())
                    .flatMap(Optional::stream)
                    .toList();
        }

        private Optional<LoggedMessage> parent(MemoryKey key, LoggedMessage of, Collection<LoggedMessage> around) {
            String parent = of.parentId();
            return parent == null
                    ? Optional.empty()
                    : around.stream()
                            .filter(one -> one.id().equals(parent))
                            .findFirst()
                            .or(() -> Reads.message(logs.apply(key), key, parent));
        }

        private static Optional<LoggedMessage> child(LoggedMessage of, Collection<LoggedMessage> around) {
            return around.stream().filter(one -> of.id().equals(one.parentId())).reduce((earlier, later) -> later);
        }

        SearchResult result(boolean lagging) {
            boolean more = hits.size() > options.pageSize();
            int next = options.offset() + options.pageSize();
            List<Hit> shown = more ? hits.subList(0, options.pageSize()) : hits;
            return new SearchResult(
                    finder.stillThere(shown, Hit::key, hit -> List.of(hit.message())),
                    lagging,
                    more && next <= SearchOptions.MAX_OFFSET ? Optional.of(options.at(next)) : Optional.empty());
        }
    }

    /** The visible messages of a memory. Read once for a search, when they are needed. */
    static final class Visible {

        private final MessageLog log;
        private final MemoryKey key;
        private final Heads heads;
        private final Map<String, Long> sequences = new HashMap<>();

        Visible(MessageLog log, MemoryKey key, Heads heads) {
            this.log = log;
            this.key = key;
            this.heads = heads;
        }

        /** Returns whether a message neither failed nor was hidden. */
        boolean shows(LoggedMessage message) {
            if (endedBadly(message)) {
                return false;
            }
            View view = heads.of(key).view();
            return view == null || message.sequence() > view.anchorSequence() || isInRun(message, view);
        }

        static boolean endedBadly(LoggedMessage message) {
            Outcome outcome = message.outcome();
            return outcome != null && outcome.kind() != Outcome.Kind.INCOMPLETE;
        }

        private boolean isInRun(LoggedMessage message, View view) {
            for (View.Run run : view.runs()) {
                long after = run.after() == null ? 0 : sequence(run.after());
                if (message.sequence() > after && message.sequence() <= sequence(run.last())) {
                    return true;
                }
            }
            return false;
        }

        private long sequence(String id) {
            return sequences.computeIfAbsent(id, unknown -> Reads.message(log, key, unknown)
                    .map(LoggedMessage::sequence)
                    .orElse(0L));
        }

        /** Returns the messages that are before the place where the memory goes on. */
        Set<Long> onBranch(Collection<Long> messages) {
            return Reads.onBranch(log, key, heads.end(key), messages);
        }
    }
}
