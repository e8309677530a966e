package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A branch up to a message, for a fork into another memory. */
final class ForkedBranch {

    /** The beginning of the names of this library's marks, which record the progress on a branch. */
    private static final String MARK = "keepsake.";

    private final MessageLog log;
    private final MemoryKey from;
    private final String end;
    private final MemoryKey into;

    /**
     * The newest messages of the pages, the oldest page first. Only these and the sequence numbers are kept, since a
     * branch may be long.
     */
    private final Deque<String> pages = new ArrayDeque<>();

    /** The ascending sequence numbers in the original. In the fork, the messages are numbered from 1. */
    private final long[] sequences;

    /** The versions in the fork of summaries that it has. */
    private final Map<Long, Long> versions = new HashMap<>();

    ForkedBranch(MessageLog log, MemoryKey from, String end, MemoryKey into) {
        this.log = log;
        this.from = from;
        this.end = end;
        this.into = into;
        this.sequences = findPages();
    }

    private long[] findPages() {
        LongStream.Builder found = LongStream.builder();
        pages(end).map(Tail::messages).filter(page -> !page.isEmpty()).forEach(page -> {
            pages.push(page.get(page.size() - 1).id());
            page.forEach(message -> found.add(message.sequence()));
        });
        return found.build().sorted().toArray();
    }

    /** Reads a branch, the newest page first. Pages are read when they are requested. */
    private Stream<Tail> pages(String newest) {
        return Stream.iterate(page(newest), Objects::nonNull, page -> {
            List<LoggedMessage> messages = page.messages();
            String before = messages.isEmpty() || page.complete()
                    ? null
                    : messages.get(0).parentId();
            return before == null ? null : page(before);
        });
    }

    private Tail page(String newest) {
        return log.read(from, ReadQuery.newest(MemorySource.PAGE).endingIn(newest));
    }

    /** Returns the number in the fork of a message of the original, or 0 if the fork does not have it. */
    private long number(long sequence) {
        return Math.max(0, Arrays.binarySearch(sequences, sequence) + 1);
    }

    /** Returns the id in the fork of a message of the original. */
    private String id(String original) {
        String name = into.canonical() + " " + from.canonical() + " " + original;
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    }

    /** Returns the parts of the fork other than its messages. */
    BesideMessages beside() {
        BesideMessages original = BesideMessages.read(log, from);
        if (original == null) {
            throw UnknownMessageException.notThere(from, "messageId", end);
        }
        List<Summary> summaries = new ArrayList<>();
        for (Summary summary : original.summaries()) {
            if (has(summary.coversUpTo())) {
                summaries.add(new Summary(
                        id(summary.coversUpTo()),
                        summary.text(),
                        summary.tokens(),
                        summary.tokenCounter(),
                        summary.replacedMessages(),
                        summary.replacedTokens(),
                        summary.model(),
                        summary.createdAt()));
                versions.put(summary.version(), (long) summaries.size());
            }
        }
        Map<String, String> branches = new TreeMap<>();
        original.branches().forEach((name, last) -> {
            Optional<String> shared = name.startsWith(MARK)
                    ? newestShared(last)
                    : Optional.of(last).filter(this::has);
            shared.ifPresent(message -> branches.put(name, id(message)));
        });
        return new BesideMessages(
                original.title(),
                original.metadata(),
                0,
                summaries,
                original.views().stream()
                        .filter(view -> number(view.anchorSequence()) > 0)
                        .map(this::view)
                        .toList(),
                branches,
                id(end));
    }

    private boolean has(@Nullable String original) {
        return original != null
                && Reads.message(log, from, original)
                        .filter(message -> number(message.sequence()) > 0)
                        .isPresent();
    }

    /** Returns the newest message before another one on its branch that the fork has. */
    private Optional<String> newestShared(String last) {
        return pages(last)
                .flatMap(page -> page.messages().stream()
                        .filter(message -> number(message.sequence()) > 0)
                        .reduce((older, newer) -> newer)
                        .stream())
                .findFirst()
                .map(LoggedMessage::id);
    }

    /** Returns a view of the fork. Runs of messages on other branches are left out. */
    private View view(View original) {
        List<View.Run> kept = original.runs().stream()
                .filter(run -> has(run.last()) && (run.after() == null || has(run.after())))
                .map(run -> new View.Run(run.after() == null ? null : id(run.after()), id(run.last())))
                .toList();
        return View.of(id(Objects.requireNonNull(original.anchor())), kept)
                .behindSummary(has(original.summary()) ? id(Objects.requireNonNull(original.summary())) : null);
    }

    /** Reads the messages of the fork, page by page, the oldest ones first. {@link #beside()} comes before it. */
    void read(Consumer<List<Moved>> taker) {
        String parent = null;
        for (String newest : pages) {
            List<Moved> page = new ArrayList<>();
            List<LoggedMessage> messages = page(newest).messages();
            Map<String, Made> made = MemorySource.made(log, from, messages);
            for (LoggedMessage message : messages) {
                String before = parent == null && message.parentId() != null ? message.parentId() : parent;
                NewMessage moved = moved(message, made.getOrDefault(message.id(), Made.NOTHING));
                page.add(new Moved(moved, before == null ? null : id(before)));
                parent = message.id();
            }
            taker.accept(page);
        }
    }

    private NewMessage moved(LoggedMessage message, Made made) {
        // The fork did not use the tokens again.
        return MemorySource.copy(message, this::id)
                .withMade(made.withSeen(made.seen() == null ? null : seen(made.seen()))
                        .withUsage(null));
    }

    /**
     * Returns the sources of an answer of the fork. Sources that the fork does not have are reported as
     * {@code altered}.
     */
    private Seen seen(Seen original) {
        List<Long> sequences = original.sequences();
        List<Long> shown = numbers(sequences);
        long summary = versions.getOrDefault(original.summary(), 0L);
        boolean lacks = shown.size() < sequences.size() || (summary == 0 && original.summary() > 0);
        return new Seen(
                Seen.ranges(shown),
                numbers(original.shortened()),
                summary,
                original.altered() || lacks,
                original.memories(),
                original.later());
    }

    private List<Long> numbers(List<Long> sequences) {
        return sequences.stream().map(this::number).filter(number -> number > 0).toList();
    }
}
