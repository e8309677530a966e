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
 * Judges a log by what its clients were told. Clients append batches under the head of one memory, several of them the
 * same batch if they like; times are of one monotonic clock. What was acknowledged must be there, once, whole and in an
 * order that agrees with the clients' clocks; what was refused must not be there; what nobody knows may be either, whole.
 */
public final class HistoryChecker {

    /** What a client was told. */
    public enum Outcome {
        ACKNOWLEDGED,
        /** There already, said the log. */
        REPLAYED,
        REFUSED,
        UNKNOWN
    }

    /** One try to append one batch. */
    public record Attempt(String client, List<String> ids, long begin, long end, Outcome outcome) {

        /** As one line, for another process to read. */
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

    /** One message as the log has it. */
    public record Stored(String id, String parentId, long sequence) {}

    /** Kinds of errors. */
    public enum Kind {
        LOST,
        DOUBLED,
        REORDERED,
        HALF_WRITTEN,
        REFUSED_BUT_THERE,
        NEVER_SENT,
        NOT_ONE_BRANCH
    }

    /** An error, and no more of the history than is needed to see it. */
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

    /** All that is wrong; empty if nothing is. */
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

    /** What was acknowledged before somebody first sent something else stands before it. */
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

    /** Everybody appends under the head, so each message follows the one before it. */
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
