package io.github.keepsake4j.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Judges a log by the answers that its clients received. Clients append batches under the head of one memory; several
 * clients may append the same batch. Times are of one monotonic clock. An acknowledged batch must be stored once, as a
 * whole and in an order that agrees with the clients' clocks. A refused batch must not be stored. A batch with an
 * unknown outcome may be stored or not, but only as a whole.
 */
public final class HistoryChecker {

    /** The answer that a client received. */
    public enum Outcome {
        ACKNOWLEDGED,
        /** The log answered that the batch was already stored. */
        REPLAYED,
        REFUSED,
        UNKNOWN
    }

    /** One attempt to append one batch. */
    public record Attempt(String client, List<String> ids, long begin, long end, Outcome outcome) {

        /** Returns the attempt as one line, for another process to read. */
        public String line() {
            return String.join(",", client, String.join("+", ids), "" + begin, "" + end, outcome.name());
        }

        public static Attempt of(String line) {
            String[] parts = line.split(",");
            return new Attempt(
                    parts[0],
                    Arrays.asList(parts[1].split("\\+")),
                    Long.parseLong(parts[2]),
                    Long.parseLong(parts[3]),
                    Outcome.valueOf(parts[4]));
        }

        boolean isDone() {
            return outcome == Outcome.ACKNOWLEDGED || outcome == Outcome.REPLAYED;
        }
    }

    /** One message as the log stores it. */
    public record Stored(String id, String parentId, long sequence) {}

    /** The kinds of errors. */
    public enum Kind {
        LOST,
        DOUBLED,
        REORDERED,
        HALF_WRITTEN,
        REFUSED_BUT_THERE,
        NEVER_SENT,
        NOT_ONE_BRANCH
    }

    /** An error, and only the part of the history that shows it. */
    public record Finding(Kind kind, String id, List<String> trace) {

        @Override
        public String toString() {
            return kind + " " + id + "\n    " + String.join("\n    ", trace);
        }
    }

    private final Map<List<String>, List<Attempt>> batches = new LinkedHashMap<>();
    private final List<Stored> stored;
    private final Map<String, Stored> byId = new HashMap<>();
    private final List<Finding> findings = new ArrayList<>();

    private HistoryChecker(List<Attempt> attempts, List<Stored> stored) {
        this.stored = stored.stream()
                .sorted(Comparator.comparingLong(Stored::sequence))
                .toList();
        attempts.forEach(attempt ->
                batches.computeIfAbsent(attempt.ids(), ids -> new ArrayList<>()).add(attempt));
    }

    /** Returns all errors; empty if there are none. */
    public static List<Finding> check(List<Attempt> attempts, List<Stored> stored) {
        HistoryChecker checker = new HistoryChecker(attempts, stored);
        checker.checkIds();
        checker.batches.keySet().forEach(checker::checkBatch);
        checker.checkOrder();
        checker.checkBranch();
        return checker.findings;
    }

    private void checkIds() {
        Set<String> sent = new HashSet<>();
        batches.keySet().forEach(sent::addAll);
        for (Stored message : stored) {
            Stored other = byId.put(message.id(), message);
            if (other != null) {
                find(Kind.DOUBLED, message.id(), List.of(), other, message);
            }
            if (!sent.contains(message.id())) {
                find(Kind.NEVER_SENT, message.id(), List.of(), message);
            }
        }
    }

    private void checkBatch(List<String> ids) {
        List<Attempt> attempts = batches.get(ids);
        List<Stored> there =
                ids.stream().map(byId::get).filter(Objects::nonNull).toList();
        Stored[] rows = there.toArray(Stored[]::new);
        if (there.isEmpty()) {
            attempts.stream()
                    .filter(Attempt::isDone)
                    .findFirst()
                    .ifPresent(done -> find(Kind.LOST, ids.get(0), List.of(done)));
            return;
        }
        if (there.size() < ids.size()) {
            find(Kind.HALF_WRITTEN, ids.get(0), attempts, rows);
            return;
        }
        for (int i = 1; i < ids.size(); i++) {
            if (there.get(i).sequence() <= there.get(i - 1).sequence()) {
                find(Kind.REORDERED, ids.get(i), List.of(), there.get(i - 1), there.get(i));
            } else if (!ids.get(i - 1).equals(there.get(i).parentId())) {
                find(Kind.HALF_WRITTEN, ids.get(i), List.of(), there.get(i - 1), there.get(i));
            }
        }
        List<Attempt> acknowledged = attempts.stream()
                .filter(attempt -> attempt.outcome() == Outcome.ACKNOWLEDGED)
                .toList();
        if (acknowledged.size() > 1) {
            find(Kind.DOUBLED, ids.get(0), acknowledged, rows);
        }
        if (attempts.stream().allMatch(attempt -> attempt.outcome() == Outcome.REFUSED)) {
            find(Kind.REFUSED_BUT_THERE, ids.get(0), attempts, rows);
        }
    }

    /**
     * Checks the order: a batch that was acknowledged before another batch was first sent must be before that batch.
     */
    private void checkOrder() {
        record Span(List<String> ids, long firstBegin, long firstDone, Attempt sent, Attempt done, long sequence) {}
        List<Span> spans = new ArrayList<>();
        batches.forEach((ids, attempts) -> {
            Stored first = byId.get(ids.get(0));
            if (first != null) {
                Attempt sent = attempts.stream()
                        .min(Comparator.comparingLong(Attempt::begin))
                        .orElseThrow();
                Attempt done = attempts.stream()
                        .filter(Attempt::isDone)
                        .min(Comparator.comparingLong(Attempt::end))
                        .orElse(null);
                long firstDone = done == null ? Long.MAX_VALUE : done.end();
                spans.add(new Span(ids, sent.begin(), firstDone, sent, done, first.sequence()));
            }
        });
        List<Span> byDone =
                spans.stream().sorted(Comparator.comparingLong(Span::firstDone)).toList();
        Span newest = null;
        int next = 0;
        for (Span span : spans.stream()
                .sorted(Comparator.comparingLong(Span::firstBegin))
                .toList()) {
            for (; next < byDone.size() && byDone.get(next).firstDone() < span.firstBegin(); next++) {
                Span done = byDone.get(next);
                newest = newest == null || done.sequence() > newest.sequence() ? done : newest;
            }
            if (newest != null && newest.sequence() > span.sequence()) {
                find(
                        Kind.REORDERED,
                        span.ids().get(0),
                        List.of(newest.done(), span.sent()),
                        byId.get(newest.ids().get(0)),
                        byId.get(span.ids().get(0)));
            }
        }
    }

    /** Checks the branch: all clients append under the head, so each message follows the previous one. */
    private void checkBranch() {
        Stored before = null;
        for (Stored message : stored) {
            String expected = before == null ? null : before.id();
            if (!Objects.equals(expected, message.parentId())
                    && (before == null || !before.id().equals(message.id()))) {
                Stored[] rows = before == null ? new Stored[] {message} : new Stored[] {before, message};
                find(Kind.NOT_ONE_BRANCH, message.id(), List.of(), rows);
            }
            before = message;
        }
    }

    private void find(Kind kind, String id, List<Attempt> attempts, Stored... rows) {
        List<String> trace = new ArrayList<>();
        attempts.stream()
                .sorted(Comparator.comparingLong(Attempt::begin))
                .forEach(attempt -> trace.add(attempt.begin() + ".." + attempt.end() + " " + attempt.client() + " sent "
                        + attempt.ids() + ": " + attempt.outcome()));
        for (Stored row : rows) {
            trace.add("stored " + row.sequence() + ": " + row.id() + " under " + row.parentId());
        }
        findings.add(new Finding(kind, id, trace));
    }
}
