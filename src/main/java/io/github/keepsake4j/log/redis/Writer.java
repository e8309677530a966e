package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Makes the changes that may create a memory, which is registered in its tenant's list first. Thread-safe. */
final class Writer {

    /**
     * The number of tries of a merge. In each failed try, another caller has succeeded, so many callers need many
     * tries.
     */
    private static final int MOST_MERGES = 1_000;

    private static final int KNOWN = 10_000;

    private final MemoryScript script;
    private final TenantList tenants;
    private final ListedMetadata declared;

    /** The memories that were recently found not to exist, with their former numbers. */
    private final RecentlyUsed<MemoryKey, Long> absent = new RecentlyUsed<>(KNOWN);

    Writer(MemoryScript script, TenantList tenants, ListedMetadata declared) {
        this.script = script;
        this.tenants = tenants;
        this.declared = declared;
    }

    /** Records that a memory does not exist, so that it is registered without a look-up. */
    void noteAbsent(MemoryKey key, long number) {
        absent.put(key, number);
    }

    AppendResult append(MemoryKey key, Append append, Instant now) {
        List<NewMessage> messages = append.messages();
        Reply reply = creating(
                "append to memory " + key,
                key,
                Text.stamp(latest(messages, now)),
                append.metadata(),
                appendRequest(append, now));
        switch (reply.kind()) {
            case "erased" -> AppendRules.checkEpoch(key, append.epoch(), reply.number(1));
            case "position" -> AppendRules.checkPosition(key, append, MemoryScript.position(reply, 1, 3));
            case "parent" -> throw new UnknownParentException(key, ((Parent.Of) append.parent()).id());
            case "empty" -> throw AppendRules.noMessages(key);
            case "stored" -> {
                Map<String, LoggedMessage> stored = new LinkedHashMap<>();
                MemoryScript.messages(key, reply.list(4)).forEach(each -> stored.put(each.id(), each));
                if (AppendRules.isReplay(key, append, stored)) {
                    return new AppendResult(reply.nullableText(3), MemoryScript.position(reply, 1, 3), 0, true);
                }
            }
            case "done" -> {
                if (!messages.isEmpty()) {
                    listed(key, reply.number(8), reply.text(7), reply.text(6));
                }
                return new AppendResult(
                        reply.nullableText(3), MemoryScript.position(reply, 1, 4), reply.number(5), false);
            }
            default -> throw MemoryScript.unknown(key, reply);
        }
        throw new IllegalStateException("the rules accept what the script refused: " + reply.kind());
    }

    Map<String, String> describe(MemoryKey key, Change.Describe change, Instant now) {
        if (change.merge()) {
            return merge(key, change, now);
        }
        Request request = request("describe", now)
                .with("title", change.title())
                .text(change.metadata() == null ? null : Text.CODEC.encodeStrings(change.after(Map.of())));
        Map<String, String> after = change.after(Map.of());
        boolean relists = change.metadata() != null && !declared.names().isEmpty();
        if (relists) {
            listAlso(key, after);
        }
        creating("description of memory " + key, key, Text.stamp(now), after, request);
        if (relists) {
            relist(key);
        }
        return after;
    }

    /**
     * Puts a memory on the lists of new metadata before it has them. So a call that is interrupted leaves it on a list too many,
     * on which a page does not show it, and not on one too few.
     */
    private void listAlso(MemoryKey key, Map<String, String> after) {
        Reply info = script.run("lists of memory " + key, key, new Request("info"));
        if (!info.is("none")) {
            tenants.relist(key, info.number(1), after, true);
        }
    }

    /** Puts a memory on the lists of its metadata, and on no others, even if another caller changes them meanwhile. */
    void relist(MemoryKey key) {
        if (declared.names().isEmpty()) {
            return;
        }
        String listed = null;
        for (int attempt = 0; attempt < MOST_MERGES; attempt++) {
            Reply info = script.run("lists of memory " + key, key, new Request("info"));
            if (info.is("none") || info.text(7).equals(listed)) {
                return;
            }
            listed = info.text(7);
            tenants.relist(key, info.number(1), listed.isEmpty() ? Map.of() : Contents.metadata(key, listed), false);
        }
    }

    /** Changes a part of the metadata, and repeats it until no other change comes between reading and writing. */
    private Map<String, String> merge(MemoryKey key, Change.Describe change, Instant now) {
        String what = "metadata of memory " + key;
        for (int attempt = 0; attempt < MOST_MERGES; attempt++) {
            Reply info = script.run(what, key, new Request("info"));
            String stored = info.is("none") ? "" : info.text(7);
            Map<String, String> before = stored.isEmpty() ? Map.of() : Contents.metadata(key, stored);
            Map<String, String> after = change.after(before);
            if (after.equals(before)) {
                return after;
            }
            Request request = request("setMetadata", now).text(stored).text(Text.CODEC.encodeStrings(after));
            if (!declared.names().isEmpty() && !info.is("none")) {
                tenants.relist(key, info.number(1), after, true);
            }
            if (!creating(what, key, Text.stamp(now), after, request).is("changed")) {
                relist(key);
                return after;
            }
        }
        throw new StorageUnavailableException(
                what + ": it was changed by another caller during each try. Retry later", null);
    }

    private Request request(String operation, Instant now) {
        return script.use(operation).with("now", now.toString()).with("active", Text.stamp(now));
    }

    private Request appendRequest(Append append, Instant now) {
        List<NewMessage> messages = append.messages();
        Request request = script.use("append")
                .with("epoch", append.epoch())
                .with("revision", append.revision())
                .with("expects", append.expectsHead())
                .with(
                        "expected",
                        append.expectsHead() ? Text.id(Objects.requireNonNullElse(append.expectedHead(), "")) : null)
                .with("importing", append.importing())
                .with("reference", append.reference())
                .with("metadata", append.metadata().isEmpty() ? null : Text.CODEC.encodeStrings(append.metadata()))
                .with("now", now.toString());
        if (append.parent() instanceof Parent.Root) {
            request.with("parent", "root");
        } else if (append.parent() instanceof Parent.Of of) {
            boolean isBefore = of.id().equals(Ids.BEFORE_IN_TIME);
            request.with("parent", isBefore ? "before" : "of").with("parentId", isBefore ? null : Text.id(of.id()));
        }
        if (append.view() != null) {
            String anchor = append.view().anchor();
            request.with("view", RecordJson.write(append.view()))
                    .with("anchor", anchor == null ? null : Text.id(anchor))
                    .with("names", append.namedByView().stream().map(Text::id).toList());
        }
        if (!messages.isEmpty()) {
            Instant latest = latest(messages, now);
            request.with("first", Contents.time(messages.get(0), now).toString())
                    .with("last", latest.toString())
                    .with("active", Text.stamp(latest))
                    .with(
                            "tokens",
                            messages.stream().mapToLong(NewMessage::tokens).sum())
                    .with("usage", usage(append, now));
        }
        for (NewMessage message : messages) {
            request.text(message.id())
                    .text(message.message().type().name())
                    .text(Integer.toString(message.tokens()))
                    .text(Contents.message(message, now))
                    .text(NotesText.of(message.outcome()))
                    .text(NotesText.of(message.made()))
                    .text(message.made().request());
        }
        return request;
    }

    private static Map<String, List<String>> usage(Append append, Instant now) {
        Map<String, List<String>> days = new HashMap<>();
        AppendRules.usageByDay(append, now)
                .forEach((day, used) -> days.put(
                        Long.toString(day.toEpochDay()),
                        List.of(
                                Long.toString(used.input()),
                                Long.toString(used.output()),
                                Long.toString(used.cached()))));
        return days;
    }

    private void listed(MemoryKey key, long number, String described, String active) {
        if (described.isEmpty()) {
            tenants.touchSoon(key, number, active);
        } else {
            tenants.begin(key, number, described, active);
        }
    }

    private Reply creating(String what, MemoryKey key, String active, Map<String, String> metadata, Request request) {
        Long known = absent.get(key);
        if (known != null) {
            request.with("number", register(key, active, known, metadata));
        }
        Reply reply = script.run(what, key, request);
        for (int attempt = 0; reply.is("unregistered"); attempt++) {
            if (attempt == MemoryScript.ATTEMPTS) {
                throw new StorageUnavailableException(
                        what + ": the memory was erased during each try. Retry later", null);
            }
            request.with("number", register(key, active, reply.number(1), metadata));
            reply = script.run(what, key, request);
        }
        absent.remove(key);
        return reply;
    }

    private long register(MemoryKey key, String active, long above, Map<String, String> metadata) {
        script.requireOpen("registration of memory " + key);
        return tenants.register(key, active, above, metadata);
    }

    private static Instant latest(List<NewMessage> messages, Instant now) {
        return messages.stream()
                .map(message -> Contents.time(message, now))
                .max(Comparator.naturalOrder())
                .orElse(now);
    }
}
