package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Calls of all kinds by one client, on a memory that it alone writes. It knows what it was told, so it knows what every read
 * must return. A call that fails must have done nothing.
 */
final class PoolerLoad {

    /** A step that may fail as a whole. */
    private interface Call {
        void run();
    }

    private static final String TENANT = "acme";

    private final MessageLog log;
    private final String name;
    private final ConversationKey key;
    private final Random random;
    private final Map<String, String> parents = new HashMap<>();
    private final List<String> ids = new ArrayList<>();
    private final List<String> summaries = new ArrayList<>();
    /** What was made to be erased, with the ids that must be there. */
    private final Map<ConversationKey, Set<String>> others = new HashMap<>();

    private final List<KeepsakeException> errors = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private String head;
    private String title;
    private int number;
    private int calls;

    PoolerLoad(MessageLog log, int client) {
        this.log = log;
        this.name = "client" + client;
        this.key = ConversationKey.of(TENANT, name);
        this.random = new Random(client);
    }

    int calls() {
        return calls;
    }

    List<KeepsakeException> errors() {
        return errors;
    }

    /** Returns what was other than it must be, without an error. */
    List<String> wrong() {
        return wrong;
    }

    void run(int count) {
        while (calls < count) {
            step();
        }
    }

    private void step() {
        int kind = ids.isEmpty() ? 0 : random.nextInt(16);
        switch (kind) {
            case 0, 1, 2 -> add(1);
            case 3 -> add(3);
            case 4, 5, 6 -> read(ReadQuery.newest(1 + random.nextInt(12)));
            case 7 -> read(ReadQuery.newest(3).alsoOldest(2).endingIn(any()));
            case 8 -> call(() -> expect("summaries", summaries, texts(Logs.summaries(log, key))));
            case 9 -> putSummary();
            case 10 -> call(() -> log.append(key, Append.viewOnly(View.of(any(), List.of(new View.Run(null, any()))))));
            case 11 -> moveHead();
            case 12 -> describe();
            case 13 -> lease();
            case 14 -> lookUp();
            default -> makeAndErase();
        }
    }

    private void add(int size) {
        List<String> batch = IntStream.range(0, size).mapToObj(i -> nextId()).toList();
        call(() -> {
            log.append(key, append(key, batch));
            for (String id : batch) {
                parents.put(id, head);
                ids.add(id);
                head = id;
            }
        });
    }

    private void read(ReadQuery query) {
        call(() -> {
            Tail tail = log.read(key, query);
            List<String> path = path(query.from() == null ? head : query.from());
            int from = Math.max(0, path.size() - query.maxMessages());
            expect("read", path.subList(from, path.size()), own(key, tail.messages()));
        });
    }

    private void putSummary() {
        String text = "summary of " + name + " " + ++number;
        call(() -> {
            Logs.putSummary(log, key, summary(any(), text), 1);
            summaries.add(text);
        });
    }

    private void moveHead() {
        String target = any();
        call(() -> {
            String before = Logs.moveHead(log, key, target, null);
            expect("head before", head, before);
            head = target;
        });
    }

    private void describe() {
        String wanted = name + " " + ++number;
        call(() -> {
            Logs.describe(log, key, wanted, Map.of());
            title = wanted;
        });
        call(() -> expect("title", title, listedTitle()));
    }

    private String listedTitle() {
        return log.list(TENANT, ListQuery.first(1_000)).memories().stream()
                .filter(memory -> memory.key().equals(key))
                .map(MemoryInfo::title)
                .findFirst()
                .orElse("not listed");
    }

    private void lease() {
        call(() -> expect(
                "lease",
                true,
                log.acquireLease(key, "lease", name, Duration.ofMinutes(1)).isPresent()));
        call(() -> log.releaseLease(key, "lease", name));
    }

    private void lookUp() {
        String id = any();
        call(() -> expect("find", List.of(id), own(key, Logs.find(log, key, List.of(id)))));
        call(() -> {
            HistoryPage page = log.history(key, HistoryQuery.newest(5));
            expect("newest", ids.subList(Math.max(0, ids.size() - 5), ids.size()), own(key, page.messages()));
        });
        call(() -> {
            HistoryPage page = log.history(key, HistoryQuery.oldest(5));
            expect("oldest", ids.subList(0, Math.min(5, ids.size())), own(key, page.messages()));
        });
        call(() -> {
            Set<String> leaves = new HashSet<>(ids);
            leaves.removeAll(parents.values());
            expect("branches", leaves, new HashSet<>(LogTesting.leaves(log.branches(key))));
        });
    }

    private void makeAndErase() {
        ConversationKey other = ConversationKey.of(TENANT, name + "-" + ++number);
        others.put(other, Set.of());
        List<String> batch = List.of(nextId(), nextId());
        call(() -> {
            log.append(other, append(other, batch));
            others.put(other, Set.copyOf(batch));
        });
        if (others.get(other).isEmpty()) {
            return;
        }
        call(() -> Logs.putSummary(log, other, summary(batch.get(0), "to be erased"), 1));
        call(() -> {
            log.erase(other);
            others.put(other, Set.of());
        });
    }

    /** Compares all that this client was told with what is there now. */
    void compare(MessageLog direct) {
        expect("messages at the end", ids, own(key, LogTesting.history(direct, key)));
        expect("branch at the end", path(head), LogTesting.branch(direct, key));
        expect("summaries at the end", summaries, texts(Logs.summaries(direct, key)));
        expect("damage", List.of(), direct.check(key));
        others.forEach((other, kept) ->
                expect("messages of another", kept, Set.copyOf(own(other, LogTesting.history(direct, other)))));
    }

    private void call(Call call) {
        calls++;
        try {
            call.run();
        } catch (KeepsakeException e) {
            errors.add(e);
        } catch (RuntimeException e) {
            wrong.add(name + ": " + e);
        }
    }

    private void expect(String what, Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            wrong.add(name + ", " + what + ": expected " + expected + ", found " + found);
        }
    }

    /** The ids of messages, each of which must be of this memory. */
    private static List<String> own(ConversationKey key, Collection<LoggedMessage> messages) {
        return messages.stream()
                .map(message -> ((UserMessage) message.message()).singleText().equals(text(key, message.id()))
                        ? message.id()
                        : "not of " + key + ": " + message.id())
                .toList();
    }

    private static List<String> texts(List<Summary> found) {
        return found.stream().map(Summary::text).toList();
    }

    private static Append append(ConversationKey key, List<String> batch) {
        return Append.under(
                Parent.head(),
                batch.stream()
                        .map(id -> new NewMessage(id, UserMessage.from(text(key, id)), 5, "none", null))
                        .toList());
    }

    private static Summary summary(String covers, String text) {
        return new Summary(covers, text, 1, "none", 1, 1, null, Instant.EPOCH);
    }

    private static String text(ConversationKey key, String id) {
        return key + " " + id;
    }

    private List<String> path(String leaf) {
        List<String> path = new ArrayList<>();
        for (String id = leaf; id != null; id = parents.get(id)) {
            path.add(0, id);
        }
        return path;
    }

    private String any() {
        return ids.get(random.nextInt(ids.size()));
    }

    private String nextId() {
        return name + "/" + ++number;
    }
}
