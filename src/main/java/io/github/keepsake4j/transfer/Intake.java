package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.transfer.ImportSource.ImportedMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Imports one conversation of another store into a log, at one position of the memory. */
record Intake(MessageLog log, TokenCounter counter, ConversationKey key, Position position) {

    /** The maximum number of messages that are looked up at once. */
    private static final int PAGE = 1_000;

    /** More messages than any list has. */
    private static final long MOST = 1L << 31;

    /** The number of messages that are looked up at once to count them. */
    private static final int PROBES = 32;

    /**
     * Appends the messages that the log does not have yet. Each step can be repeated: an existing message is not
     * changed.
     */
    void take(List<ImportedMessage> messages) {
        checkIds(messages);
        if (messages.get(0).id() == null) {
            takeList(messages);
        } else {
            takeTree(messages);
        }
    }

    private void checkIds(List<ImportedMessage> messages) {
        boolean haveIds = messages.get(0).id() != null;
        Set<String> ids = new HashSet<>();
        for (ImportedMessage message : messages) {
            String id = message.id();
            if ((id != null) != haveIds) {
                throw new InvalidInputException(
                        "id",
                        "message " + (1 + messages.indexOf(message)) + " to import into memory " + key
                                + (haveIds
                                        ? " has no id, but those before it have one"
                                        : " has an id, but those before it have none")
                                + ". Either all messages of a conversation must have an id, or none");
            }
            if (id != null && !ids.add(id)) {
                throw new InvalidInputException(
                        "id",
                        "two messages to import into memory " + key + " have the id " + id + ". Each needs its own");
            }
        }
    }

    private void takeList(List<ImportedMessage> list) {
        long taken = taken();
        if (taken == 0) {
            // Messages that a memory had before its old list was found are newer than the list.
            if (position.head() == null) {
                log.append(key, Append.under(Parent.root(), numbered(list, 0)).at(position));
            }
            return;
        }
        List<ImportedMessage> rest = rest(newestTaken(taken, list.size()), list);
        if (!rest.isEmpty()) {
            log.append(key, Append.under(Parent.head(), numbered(rest, taken)).inEpoch(position.epoch()));
        }
    }

    /**
     * Returns the part of a list behind the imported messages. A window drops its oldest messages and keeps its system
     * message first, so the list begins within the imported messages.
     */
    private static List<ImportedMessage> rest(List<LoggedMessage> taken, List<ImportedMessage> list) {
        ChatMessage system = null;
        List<ChatMessage> before = new ArrayList<>();
        for (LoggedMessage logged : taken) {
            if (isSystem(logged.message())) {
                system = logged.message();
            } else {
                before.add(logged.message());
            }
        }
        List<ChatMessage> said = list.stream()
                .map(ImportedMessage::message)
                .filter(message -> !isSystem(message))
                .toList();
        int known = Math.min(before.size(), said.size());
        while (!before.subList(before.size() - known, before.size()).equals(said.subList(0, known))) {
            known--;
        }
        List<ImportedMessage> rest = new ArrayList<>();
        int at = 0;
        for (ImportedMessage imported : list) {
            boolean isNew = isSystem(imported.message()) ? !imported.message().equals(system) : at++ >= known;
            if (isNew) {
                rest.add(imported);
            }
        }
        return rest;
    }

    private static boolean isSystem(ChatMessage message) {
        return message.type() == ChatMessageType.SYSTEM;
    }

    /** Returns the newest imported messages, after the newest imported system message. */
    private List<LoggedMessage> newestTaken(long taken, int size) {
        List<LoggedMessage> newest = new ArrayList<>();
        for (long from = Math.max(1, taken - size); from <= taken; from += PAGE) {
            newest.addAll(Reads.messages(log, key, ids(from, Math.min(taken, from + PAGE - 1))));
        }
        if (taken > size + 1) {
            newest.addAll(0, Reads.messages(log, key, ids(1, 1)));
        }
        return newest;
    }

    /** Returns the number of imported messages of a list: they are numbered without gaps. */
    private long taken() {
        int powers = found(LongStream.iterate(1, at -> at < MOST, at -> 2 * at));
        long low = powers == 0 ? 0 : 1L << (powers - 1);
        long high = 1L << powers;
        while (high - low > 1) {
            long first = low;
            long behind = high;
            long step = Math.max(1, (high - low) / PROBES);
            low += step * found(LongStream.iterate(first + step, at -> at < behind, at -> at + step));
            high = Math.min(high, low + step);
        }
        return low;
    }

    private int found(LongStream numbers) {
        return Reads.messages(log, key, numbers.mapToObj(this::id).toList()).size();
    }

    private List<String> ids(long from, long to) {
        return LongStream.rangeClosed(from, to).mapToObj(this::id).toList();
    }

    /** Returns the id of a message of a list. Every process derives the same id. */
    private String id(long number) {
        String name = key.canonical() + "#" + number;
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.US_ASCII)).toString();
    }

    private List<NewMessage> numbered(List<ImportedMessage> list, long taken) {
        List<NewMessage> batch = new ArrayList<>(list.size());
        for (ImportedMessage imported : list) {
            batch.add(counted(id(taken + batch.size() + 1), imported));
        }
        return batch;
    }

    private void takeTree(List<ImportedMessage> tree) {
        Map<String, @Nullable String> parents = storedParents(tree);
        if (parents.size() == tree.size()) {
            return;
        }
        Map<@Nullable String, Parent> places = new HashMap<>();
        String newest = null;
        for (ImportedMessage imported : tree) {
            if (parents.containsKey(imported.id())) {
                newest = imported.id();
                places.putIfAbsent(imported.parentId(), Parent.behind(parents.get(imported.id())));
            }
        }
        Parent end = endOf(newest);
        String head = position.head();
        List<NewMessage> batch = new ArrayList<>();
        Parent under = Parent.root();
        for (ImportedMessage imported : tree) {
            String id = Objects.requireNonNull(imported.id());
            if (parents.containsKey(id)) {
                continue;
            }
            String parent = imported.parentId();
            String last = batch.isEmpty() ? null : batch.get(batch.size() - 1).id();
            boolean goesOn = last != null && last.equals(parent);
            if (!goesOn) {
                head = append(batch, under, head);
                batch = new ArrayList<>();
                boolean isEnd = parent != null && parent.equals(newest);
                under = places.computeIfAbsent(parent, any -> isEnd ? end : Parent.behind(parent));
            } else {
                places.put(parent, Parent.behind(parent));
            }
            batch.add(counted(id, imported));
        }
        append(batch, under, head);
    }

    /** Returns the ids of the imported messages, with the ids of their parents in the log. */
    private Map<String, @Nullable String> storedParents(List<ImportedMessage> tree) {
        Map<String, @Nullable String> parents = new HashMap<>();
        for (int from = 0; from < tree.size(); from += PAGE) {
            List<String> ids = tree.subList(from, Math.min(tree.size(), from + PAGE)).stream()
                    .map(imported -> Objects.requireNonNull(imported.id()))
                    .toList();
            Reads.messages(log, key, ids).forEach(logged -> parents.put(logged.id(), logged.parentId()));
        }
        return parents;
    }

    /**
     * Returns the place of the messages behind the newest imported one: behind the messages that were added here since,
     * if they follow it.
     */
    private Parent endOf(@Nullable String newest) {
        String head = position.head();
        if (newest == null || head == null) {
            return Parent.behind(newest);
        }
        List<Long> sequences = Reads.message(log, key, newest).stream()
                .map(LoggedMessage::sequence)
                .toList();
        return Parent.of(log.onBranch(key, sequences).isEmpty() ? newest : head);
    }

    /** Appends a batch, and returns the head behind it. A batch that follows the head expects that it is the head. */
    private @Nullable String append(List<NewMessage> batch, Parent under, @Nullable String head) {
        if (batch.isEmpty()) {
            return head;
        }
        Append append = Append.under(under, batch).inEpoch(position.epoch()).asImport();
        boolean atHead = head != null && under.equals(Parent.of(head));
        log.append(key, atHead ? append.expectingHead(head) : append);
        return batch.get(batch.size() - 1).id();
    }

    private NewMessage counted(String id, ImportedMessage imported) {
        TokenCounter.Count count = counter.count(imported.message());
        return new NewMessage(id, imported.message(), count.tokens(), count.counter(), imported.createdAt());
    }
}
