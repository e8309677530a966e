package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.Forks;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads messages, long reads in parts. Thread-safe. */
record Reader(MemoryScript script, Writer writer) {

    Tail read(MemoryKey key, ReadQuery query) {
        return MemoryScript.untilDone(
                "read of memory " + key + ": the memory was erased during each try. Retry later",
                () -> Optional.ofNullable(attempt(key, query)));
    }

    /** Returns null if the memory was erased between two parts of a long read. */
    private @Nullable Tail attempt(MemoryKey key, ReadQuery query) {
        Request request = script.use("read")
                .with("reference", query.reference())
                .with("from", query.from() == null ? null : Text.id(query.from()))
                .with("after", query.after() == null ? null : Text.id(query.after()))
                .with("toSummary", query.toSummary())
                .with("most", Math.min(MemoryScript.CHUNK, query.maxMessages()))
                .with("mostTokens", query.maxTokens())
                .with("oldest", query.oldest());
        Reply reply = ask(key, request);
        switch (reply.kind()) {
            case "none" -> {
                if (reply.number(4) == 0) {
                    writer.noteAbsent(key, reply.number(3));
                }
                return Tail.empty(new Position(reply.number(1), reply.number(2), null));
            }
            case "noAncestor" -> throw UnknownMessageException.noAncestor(key, "after");
            case "tail" -> {
                // Continues below.
            }
            default -> throw MemoryScript.unknown(key, reply);
        }
        Position position = MemoryScript.position(reply, 1, 3);
        List<LoggedMessage> messages = new ArrayList<>(MemoryScript.messages(key, reply.list(4)));
        long next = reply.number(5);
        long tokens = reply.number(6);
        long floor = reply.number(7);
        while (next > floor && messages.size() < query.maxMessages() && tokens < query.maxTokens()) {
            Request more = script.use("more")
                    .with("epoch", position.epoch())
                    .with("start", next)
                    .with("floor", floor)
                    .with("most", Math.min(MemoryScript.CHUNK, query.maxMessages() - messages.size()))
                    .with("mostTokens", query.maxTokens() - tokens);
            Reply part = ask(key, more);
            if (part.is("erased")) {
                return null;
            }
            messages.addAll(MemoryScript.messages(key, part.list(1)));
            next = part.number(2);
            tokens += part.number(3);
        }
        Collections.reverse(messages);
        List<LoggedMessage> oldest = new ArrayList<>(MemoryScript.messages(key, reply.list(8)));
        Collections.reverse(oldest);
        Reply view = reply.list(11);
        Reply summary = reply.list(12);
        return new Tail(
                position,
                messages,
                oldest,
                inForce(key, reply.list(9), messages),
                inForce(key, reply.list(10), messages),
                view.number(0) == 0 ? null : Contents.view(key, view.number(0), view.text(1), view.text(2)),
                summary.number(0) == 0 ? null : Contents.summary(key, summary.number(0), summary.text(1)),
                next <= floor,
                next == 0 && !messages.isEmpty() ? messages.get(0).parentId() : null);
    }

    private Reply ask(MemoryKey key, Request request) {
        return script.run("read of memory " + key, key, request);
    }

    private static @Nullable LoggedMessage inForce(MemoryKey key, Reply answer, List<LoggedMessage> messages) {
        long seq = answer.number(0);
        if (seq == 0) {
            return null;
        }
        if (answer.size() > 1) {
            return Contents.message(key, answer.list(1));
        }
        return messages.stream()
                .filter(message -> message.sequence() == seq)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("message " + seq + " was read"));
    }

    List<Found> find(MemoryKey key, Set<String> ids, boolean withMade) {
        return find(key, "find", "ids", ids.stream().map(Text::id).toList(), withMade);
    }

    List<Found> findAt(MemoryKey key, Set<Long> sequences, boolean withMade) {
        return find(
                key,
                "findAt",
                "sequences",
                sequences.stream().map(String::valueOf).toList(),
                withMade);
    }

    Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        Set<Long> found = new HashSet<>();
        List<String> wanted =
                Set.copyOf(sequences).stream().map(String::valueOf).toList();
        for (int from = 0; from < wanted.size(); from += MemoryScript.CHUNK) {
            Request request = script.use("onBranch")
                    .with("sequences", wanted.subList(from, Math.min(wanted.size(), from + MemoryScript.CHUNK)));
            found.addAll(ask(key, request).numbers());
        }
        return found;
    }

    private List<Found> find(MemoryKey key, String operation, String field, List<String> wanted, boolean withMade) {
        List<Found> found = new ArrayList<>();
        for (int from = 0; from == 0 || from < wanted.size(); from += MemoryScript.CHUNK) {
            Request request = script.use(operation)
                    .with(field, wanted.subList(from, Math.min(wanted.size(), from + MemoryScript.CHUNK)))
                    .with("made", withMade);
            for (Reply row : ask(key, request).lists()) {
                found.add(new Found(Contents.message(key, row), withMade ? Contents.made(key, row) : null));
            }
        }
        found.sort(Comparator.comparingLong(each -> each.message().sequence()));
        return List.copyOf(found);
    }

    HistoryPage history(MemoryKey key, HistoryQuery query) {
        List<LoggedMessage> found = new ArrayList<>();
        long sequence = query.sequence();
        // One more than the page has, to find out whether there is another page.
        int wanted = query.limit() + 1;
        while (found.size() < wanted) {
            int most = Math.min(MemoryScript.CHUNK, wanted - found.size());
            Request request = script.use("history")
                    .with("sequence", sequence)
                    .with("forward", query.forward())
                    .with("most", most);
            List<LoggedMessage> part = MemoryScript.messages(key, ask(key, request));
            found.addAll(query.forward() ? found.size() : 0, part);
            if (part.size() < most) {
                break;
            }
            sequence = part.get(query.forward() ? part.size() - 1 : 0).sequence();
        }
        return HistoryPage.of(query, found);
    }

    MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        List<String> wanted = parts.stream().map(MemoryDetails.Part::name).toList();
        Reply reply = ask(key, script.use("details").with("parts", wanted));
        Reply info = reply.list(0);
        Map<String, String> ends = new HashMap<>();
        reply.list(2).lists().forEach(named -> ends.put(named.text(0), named.text(1)));
        List<View> views = reply.list(1).lists().stream()
                .map(view -> Contents.view(key, view.number(0), view.text(1), view.text(2)))
                .toList();
        List<Summary> summaries = reply.list(3).lists().stream()
                .map(row -> Contents.summary(key, row.number(0), row.text(1)))
                .toList();
        return new MemoryDetails(info.is("none") ? null : Contents.info(key, info), ends, views, summaries);
    }

    List<Branch> branches(MemoryKey key) {
        Reply reply = ask(key, script.use("branches"));
        Map<Long, List<String>> names = new HashMap<>();
        for (Reply name : reply.list(2).lists()) {
            names.computeIfAbsent(name.number(1), any -> new ArrayList<>()).add(name.text(0));
        }
        names.values().forEach(Collections::sort);
        Map<Long, String> ids = new HashMap<>();
        List<Forks.Run> runs = new ArrayList<>();
        for (Reply run : reply.list(3).lists()) {
            long parent = run.number(2);
            String beside = run.nullableText(3);
            ids.put(run.number(0), run.text(1));
            if (beside != null) {
                ids.put(parent + 1, beside);
            }
            runs.add(new Forks.Run(run.number(0), parent, beside != null));
        }
        Forks forks = Forks.of(runs);
        List<Branch> branches = new ArrayList<>();
        for (Reply leaf : reply.list(0).lists()) {
            long sequence = leaf.number(0);
            branches.add(new Branch(
                    leaf.text(1),
                    ids.getOrDefault(forks.first(sequence), leaf.text(1)),
                    leaf.number(2),
                    Contents.time(key, leaf.text(1), leaf.text(3), leaf.nullableText(4)),
                    sequence == reply.number(1),
                    names.getOrDefault(sequence, List.of())));
        }
        return List.copyOf(branches);
    }
}
