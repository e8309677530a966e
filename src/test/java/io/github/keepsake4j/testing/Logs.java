package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryDetails.Part;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.lang.reflect.Method;
import java.time.LocalDate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Calls of a log in short words. */
public final class Logs {

    private Logs() {}

    public static List<LoggedMessage> find(MessageLog log, MemoryKey key, Collection<String> ids) {
        return Reads.messages(log, key, ids);
    }

    public static Map<MemoryKey, List<LoggedMessage>> find(
            MessageLog log, Map<MemoryKey, ? extends Collection<String>> ids) {
        return messages(log.find(Selection.ofIds(ids)));
    }

    public static List<LoggedMessage> findAt(MessageLog log, MemoryKey key, Collection<Long> sequences) {
        return findAt(log, Map.of(key, sequences)).get(key);
    }

    public static Map<MemoryKey, List<LoggedMessage>> findAt(
            MessageLog log, Map<MemoryKey, ? extends Collection<Long>> sequences) {
        return messages(log.find(Selection.ofSequences(sequences)));
    }

    private static Map<MemoryKey, List<LoggedMessage>> messages(Map<MemoryKey, List<Found>> found) {
        return found.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, of -> of.getValue().stream()
                .map(Found::message)
                .toList()));
    }

    public static Optional<Made> made(MessageLog log, MemoryKey key, String messageId) {
        return Reads.made(log, key, List.of(messageId)).get(messageId).ifKnown();
    }

    public static String moveHead(MessageLog log, MemoryKey key, String messageId, Long epoch) {
        return log.change(key, new Change.MoveHead(messageId, epoch));
    }

    public static void moveBranch(MessageLog log, MemoryKey key, String name, String messageId, Long epoch) {
        log.change(key, new Change.MoveBranch(name, messageId, epoch));
    }

    public static Optional<String> branchEnd(MessageLog log, MemoryKey key, String name) {
        return Optional.ofNullable(
                log.details(key, Set.of(Part.BRANCHES)).branches().get(name));
    }

    public static void setOutcome(MessageLog log, MemoryKey key, String messageId, Outcome outcome, Long epoch) {
        log.change(key, new Change.SetOutcome(messageId, outcome, epoch));
    }

    public static List<DailyUsage> usage(MessageLog log, String tenant, LocalDate from, LocalDate toExclusive) {
        return Reads.usage(log, tenant, from, toExclusive);
    }

    public static void describe(MessageLog log, MemoryKey key, String title, Map<String, String> metadata) {
        log.change(key, Change.Describe.as(title, metadata));
    }

    public static void setTitle(MessageLog log, MemoryKey key, String title) {
        log.change(key, Change.Describe.title(title));
    }

    public static Map<String, String> mergeMetadata(MessageLog log, MemoryKey key, Map<String, String> changes) {
        return log.change(key, Change.Describe.merging(changes));
    }

    /** What a memory has beside its messages and summaries. */
    public static MemoryDetails details(MessageLog log, MemoryKey key) {
        return log.details(key, Set.of(Part.INFO, Part.BRANCHES, Part.VIEWS));
    }

    public static void putSummary(MessageLog log, MemoryKey key, Summary summary, long epoch) {
        log.change(key, new Change.PutSummary(summary, epoch));
    }

    public static List<Summary> summaries(MessageLog log, MemoryKey key) {
        return Reads.summaries(log, key);
    }

    /** Returns the word of this class for a call of a log, or the method's name. */
    public static String word(Method method, Object[] arguments) {
        Object last = arguments == null ? null : arguments[arguments.length - 1];
        if (last instanceof Change.Describe describe) {
            return describe.merge() ? "mergeMetadata" : describe.metadata() == null ? "setTitle" : "describe";
        }
        if (last instanceof Change<?> change) {
            return change.kind();
        }
        if (last instanceof Selection selection) {
            return selection.made() ? "made" : selection.ids().isEmpty() ? "findAt" : "find";
        }
        return method.getName().equals("details") && last.equals(Set.of(Part.SUMMARIES))
                ? "summaries"
                : method.getName();
    }

    /** Returns a memory that a call of a log is about, or null. */
    public static MemoryKey key(Object[] arguments) {
        Object first = arguments == null ? null : arguments[0];
        if (first instanceof Selection selection) {
            return Stream.of(selection.ids(), selection.sequences())
                    .flatMap(named -> named.keySet().stream())
                    .findFirst()
                    .orElse(null);
        }
        return first instanceof MemoryKey key ? key : null;
    }
}
