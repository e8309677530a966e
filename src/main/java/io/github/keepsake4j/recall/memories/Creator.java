package io.github.keepsake4j.recall.memories;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.memories.MemoryRun.End;
import io.github.keepsake4j.summary.TranscriptText;
import io.github.keepsake4j.tokens.TextShortener;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes chunks and facts of what is new in a conversation, and folds chunks into the summary. At most one is at work on a
 * discussion, by a lease; and if two are, because a lease expired, the store refuses what the second one made.
 */
final class Creator {

    /** A conversation with fewer messages has nothing to remember. */
    private static final int FEWEST_MESSAGES = 3;

    private static final int RECENT_CHUNKS = 3;
    private static final int MAX_TOOL_RESULT_CHARS = 1_000;
    private static final double FILL = 0.8;
    private static final String LEASE = "memories";
    private static final String SUMMARY_LEASE = "summary";

    private final MemoryStore store;
    private final DiscussionConfig config;
    private final NamedWorkflow memories;
    private final NamedWorkflow summaries;
    private final TokenCountEstimator estimator;
    private final Duration leaseDuration;
    private final Clock clock;

    Creator(
            MemoryStore store,
            DiscussionConfig config,
            NamedWorkflow memories,
            NamedWorkflow summaries,
            TokenCountEstimator estimator,
            Duration leaseDuration,
            Clock clock) {
        this.store = store;
        this.config = config;
        this.memories = memories;
        this.summaries = summaries;
        this.estimator = estimator;
        this.leaseDuration = leaseDuration;
        this.clock = clock;
    }

    /** Makes all memories that are due. */
    MemoryRun create(MemoryKey key, List<SourceMessage> messages) {
        if (messages.size() < FEWEST_MESSAGES) {
            return new MemoryRun(End.TOO_SHORT, List.of(), List.of());
        }
        return withLease(key, LEASE, owner -> new Run(key, messages, owner).run());
    }

    private MemoryRun withLease(MemoryKey key, String name, Function<String, MemoryRun> work) {
        String owner = Ids.next();
        if (store.acquireLease(key, name, owner, leaseDuration).isEmpty()) {
            return new MemoryRun(End.BUSY, List.of(), List.of());
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
        private final MemoryKind kind = config.kind();
        private final List<String> chain;
        private final int end;
        private final List<MadeMemory> made = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();

        /** The texts of the messages and their tokens, of those that were looked at. */
        private final String[] texts;

        private final int[] tokens;

        Run(MemoryKey key, List<SourceMessage> messages, String owner) {
            this.key = key;
            this.messages = messages;
            this.owner = owner;
            this.chain = MessageHashes.chain(messages);
            this.end = Math.max(0, messages.size() - config.lookback());
            this.texts = new String[messages.size()];
            this.tokens = new int[messages.size()];
        }

        MemoryRun run() {
            while (true) {
                Progress progress = store.progress(key, kind);
                Alignment at = Alignment.of(progress, messages, chain);
                if (at.head() != progress.head()) {
                    store.moveTo(key, kind, progress.revision(), at.head());
                } else if (!isDue(at.covered())) {
                    return ended(End.UP_TO_DATE);
                } else {
                    End stopped = process(progress, at.covered());
                    if (stopped != End.UP_TO_DATE) {
                        return ended(stopped);
                    }
                }
            }
        }

        private MemoryRun ended(End why) {
            return new MemoryRun(why, made, problems);
        }

        private boolean isDue(int from) {
            if (end - from >= config.maxMessages()) {
                return true;
            }
            long size = 0;
            for (int i = from; i < end && size < config.chunkSize(); i++) {
                size += tokens(i);
            }
            return end > from && size >= config.chunkSize();
        }

        /** Makes the memories of one passage. Returns why the run must end, or {@link End#UP_TO_DATE} if it goes on. */
        private End process(Progress progress, int from) {
            int to = fill(from);
            Passage passage = passage(from, to);
            String text = String.join("\n", Arrays.asList(texts).subList(from, to));
            List<MadeMemory> memoriesOfPassage = null;
            List<String> skipped = List.of();
            try {
                if (kind == MemoryKind.CHUNK) {
                    memoriesOfPassage = chunk(passage, text, from, to);
                } else {
                    String answer = memories.run(List.of(text));
                    FactsJson facts = answer == null ? null : FactsJson.read(answer, passage, trust(from, to));
                    memoriesOfPassage = facts == null ? null : facts.facts();
                    skipped = facts == null ? skipped : facts.problems();
                }
            } catch (RuntimeException e) {
                throw failed("messages " + (from + 1) + " to " + to, memories, e);
            }
            if (memoriesOfPassage == null) {
                return End.BLANK;
            }
            List<MadeMemory> signed = memoriesOfPassage.stream()
                    .map(memory -> memory.madeBy(memories.workflow().model(), memories.version(), clock.instant()))
                    .toList();
            if (store.acquireLease(key, LEASE, owner, leaseDuration).isEmpty()) {
                return End.BUSY;
            }
            if (store.add(key, kind, progress.revision(), passage, signed)) {
                made.addAll(signed);
                problems.addAll(skipped);
            }
            return End.UP_TO_DATE;
        }

        private @Nullable List<MadeMemory> chunk(Passage passage, String text, int from, int to) {
            boolean readsMemories = memories.workflow().readsMemories();
            List<MadeMemory> all = readsMemories ? store.chunks(key, Integer.MAX_VALUE) : List.of();
            MadeMemory summary = readsMemories ? store.summary(key) : null;
            String answer = memories.run(List.of(
                    text,
                    DiscussionMemories.join(all.subList(Math.max(0, all.size() - RECENT_CHUNKS), all.size())),
                    DiscussionMemories.join(all),
                    summary == null ? "" : summary.text()));
            if (answer == null) {
                return null;
            }
            List<Trust> sources = new ArrayList<>(List.of(trust(from, to)));
            all.forEach(memory -> sources.add(memory.trust()));
            if (summary != null) {
                sources.add(summary.trust());
            }
            return List.of(MadeMemory.ofText(MemoryKind.CHUNK, clean(answer), passage, Trust.least(sources)));
        }

        /** Returns the end of the next passage: whole messages up to the fill of a chunk, and one at least. */
        private int fill(int from) {
            double room = FILL * config.chunkSize() - tokens(from);
            int to = from + 1;
            while (to < end && tokens(to) <= room) {
                room -= tokens(to);
                to++;
            }
            return to;
        }

        private int tokens(int index) {
            if (texts[index] == null) {
                ChatMessage message = messages.get(index).message();
                String text = String.join("", TranscriptText.of(List.of(message), MAX_TOOL_RESULT_CHARS));
                int size = estimator.estimateTokenCountInText(text);
                if (size > config.chunkSize()) {
                    text = TextShortener.ofTokens(text, config.chunkSize(), estimator);
                    size = estimator.estimateTokenCountInText(text);
                }
                texts[index] = text;
                tokens[index] = size;
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

        private MemoryFailedException failed(String what, NamedWorkflow workflow, RuntimeException e) {
            return Creator.this.failed(key, what, workflow, e);
        }
    }

    /** The exception names what kind of error it was. Its message may quote what was sent, so only ours is told. */
    private MemoryFailedException failed(MemoryKey key, String what, NamedWorkflow workflow, RuntimeException e) {
        String reason = e instanceof MemoryFailedException
                ? e.getMessage()
                : e.getClass().getSimpleName();
        return new MemoryFailedException(
                "Discussion " + key + ": " + workflow.name() + " made no memory of " + what + " (" + reason
                        + "). Nothing was skipped; the next run tries them again",
                e instanceof MemoryFailedException ? e.getCause() : e);
    }

    /** Folds new chunks into the summary if there are enough of them. */
    MemoryRun summarize(MemoryKey key) {
        return withLease(key, SUMMARY_LEASE, owner -> summarize(key, owner));
    }

    private MemoryRun summarize(MemoryKey key, String owner) {
        List<MadeMemory> made = new ArrayList<>();
        int least = config.minMemoriesPerSummary();
        while (true) {
            Progress progress = store.progress(key, MemoryKind.CHUNK);
            List<MadeMemory> versions = store.summaries(key);
            MadeMemory current = progress.holding(versions);
            List<MadeMemory> fresh = unfolded(progress, store.chunks(key, Integer.MAX_VALUE), current);
            if (fresh.size() < least || fresh.isEmpty()) {
                return new MemoryRun(End.UP_TO_DATE, made, List.of());
            }
            List<MadeMemory> batch = fresh.subList(0, Math.min(config.loopIfMemoriesExceed(), fresh.size()));
            String answer;
            try {
                answer = summaries.run(List.of(DiscussionMemories.join(batch), current == null ? "" : current.text()));
            } catch (RuntimeException e) {
                throw failed(key, "the newest " + fresh.size() + " chunks", summaries, e);
            }
            if (answer == null) {
                return new MemoryRun(End.BLANK, made, List.of());
            }
            if (store.acquireLease(key, SUMMARY_LEASE, owner, leaseDuration).isEmpty()) {
                return new MemoryRun(End.BUSY, made, List.of());
            }
            List<Trust> sources =
                    new ArrayList<>(batch.stream().map(MadeMemory::trust).toList());
            if (current != null) {
                sources.add(current.trust());
            }
            MadeMemory version = MadeMemory.ofText(
                            MemoryKind.SUMMARY,
                            clean(answer),
                            batch.get(batch.size() - 1).source(),
                            Trust.least(sources))
                    .madeBy(summaries.workflow().model(), summaries.version(), clock.instant());
            if (store.addSummary(key, versions.size(), progress.revision(), version)) {
                made.add(version);
                // What is left of a long backlog is folded too.
                least = 1;
            }
        }
    }

    /** Returns the chunks behind the last one in a summary. Those that were made by hand are in no place, and are left out. */
    private static List<MadeMemory> unfolded(Progress progress, List<MadeMemory> chunks, @Nullable MadeMemory summary) {
        List<Passage> path = progress.path().stream().map(Step::passage).toList();
        // The last chunk itself may be forgotten.
        int folded = summary == null ? 0 : path.indexOf(summary.source()) + 1;
        Set<Passage> behind = new HashSet<>(path.subList(folded, path.size()));
        return chunks.stream().filter(chunk -> behind.contains(chunk.source())).toList();
    }

    private static String clean(String answer) {
        return TranscriptText.clean(answer).strip();
    }
}
