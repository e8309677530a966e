package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.view.ViewReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random trees, compared with a model that follows parents one by one. */
public interface RandomTreeContract extends LogUnderTest {

    /** The properties of a message in the model. */
    record Known(String id, String parent, boolean system, int tokens) {}

    /** A memory as a map from id to parent. */
    final class Model {

        private final Map<String, Known> messages = new LinkedHashMap<>();
        private final Map<String, View> views = new HashMap<>();
        private final Map<String, Summary> summaries = new HashMap<>();
        private final Map<String, String> references = new HashMap<>();
        private final Map<String, Outcome> outcomes = new HashMap<>();
        private long stored;
        private String head;

        /** Returns the end of a named branch, or the head. */
        private String end(String name) {
            return name == null ? head : references.getOrDefault(name, head);
        }

        /** Returns the messages from the root to a message. */
        private List<Known> path(String id) {
            List<Known> path = new ArrayList<>();
            for (Known at = messages.get(id); at != null; at = messages.get(at.parent())) {
                path.add(0, at);
            }
            return path;
        }

        private String any(Random random) {
            return List.copyOf(messages.keySet()).get(random.nextInt(messages.size()));
        }
    }

    /** Returns the number of trees in a full run. It is smaller where each append writes the whole memory. */
    default int randomTreesInFull() {
        return 200;
    }

    @Test
    default void random_trees_read_as_their_model_does() {
        long first = System.nanoTime();
        for (int run = 0; run < Counts.of(1, randomTreesInFull()); run++) {
            long seed = first + run;
            try {
                compare(new Random(seed), ConversationKey.of("acme", "run " + run));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private void compare(Random random, MemoryKey key) {
        Model model = new Model();
        int steps = 20 + random.nextInt(60);
        for (int step = 0; step < steps; step++) {
            grow(random, key, model, "s" + step);
        }
        for (int i = 0; i < 40; i++) {
            compareRead(random, key, model);
        }
        compareWhole(random, key, model);
    }

    private void grow(Random random, MemoryKey key, Model model, String id) {
        int kind = model.messages.isEmpty() ? 0 : random.nextInt(22);
        if (kind >= 20) {
            String ended = model.any(random);
            Outcome outcome = random.nextInt(4) == 0 ? null : Outcome.incomplete("cut " + id);
            Logs.setOutcome(log(), key, ended, outcome, null);
            model.outcomes.put(ended, outcome);
        } else if (kind == 19) {
            model.head = model.any(random);
            Logs.moveHead(log(), key, model.head, null);
        } else if (kind == 18) {
            String covered = model.any(random);
            Summary summary = new Summary(covered, "text " + id, 1, "test-counter", 1, 1, null, Instant.EPOCH);
            Logs.putSummary(
                    log(), key, summary, log().read(key, ReadQuery.newest(0)).epoch());
            model.summaries.put(covered, summary.withVersion(++model.stored));
        } else if (kind == 17) {
            String name = name(random);
            if (model.end(name) == null) {
                // All messages are on other branches.
                return;
            }
            String anchor = random.nextBoolean() ? model.end(name) : model.any(random);
            View view = View.of(anchor, runs(random, model));
            log().append(key, Append.viewOnly(view).onBranch(name));
            model.views.put(anchor, view);
        } else {
            append(random, key, model, id, kind);
        }
    }

    private static String name(Random random) {
        return random.nextInt(3) > 0 ? null : "tab-" + random.nextInt(2);
    }

    private static List<View.Run> runs(Random random, Model model) {
        List<View.Run> runs = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            List<Known> path = model.path(model.any(random));
            int after = random.nextInt(path.size()) - 1;
            runs.add(new View.Run(
                    after < 0 ? null : path.get(after).id(),
                    path.get(path.size() - 1).id()));
        }
        return runs;
    }

    private void append(Random random, MemoryKey key, Model model, String id, int kind) {
        String name = name(random);
        Parent parent = Parent.head();
        String parentId = model.end(name);
        boolean importing = false;
        if (kind >= 12 && kind < 15) {
            parentId = model.any(random);
            parent = Parent.of(parentId);
        } else if (kind == 15) {
            parentId = null;
            parent = Parent.root();
        } else if (kind == 16) {
            parentId = "lost-" + id;
            parent = Parent.of(parentId);
            importing = true;
        }
        List<NewMessage> batch = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            boolean system = random.nextInt(8) == 0;
            int tokens = random.nextInt(4) * random.nextInt(30);
            String each = id + "-" + i;
            Outcome outcome = random.nextInt(6) == 0 ? Outcome.failed(null) : null;
            model.outcomes.put(each, outcome);
            batch.add(message(each, system ? SystemMessage.from(each) : UserMessage.from(each), tokens)
                    .withOutcome(outcome)
                    .withUsage(random.nextInt(3) == 0 ? new Usage(tokens, 1, 0) : null));
            model.messages.put(each, new Known(each, parentId, system, tokens));
            parentId = each;
        }
        String before = model.end(name);
        if (name == null) {
            model.head = parentId;
        } else {
            model.references.put(name, parentId);
        }
        Append append = Append.under(parent, batch).onBranch(name);
        AppendResult result = log().append(key, importing ? append.asImport() : append);
        assertThat(result.previousHead()).isEqualTo(before);
        assertThat(result.head()).isEqualTo(model.end(name));
    }

    private void compareRead(Random random, MemoryKey key, Model model) {
        String name = name(random);
        String end = random.nextBoolean() && model.end(name) != null ? model.end(name) : model.any(random);
        List<Known> path = model.path(end);
        ReadQuery query = ReadQuery.newest(random.nextBoolean() ? random.nextInt(path.size() + 2) : Integer.MAX_VALUE);
        query = query.onBranch(name);
        if (!end.equals(model.end(name)) || random.nextBoolean()) {
            query = query.endingIn(end);
        }
        if (random.nextInt(3) == 0) {
            query = query.upToTokens(random.nextInt(400));
        }
        if (random.nextBoolean()) {
            query = query.alsoOldest(random.nextInt(path.size() + 2));
        }
        if (random.nextInt(4) == 0) {
            query = query.upToSummary();
        }
        compareOldestSeen(ViewReader.read(log(), key, query), query, path, model);
        if (random.nextInt(3) == 0) {
            query = query.after(path.get(random.nextInt(path.size())).id());
        }
        compareTail(log().read(key, query), query, path, model);
    }

    private static void compareTail(Tail tail, ReadQuery query, List<Known> path, Model model) {
        int after = indexOf(path, query.after());
        Summary summary = null;
        int covered = -1;
        View view = null;
        String system = null;
        for (int i = 0; i < path.size(); i++) {
            Known at = path.get(i);
            view = model.views.getOrDefault(at.id(), view);
            if (at.system() && i > after) {
                system = at.id();
            }
            if (query.toSummary() && model.summaries.containsKey(at.id())) {
                summary = model.summaries.get(at.id());
                covered = i;
            }
        }
        int behind = Math.max(after, covered);
        int from = path.size();
        long tokens = 0;
        while (from - 1 > behind && path.size() - from < query.maxMessages() && tokens < query.maxTokens()) {
            from--;
            tokens += path.get(from).tokens();
        }

        assertThat(ids(tail.messages()))
                .as("messages for %s", query)
                .isEqualTo(
                        path.subList(from, path.size()).stream().map(Known::id).toList());
        assertThat(ids(tail.oldest()))
                .as("oldest for %s", query)
                .isEqualTo(path.stream()
                        .skip(after + 1L)
                        .limit(query.oldest())
                        .map(Known::id)
                        .toList());
        assertThat(tail.complete()).as("complete for %s", query).isEqualTo(from - 1 == behind);
        assertThat(tail.missingParent())
                .as("missing parent for %s", query)
                .isEqualTo(from == 0 ? path.get(0).parent() : null);
        assertThat(tail.system() == null ? null : tail.system().id())
                .as("system message for %s", query)
                .isEqualTo(system);
        assertThat(tail.summary()).as("summary for %s", query).isEqualTo(summary);
        assertThat(tail.view() == null ? null : tail.view().anchor())
                .as("view for %s", query)
                .isEqualTo(view == null ? null : view.anchor());
        assertThat(tail.view() == null ? null : tail.view().runs())
                .as("view for %s", query)
                .isEqualTo(view == null ? null : view.resolved(null).runs());
        assertThat(tail.head()).isEqualTo(model.end(query.reference()));
        for (LoggedMessage message : tail.messages()) {
            assertThat(message.outcome()).as("outcome for %s", query).isEqualTo(model.outcomes.get(message.id()));
        }
        for (LoggedMessage message : tail.oldest()) {
            assertThat(message.outcome()).as("outcome for %s", query).isEqualTo(model.outcomes.get(message.id()));
        }
    }

    /**
     * Compares the messages with which the view in force begins: those of each run in order, then those that follow the
     * anchor.
     */
    private static void compareOldestSeen(Tail tail, ReadQuery query, List<Known> path, Model model) {
        List<Known> shown = path;
        for (int i = 0; i < path.size(); i++) {
            View view = model.views.get(path.get(i).id());
            if (view != null) {
                shown = new ArrayList<>();
                for (View.Run run : view.runs()) {
                    List<Known> line = model.path(run.last());
                    shown.addAll(line.subList(indexOf(line, run.after()) + 1, line.size()));
                }
                shown.addAll(path.subList(i + 1, path.size()));
            }
        }
        assertThat(ids(tail.oldest()))
                .as("oldest seen for %s", query)
                .isEqualTo(shown.stream().limit(query.oldest()).map(Known::id).toList());
    }

    private void compareWhole(Random random, MemoryKey key, Model model) {
        List<String> all = List.copyOf(model.messages.keySet());
        assertThat(ids(history(log(), key, HistoryQuery.oldest(1 + random.nextInt(30)))))
                .isEqualTo(all);
        assertThat(ids(history(log(), key, HistoryQuery.newest(1 + random.nextInt(30)))))
                .isEqualTo(all);

        for (LoggedMessage message : history(log(), key)) {
            assertThat(message.outcome()).isEqualTo(model.outcomes.get(message.id()));
        }
        assertThat(log().check(key))
                .filteredOn(damage -> damage.kind() != Damage.Kind.TREE)
                .isEmpty();

        List<String> leaves = new ArrayList<>(all);
        leaves.removeIf(id -> model.messages.values().stream().anyMatch(each -> Objects.equals(each.parent(), id)));
        leaves.sort(Comparator.comparing(all::indexOf, Comparator.reverseOrder()));
        List<Branch> branches = log().branches(key);
        assertThat(leaves(branches)).isEqualTo(leaves);
        for (Branch branch : branches) {
            List<String> own = new ArrayList<>(
                    model.path(branch.leafId()).stream().map(Known::id).toList());
            leaves.stream().filter(leaf -> !leaf.equals(branch.leafId())).forEach(leaf -> model.path(leaf)
                    .forEach(shared -> own.remove(shared.id())));
            assertThat(branch.firstOwnId()).isEqualTo(own.get(0));
            assertThat(branch.length()).isEqualTo(model.path(branch.leafId()).size());
            assertThat(branch.current()).isEqualTo(branch.leafId().equals(model.head));
            assertThat(branch.names())
                    .isEqualTo(model.references.entrySet().stream()
                            .filter(named -> named.getValue().equals(branch.leafId()))
                            .map(Map.Entry::getKey)
                            .sorted()
                            .toList());
        }
        MemoryInfo info = list(log(), key.tenant(), 10).stream()
                .filter(each -> each.key().equals(key))
                .findFirst()
                .orElseThrow();
        assertThat(info.messages()).isEqualTo(all.size());
        assertThat(info.tokens())
                .isEqualTo(model.messages.values().stream()
                        .mapToLong(Known::tokens)
                        .sum());
    }

    private static int indexOf(List<Known> path, String id) {
        for (int i = 0; i < path.size(); i++) {
            if (path.get(i).id().equals(id)) {
                return i;
            }
        }
        return -1;
    }
}
