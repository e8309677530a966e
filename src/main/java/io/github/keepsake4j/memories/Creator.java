package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.memories.Discussion.Run.End;
import io.github.keepsake4j.memories.Progress.Step;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.text.TranscriptText;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates chunks and facts of the new messages of a conversation, and folds chunks into the summary. A lease allows one
 * creator for a discussion. If two work at the same time because a lease expired, the store refuses the results of the
 * second.
 */
final class Creator {

    /** The least number of messages of a conversation from which memories are created. */
    private static final int FEWEST_MESSAGES = 3;

    private static final int RECENT_CHUNKS = 3;
    private static final int KNOWN_FACTS = 10;
    private static final int MAX_TOOL_RESULT_CHARS = 1_000;
    private static final double FILL = 0.8;
    private static final Logger LOG = LoggerFactory.getLogger(Creator.class);
    private static final String LEASE = "memories";
    private static final String SUMMARY_LEASE = "summary";

    private final LongTermMemoryStore store;
    private final DiscussionConfig config;
    final NamedWorkflow memories;
    private final NamedWorkflow summaries;
    private final TokenCountEstimator estimator;
    private final Duration leaseDuration;
    private final Clock clock;

    Creator(Discussions.Builder builder) {
        store = builder.store;
        config = builder.config;
        Workflows named = builder.workflows();
        memories = config.memories(named);
        summaries = config.summaries(named);
        estimator = builder.estimator;
        leaseDuration = builder.leaseDuration;
        clock = builder.clock;
    }

    private Creator(Creator other, LongTermMemoryStore store) {
        this.store = store;
        config = other.config;
        memories = other.memories;
        summaries = other.summaries;
        estimator = other.estimator;
        leaseDuration = other.leaseDuration;
        clock = other.clock;
    }

    /** Returns a creator with the same configuration for another store. */
    Creator on(LongTermMemoryStore other) {
        return new Creator(this, other);
    }

    /**
     * Makes all memories that are due.
     *
     * @param isAgain whether skipped passages are tried again
     * @param onPassedBy called for each skipped passage
     */
    Discussion.Run create(MemoryKey key, List<SourceMessage> messages, boolean isAgain, Runnable onPassedBy) {
        if (messages.size() < FEWEST_MESSAGES) {
            return new Discussion.Run(End.TOO_SHORT, List.of(), List.of());
        }
        return withLease(key, LEASE, owner -> new Run(key, messages, owner, isAgain, onPassedBy).run());
    }

    private Discussion.Run withLease(MemoryKey key, String name, Function<String, Discussion.Run> work) {
        String owner = Ids.next();
        if (store.acquireLease(key, name, owner, leaseDuration).isEmpty()) {
            return new Discussion.Run(End.BUSY, List.of(), List.of());
        }
        try {
            return work.apply(owner);
        } finally {
            store.releaseLease(key, name, owner);
        }
    }

    /** One run over the messages at hand. */
    private final class Run {

        private final MemoryKey key;
        private final List<SourceMessage> messages;
        private final String owner;
        private final boolean isAgain;
        private final Runnable onPassedBy;
        private final MadeMemory.Kind kind = config.kind();
        private final int size = config.passages.size();
        private final List<String> chain;
        private final int end;
        private final List<MadeMemory> made = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();

        /** The passages that this run tried, with the reasons of failures. Each passage is tried once. */
        private final Map<Passage, String> tried = new HashMap<>();

        /** The texts and tokens of the messages that were needed so far. */
        private final String[] texts;

        private final int[] tokens;

        Run(MemoryKey key, List<SourceMessage> messages, String owner, boolean isAgain, Runnable onPassedBy) {
            this.key = key;
            this.messages = messages;
            this.owner = owner;
            this.isAgain = isAgain;
            this.onPassedBy = onPassedBy;
            this.chain = MessageHashes.chain(messages);
            this.end = Math.max(0, messages.size() - config.passages.lookback());
            this.texts = new String[messages.size()];
            this.tokens = new int[messages.size()];
        }

        Discussion.Run run() {
            while (true) {
                Progress progress = store.progress(key, kind);
                Alignment at = Alignment.of(progress, messages, chain);
                if (at.head() != progress.head()) {
                    store.moveTo(key, kind, progress.revision(), at.head());
                    continue;
                }
                List<Passage> passedBy = progress.path().stream()
                        .filter(Step::isPassedBy)
                        .map(Step::passage)
                        .filter(this::isHere)
                        .toList();
                Optional<Passage> again = passedBy.stream()
                        .filter(passage -> isAgain && !tried.containsKey(passage))
                        .findFirst();
                if (again.isEmpty() && !isDue(at.covered())) {
                    return ended(End.UP_TO_DATE, passedBy);
                }
                Passage passage = again.orElseGet(() -> passage(at.covered(), fill(progress, at.covered())));
                End stopped = process(progress, passage);
                if (stopped != End.UP_TO_DATE) {
                    return ended(stopped, passedBy);
                }
            }
        }

        private Discussion.Run ended(End why, List<Passage> passedBy) {
            for (Passage passage : passedBy) {
                problems.add(place(passage) + " are skipped" + tried.getOrDefault(passage, "")
                        + ". Discussion.retry or LongTermMemories.make tries them again");
            }
            return new Discussion.Run(why, made, problems);
        }

        private boolean isHere(Passage passage) {
            return end(passage) > begin(passage)
                    && (begin(passage) > 0 || passage.after().isEmpty());
        }

        /** Returns the number of messages before a passage. */
        private int begin(Passage passage) {
            return chain.indexOf(passage.after()) + 1;
        }

        /** Returns the number of messages up to its end, or 0 if it does not belong to these messages. */
        private int end(Passage passage) {
            return chain.indexOf(passage.upTo()) + 1;
        }

        private String place(Passage passage) {
            return "messages " + (begin(passage) + 1) + " to " + end(passage);
        }

        private boolean isDue(int from) {
            if (end - from >= config.passages.maxMessages()) {
                return true;
            }
            long sum = 0;
            for (int i = from; i < end && sum < size; i++) {
                sum += tokens(i);
            }
            return end > from && sum >= size;
        }

        /**
         * Creates the memories of one passage. Returns why the run must end, or {@link End#UP_TO_DATE} if it continues.
         */
        private End process(Progress progress, Passage passage) {
            Step step = progress.next(passage);
            tried.put(passage, "");
            List<MadeMemory> memoriesOfPassage = new ArrayList<>();
            List<String> skipped = new ArrayList<>();
            try {
                Trust trust = trust(begin(passage), end(passage));
                for (String part : parts(begin(passage), end(passage))) {
                    if (store.acquireLease(key, LEASE, owner, leaseDuration).isEmpty()) {
                        return End.BUSY;
                    }
                    if (kind == MadeMemory.Kind.CHUNK) {
                        MadeMemory chunk = chunk(passage, part, trust, memoriesOfPassage);
                        if (chunk == null) {
                            return failed(progress, step, null);
                        }
                        memoriesOfPassage.add(chunk);
                    } else {
                        String answer = memories.run(inputs(part, trust));
                        if (answer == null) {
                            return failed(progress, step, null);
                        }
                        FactsJson facts = FactsJson.read(answer, passage, trust, replaced(step, trust));
                        memoriesOfPassage.addAll(facts.facts());
                        skipped.addAll(facts.problems());
                    }
                }
            } catch (StorageUnavailableException e) {
                throw Creator.failed(key, place(passage), memories, e);
            } catch (RuntimeException e) {
                return failed(progress, step, e);
            }
            List<MadeMemory> signed = memoriesOfPassage.stream()
                    .map(memory -> memory.madeBy(memories.workflow().model(), memories.version(), clock.instant()))
                    .toList();
            if (store.acquireLease(key, LEASE, owner, leaseDuration).isEmpty()) {
                return End.BUSY;
            }
            if (step.isPassedBy() && kind == MadeMemory.Kind.CHUNK) {
                // They say nothing of it.
                LongTermMemoriesOfConversation.forgetSummaries(store, key, passage);
            }
            if (store.add(key, kind, progress.revision(), passage, signed)) {
                made.addAll(signed);
                problems.addAll(skipped);
            }
            return End.UP_TO_DATE;
        }

        /** Counts a failed try. Returns why the run ends, or {@link End#UP_TO_DATE} if the passage is skipped. */
        private End failed(Progress progress, Step step, @Nullable RuntimeException e) {
            Passage passage = step.passage();
            String reason = e == null ? "the answer is blank" : reason(e);
            tried.put(passage, " (" + reason + ")");
            if (step.isPassedBy()) {
                return End.UP_TO_DATE;
            }
            boolean isCounted = store.addFailure(key, kind, progress.revision(), passage);
            if (isCounted && step.failed().isPassedBy()) {
                LOG.warn(
                        "Memories of {}: {} are skipped, because {} tries of {} failed ({}). Discussion.retry or"
                                + " LongTermMemories.make tries them again",
                        key,
                        place(passage),
                        Step.MAX_FAILURES,
                        memories.name(),
                        reason);
                onPassedBy.run();
                return End.UP_TO_DATE;
            }
            if (e == null) {
                return End.BLANK;
            }
            throw Creator.failed(key, place(passage), memories, e);
        }

        /**
         * Returns the inputs of a workflow for facts: a text and, if the workflow reads them, the titles and summaries
         * of similar facts. These have at least the trust of the text, so they may be sources too.
         */
        private List<String> inputs(String text, Trust trust) {
            if (!memories.workflow().readsKnownFacts()) {
                return List.of(text);
            }
            String known = store.search(key, new FactQuery(List.of(text), KNOWN_FACTS, trust)).stream()
                    .map(found -> "- " + oneLine(found.memory().title()) + ": "
                            + oneLine(found.memory().summary()))
                    .collect(Collectors.joining("\n"));
            return List.of(text, known);
        }

        /**
         * Returns the fact of a title that a fact may replace: a fact that is not trusted more and not pinned. A fact
         * that is created late replaces none, because its messages are older.
         */
        private Function<String, @Nullable String> replaced(Step step, Trust trust) {
            return title -> step.isPassedBy()
                    ? null
                    : store.facts(key, Integer.MAX_VALUE).stream()
                            .filter(fact -> fact.title().equalsIgnoreCase(title) && trust.isAtLeast(fact.trust()))
                            .filter(fact -> !fact.pinned())
                            .reduce((older, newer) -> newer)
                            .map(MadeMemory::id)
                            .orElse(null);
        }

        /**
         * Returns the chunk of a part, or null if the answer is blank. The workflow may read the chunks of the parts
         * before.
         */
        private @Nullable MadeMemory chunk(Passage passage, String part, Trust trust, List<MadeMemory> before) {
            boolean readsMemories = memories.workflow().readsMemories();
            List<MadeMemory> all = new ArrayList<>();
            if (readsMemories) {
                all.addAll(store.chunks(key, Integer.MAX_VALUE));
                all.addAll(before);
            }
            MadeMemory summary = readsMemories ? store.summary(key) : null;
            String answer = memories.run(List.of(
                    part,
                    LongTermMemoriesOfDiscussion.join(Overview.newest(all, RECENT_CHUNKS)),
                    LongTermMemoriesOfDiscussion.join(all),
                    summary == null ? "" : summary.text()));
            if (answer == null) {
                return null;
            }
            List<Trust> sources = new ArrayList<>(List.of(trust));
            all.forEach(memory -> sources.add(memory.trust()));
            if (summary != null) {
                sources.add(summary.trust());
            }
            return MadeMemory.ofText(MadeMemory.Kind.CHUNK, clean(answer), passage, Trust.least(sources));
        }

        /**
         * Returns the end of the next passage. A passage that failed before keeps its end, so that its tries are
         * counted. Otherwise the passage has whole messages up to the size of a chunk, and at least one.
         */
        private int fill(Progress progress, int from) {
            Optional<Passage> failed = progress.steps().stream()
                    .filter(step -> step.parent() == progress.head() && step.failures() > 0)
                    .map(Step::passage)
                    .filter(passage -> isHere(passage) && begin(passage) == from && end(passage) <= end)
                    .findFirst();
            if (failed.isPresent()) {
                return end(failed.get());
            }
            double room = FILL * size - tokens(from);
            int to = from + 1;
            while (to < end && tokens(to) <= room) {
                room -= tokens(to);
                to++;
            }
            return to;
        }

        /**
         * Returns the inputs of the workflow for messages: one text, or the parts of a single message that is longer
         * than a chunk.
         */
        private List<String> parts(int from, int to) {
            List<String> whole = new ArrayList<>();
            for (int i = from; i < to; i++) {
                boolean isLong = tokens(i) > size;
                if (isLong && to == from + 1) {
                    return split(texts[i]);
                }
                whole.add(texts[i]);
            }
            return List.of(String.join("\n", whole));
        }

        /** Each part says who speaks. */
        private List<String> split(String text) {
            String speaker = text.substring(0, text.indexOf(": ") + 2);
            String said = text.substring(speaker.length());
            int room = (int) (FILL * size);
            int rest = Math.max(room / 2, room - estimator.estimateTokenCountInText(speaker));
            return new TextParts(rest, estimator)
                    .of(said).stream()
                            .filter(part -> !part.isBlank())
                            .map(part -> speaker + part.strip())
                            .toList();
        }

        private int tokens(int index) {
            if (texts[index] == null) {
                ChatMessage message = messages.get(index).message();
                String text = String.join("", TranscriptText.of(List.of(message), MAX_TOOL_RESULT_CHARS));
                texts[index] = text;
                tokens[index] = estimator.estimateTokenCountInText(text);
            }
            return tokens[index];
        }

        private Passage passage(int from, int to) {
            List<String> ids = new ArrayList<>();
            for (SourceMessage message : messages.subList(from, to)) {
                if (message.id() != null) {
                    ids.add(message.id());
                }
            }
            return new Passage(
                    ids,
                    to - from,
                    MessageHashes.of(messages.get(to - 1).message()),
                    from == 0 ? "" : chain.get(from - 1),
                    chain.get(to - 1));
        }

        private Trust trust(int from, int to) {
            return Trust.least(messages.subList(from, to).stream()
                    .map(SourceMessage::trust)
                    .toList());
        }
    }

    /**
     * Returns the reason of an error. The message of a foreign exception may quote the request, so only the message of
     * this library's exceptions is returned.
     */
    private static String reason(RuntimeException e) {
        return e instanceof LongTermMemoryFailedException
                ? String.valueOf(e.getMessage())
                : e.getClass().getSimpleName();
    }

    private static LongTermMemoryFailedException failed(
            MemoryKey key, String what, NamedWorkflow workflow, RuntimeException e) {
        return new LongTermMemoryFailedException(
                "Discussion " + key + ": " + workflow.name() + " created no memory of " + what + " (" + reason(e)
                        + "). The next run tries them again",
                e instanceof LongTermMemoryFailedException ? e.getCause() : e);
    }

    /** Folds new chunks into the summary if there are enough of them. */
    Discussion.Run summarize(MemoryKey key) {
        return withLease(key, SUMMARY_LEASE, owner -> summarize(key, owner));
    }

    private Discussion.Run summarize(MemoryKey key, String owner) {
        List<MadeMemory> made = new ArrayList<>();
        int least = config.minMemoriesPerSummary;
        while (true) {
            Progress progress = store.progress(key, MadeMemory.Kind.CHUNK);
            List<MadeMemory> versions = store.summaries(key);
            MadeMemory current = progress.holding(versions);
            List<MadeMemory> fresh = unfolded(progress, store.chunks(key, Integer.MAX_VALUE), current);
            if (fresh.size() < least || fresh.isEmpty()) {
                return new Discussion.Run(End.UP_TO_DATE, made, List.of());
            }
            int size = Math.min(config.loopIfMemoriesExceed, fresh.size());
            while (size < fresh.size()
                    && fresh.get(size).source().equals(fresh.get(size - 1).source())) {
                // A summary reaches to the end of a passage.
                size++;
            }
            List<MadeMemory> batch = fresh.subList(0, size);
            String answer;
            try {
                answer = summaries.run(
                        List.of(LongTermMemoriesOfDiscussion.join(batch), current == null ? "" : current.text()));
            } catch (RuntimeException e) {
                throw failed(key, "the newest " + fresh.size() + " chunks", summaries, e);
            }
            if (answer == null) {
                return new Discussion.Run(End.BLANK, made, List.of());
            }
            if (store.acquireLease(key, SUMMARY_LEASE, owner, leaseDuration).isEmpty()) {
                return new Discussion.Run(End.BUSY, made, List.of());
            }
            List<Trust> sources =
                    new ArrayList<>(batch.stream().map(MadeMemory::trust).toList());
            if (current != null) {
                sources.add(current.trust());
            }
            MadeMemory version = MadeMemory.ofText(
                            MadeMemory.Kind.SUMMARY,
                            clean(answer),
                            batch.get(batch.size() - 1).source(),
                            Trust.least(sources))
                    .madeBy(summaries.workflow().model(), summaries.version(), clock.instant());
            if (store.addSummary(key, versions.size(), progress.revision(), version)) {
                made.add(version);
                // The rest of a long backlog is folded too.
                least = 1;
            }
        }
    }

    /**
     * Returns the chunks behind the last one in a summary. A correction has the place of the chunk that it corrects.
     * Other chunks that were made by hand have no place and are left out.
     */
    private static List<MadeMemory> unfolded(Progress progress, List<MadeMemory> chunks, @Nullable MadeMemory summary) {
        List<Passage> path = progress.path().stream().map(Step::passage).toList();
        // The last chunk itself may be forgotten.
        int folded = summary == null ? 0 : path.indexOf(summary.source()) + 1;
        Set<Passage> behind = new HashSet<>(path.subList(folded, path.size()));
        return chunks.stream()
                .filter(chunk -> behind.contains(chunk.source()))
                .sorted(Comparator.comparingInt(chunk -> path.indexOf(chunk.source())))
                .toList();
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }

    private static String clean(String answer) {
        return TranscriptText.clean(answer).strip();
    }
}
