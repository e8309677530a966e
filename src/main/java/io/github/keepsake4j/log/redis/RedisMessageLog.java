package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.log.ActivityCursor;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.DamagedMemory;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogClosedException;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.NotesText;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A log in Redis, also in a Redis Cluster. An append is one command, and so is a read of up to 500 messages. The first append
 * to a memory is preceded by one that registers it in its tenant's list.
 *
 * <p><b>Durability.</b> An acknowledged append survives a crash of the server if {@code appendonly} is {@code yes} and
 * {@code appendfsync} is {@code always}. Replication is asynchronous: a failover loses what the replica does not have yet. An
 * eviction ({@code maxmemory-policy}) takes a memory as a whole and without an error, so it should be {@code noeviction}; an
 * append to a full server then fails and can be sent again. When a log is opened, it asks for these settings and warns.
 *
 * <p><b>Order by activity.</b> The list by activity lags behind the appends of other processes by some seconds. If a process
 * is killed, what it appended to in its last seconds keeps its place until the next append.
 *
 * <p><b>Time to live.</b> If it is set ({@link Builder#timeToLive}), each use of a memory renews it. A memory that expires is
 * gone as a whole, with its tombstone.
 *
 * <p>A lease ends by the clock of the server. Thread-safe.
 */
public final class RedisMessageLog implements MessageLog {

    /** So many messages are read by one script, which keeps the server from other work. */
    private static final int CHUNK = 500;

    private static final int ATTEMPTS = 20;
    private static final int KNOWN = 10_000;
    private static final Instant LATEST = Instant.EPOCH.plus(Long.MAX_VALUE, ChronoUnit.MICROS);

    private final Commands commands;
    private final Keys keys;
    private final Clock clock;
    private final @Nullable Duration timeToLive;
    private final TenantList tenants;

    /** The memories that a read lately found not to exist, with the number that is not theirs any more. */
    private final RecentlyUsed<MemoryKey, Long> absent = new RecentlyUsed<>(KNOWN);

    private volatile boolean closed;

    private RedisMessageLog(Builder builder, Commands commands) {
        this.commands = commands;
        this.keys = new Keys(builder.prefix);
        this.clock = builder.clock;
        this.timeToLive = builder.timeToLive;
        this.tenants = new TenantList(commands, keys, builder.lag);
        ServerSettings.warn(commands, timeToLive != null);
    }

    /**
     * Starts the configuration of a log.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public String backend() {
        return "redis";
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        Instant now = InputRules.time("clock", clock.instant());
        List<NewMessage> messages = append.messages();
        Request request = appendRequest(append, now);
        for (NewMessage message : messages) {
            request.text(message.id())
                    .text(message.message().type().name())
                    .text(Integer.toString(message.tokens()))
                    .text(Contents.message(message, now))
                    .text(NotesText.of(message.outcome()))
                    .text(NotesText.of(message.seen(), message.usage()));
        }
        Instant last = messages.isEmpty() ? now : time(messages.get(messages.size() - 1), now);
        Reply reply = creating("append to memory " + key, key, Text.stamp(last), request);
        switch (reply.kind()) {
            case "erased" -> AppendRules.checkEpoch(key, append.epoch(), reply.number(1));
            case "position" -> AppendRules.checkPosition(key, append, position(reply, 1, 3));
            case "parent" -> throw new UnknownParentException(key, ((Parent.Of) append.parent()).id());
            case "empty" ->
                throw new InvalidInputException("view", "cannot be set on memory " + key + ", which has no messages");
            case "stored" -> {
                Map<String, LoggedMessage> stored = new LinkedHashMap<>();
                messages(key, reply.list(4)).forEach(each -> stored.put(each.id(), each));
                if (AppendRules.isReplay(key, append, stored)) {
                    return new AppendResult(reply.nullableText(3), position(reply, 1, 3), 0, true);
                }
            }
            case "done" -> {
                if (!messages.isEmpty()) {
                    listed(key, reply.number(8), reply.text(7), reply.text(6));
                }
                return new AppendResult(reply.nullableText(3), position(reply, 1, 4), reply.number(5), false);
            }
            default -> throw unknown(key, reply);
        }
        throw new IllegalStateException("the rules accept what the script refused: " + reply.kind());
    }

    private Request appendRequest(Append append, Instant now) {
        List<NewMessage> messages = append.messages();
        Request request = request("append")
                .with("epoch", append.epoch())
                .with("revision", append.revision())
                .with("expects", append.expectsHead())
                .with("expected", append.expectsHead() ? textOrEmpty(append.expectedHead()) : null)
                .with("importing", append.importing())
                .with("reference", append.reference())
                .with("now", now.toString());
        if (append.parent() instanceof Parent.Root) {
            request.with("parent", "root");
        } else if (append.parent() instanceof Parent.Of of) {
            boolean isBefore = of.id().equals(Ids.BEFORE_IN_TIME);
            request.with("parent", isBefore ? "before" : "of").with("parentId", isBefore ? null : Text.id(of.id()));
        }
        if (append.view() != null) {
            String anchor = append.view().anchor();
            request.with("view", Contents.view(append.view()))
                    .with("anchor", anchor == null ? null : Text.id(anchor))
                    .withAll(
                            "names", append.namedByView().stream().map(Text::id).toList());
        }
        if (!messages.isEmpty()) {
            Instant last = time(messages.get(messages.size() - 1), now);
            request.with("first", time(messages.get(0), now).toString())
                    .with("last", last.toString())
                    .with("active", Text.stamp(last))
                    .with(
                            "tokens",
                            messages.stream().mapToLong(NewMessage::tokens).sum())
                    .withAll("usage", usage(append, now));
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

    /** Makes a change that may create the memory, which is registered first. */
    private Reply creating(String what, MemoryKey key, String active, Request request) {
        Long known = absent.get(key);
        if (known != null) {
            request.with("number", register(key, active, known));
        }
        Reply reply = run(what, key, request);
        for (int attempt = 0; reply.is("unregistered"); attempt++) {
            if (attempt == ATTEMPTS) {
                throw new StorageUnavailableException(what + ": it is erased again and again meanwhile", null);
            }
            request.with("number", register(key, active, reply.number(1)));
            reply = run(what, key, request);
        }
        absent.remove(key);
        return reply;
    }

    private long register(MemoryKey key, String active, long above) {
        requireOpen("registration of memory " + key);
        return tenants.register(key, active, above);
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Tail tail = attempt(key, query);
            if (tail != null) {
                return tail;
            }
        }
        throw new StorageUnavailableException(
                "read of memory " + key + ": it is erased again and again meanwhile", null);
    }

    /** Returns null if the memory was erased between two parts of a long read. */
    private @Nullable Tail attempt(MemoryKey key, ReadQuery query) {
        String what = "read of memory " + key;
        Request request = request("read")
                .with("reference", query.reference())
                .with("from", query.from() == null ? null : Text.id(query.from()))
                .with("after", query.after() == null ? null : Text.id(query.after()))
                .with("toSummary", query.toSummary())
                .with("most", (long) Math.min(CHUNK, query.maxMessages()))
                .with("mostTokens", query.maxTokens())
                .with("oldest", (long) query.oldest());
        Reply reply = run(what, key, request);
        switch (reply.kind()) {
            case "none" -> {
                if (reply.number(4) == 0) {
                    absent.put(key, reply.number(3));
                }
                return Tail.empty(new Position(reply.number(1), reply.number(2), null));
            }
            case "noAncestor" -> throw UnknownMessageException.noAncestor(key, "after");
            case "tail" -> {
                // Continues below.
            }
            default -> throw unknown(key, reply);
        }
        Position position = position(reply, 1, 3);
        List<LoggedMessage> messages = new ArrayList<>(messages(key, reply.list(4)));
        long next = reply.number(5);
        long tokens = reply.number(6);
        long floor = reply.number(7);
        while (next > floor && messages.size() < query.maxMessages() && tokens < query.maxTokens()) {
            Request more = request("more")
                    .with("epoch", position.epoch())
                    .with("start", next)
                    .with("floor", floor)
                    .with("most", (long) Math.min(CHUNK, query.maxMessages() - messages.size()))
                    .with("mostTokens", query.maxTokens() - tokens);
            Reply part = run(what, key, more);
            if (part.is("erased")) {
                return null;
            }
            messages.addAll(messages(key, part.list(1)));
            next = part.number(2);
            tokens += part.number(3);
        }
        Collections.reverse(messages);
        List<LoggedMessage> oldest = new ArrayList<>(messages(key, reply.list(8)));
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

    private static @Nullable LoggedMessage inForce(MemoryKey key, Reply answer, List<LoggedMessage> messages) {
        long seq = answer.number(0);
        if (seq == 0) {
            return null;
        }
        if (answer.size() > 1) {
            return Contents.message(key, answer.list(1));
        }
        for (int i = messages.size() - 1; i >= 0; i--) {
            if (messages.get(i).sequence() == seq) {
                return messages.get(i);
            }
        }
        throw new IllegalStateException("message " + seq + " was read");
    }

    @Override
    public List<LoggedMessage> find(MemoryKey key, Collection<String> ids) {
        List<String> wanted = new LinkedHashSet<>(ids).stream().map(Text::id).toList();
        List<LoggedMessage> found = new ArrayList<>();
        for (int from = 0; from == 0 || from < wanted.size(); from += CHUNK) {
            Request request =
                    request("find").withAll("ids", wanted.subList(from, Math.min(wanted.size(), from + CHUNK)));
            found.addAll(messages(key, run("read of memory " + key, key, request)));
        }
        found.sort(Comparator.comparingLong(LoggedMessage::sequence));
        return List.copyOf(found);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        List<LoggedMessage> found = new ArrayList<>();
        long sequence = query.sequence();
        // One more than the page has, which tells whether there is another one.
        int wanted = query.limit() + 1;
        while (found.size() < wanted) {
            int most = Math.min(CHUNK, wanted - found.size());
            Request request = request("history")
                    .with("sequence", sequence)
                    .with("forward", query.forward())
                    .with("most", (long) most);
            List<LoggedMessage> part = messages(key, run("read of memory " + key, key, request));
            found.addAll(query.forward() ? found.size() : 0, part);
            if (part.size() < most) {
                break;
            }
            sequence = part.get(query.forward() ? part.size() - 1 : 0).sequence();
        }
        return HistoryPage.of(query, found);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        Reply reply = run("read of memory " + key, key, request("branches"));
        Map<Long, List<String>> names = new HashMap<>();
        for (Reply name : reply.list(2).lists()) {
            names.computeIfAbsent(name.number(1), any -> new ArrayList<>()).add(name.text(0));
        }
        names.values().forEach(Collections::sort);
        List<Branch> branches = new ArrayList<>();
        for (Reply row : reply.list(0).lists()) {
            LoggedMessage leaf = Contents.message(key, row);
            branches.add(new Branch(
                    leaf.id(),
                    row.number(7),
                    leaf.createdAt(),
                    leaf.sequence() == reply.number(1),
                    names.getOrDefault(leaf.sequence(), List.of())));
        }
        return List.copyOf(branches);
    }

    @Override
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        Request request = request("moveHead").with("id", Text.id(messageId)).with("epoch", epoch);
        return change("move of the head of memory " + key, key, epoch, request).text(1);
    }

    @Override
    public void setOutcome(MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        Request request = request("outcome")
                .with("id", Text.id(messageId))
                .with("epoch", epoch)
                .text(NotesText.of(outcome));
        change("outcome in memory " + key, key, epoch, request);
    }

    @Override
    public Optional<Made> made(MemoryKey key, String messageId) {
        Request request = request("made").with("id", Text.id(messageId));
        Reply reply = change("read of memory " + key, key, null, request);
        return Optional.ofNullable(NotesText.made(reply.nullableText(1)));
    }

    @Override
    public List<DailyUsage> usage(String tenant, LocalDate from, LocalDate toExclusive) {
        InputRules.checkUsage(tenant, from, toExclusive);
        requireOpen("usage of tenant " + tenant);
        List<DailyUsage> usage = new ArrayList<>();
        List<TenantList.Entry> part = tenants.before(tenant, Long.MAX_VALUE, CHUNK);
        while (!part.isEmpty()) {
            for (TenantList.Entry entry : part) {
                Reply reply = run("usage of memory " + entry.key(), entry.key(), new Request("usage"));
                for (Reply day : reply.list(1).lists()) {
                    LocalDate date = LocalDate.ofEpochDay(day.number(0));
                    if (reply.number(0) == entry.number() && !date.isBefore(from) && date.isBefore(toExclusive)) {
                        Usage used = new Usage(day.number(1), day.number(2), day.number(3));
                        usage.add(new DailyUsage(entry.key(), date, used));
                    }
                }
            }
            part = tenants.before(tenant, part.get(part.size() - 1).number(), CHUNK);
        }
        usage.sort(Comparator.comparing(DailyUsage::day));
        return List.copyOf(usage);
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        InputRules.checkDescription(title, metadata);
        Instant now = InputRules.time("clock", clock.instant());
        String active = Text.stamp(now);
        Request request = request("describe")
                .with("title", title)
                .with("now", now.toString())
                .with("active", active)
                .text(Text.CODEC.encodeStrings(metadata));
        creating("description of memory " + key, key, active, request);
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        requireOpen("list of tenant " + tenant);
        int some = Math.min(CHUNK, query.limit() + 1);
        if (query.activeFirst()) {
            ActivityCursor first = ActivityCursor.of(query);
            String top = query.cursor() == null ? null : Text.stamp(first.activeAt()) + Text.hex(first.number());
            tenants.flush(tenant);
            return page(
                    query,
                    behind -> tenants.lessActive(tenant, behind == null ? top : behind.place(), some),
                    entry -> new ActivityCursor(Text.ofStamp(entry.active()), entry.number()).cursor());
        }
        long first = query.cursorAsNumber();
        return page(
                query,
                behind -> tenants.before(tenant, behind == null ? first : behind.number(), some),
                entry -> Long.toString(entry.number()));
    }

    private MemoryPage page(
            ListQuery query,
            Function<TenantList.@Nullable Entry, List<TenantList.Entry>> behind,
            Function<TenantList.Entry, String> cursor) {
        List<MemoryInfo> page = new ArrayList<>();
        List<DamagedMemory> damaged = new ArrayList<>();
        TenantList.Entry edge = null;
        List<TenantList.Entry> part = behind.apply(null);
        while (!part.isEmpty()) {
            for (TenantList.Entry entry : part) {
                if (edge != null && page.size() + damaged.size() == query.limit()) {
                    return new MemoryPage(page, damaged, Optional.of(query.startingAt(cursor.apply(edge))));
                }
                try {
                    MemoryInfo info = info(entry);
                    if (info == null) {
                        continue;
                    }
                    page.add(info);
                } catch (UnreadableDataException e) {
                    damaged.add(
                            new DamagedMemory(entry.key().canonical(), entry.key(), String.valueOf(e.getMessage())));
                }
                edge = entry;
            }
            part = behind.apply(part.get(part.size() - 1));
        }
        return new MemoryPage(page, damaged, Optional.empty());
    }

    /** Returns null if the memory was erased, has expired, or was registered and never created. */
    private @Nullable MemoryInfo info(TenantList.Entry entry) {
        MemoryKey key = entry.key();
        // A list is no use of a memory, so it does not renew its time to live.
        Reply reply = run("list of memory " + key, key, new Request("info"));
        if (reply.is("none")) {
            disown(entry);
            return null;
        }
        if (reply.number(1) != entry.number()) {
            return null;
        }
        Instant stored = Contents.time(reply.text(2));
        Instant first = reply.nullableText(5) == null ? stored : Contents.time(reply.text(5));
        Reply title = reply.list(8);
        String metadata = reply.nullableText(7);
        return new MemoryInfo(
                key,
                title.size() == 0 ? null : title.text(0),
                metadata == null ? Map.of() : Text.CODEC.decodeStrings(metadata),
                reply.number(3),
                reply.number(4),
                first.isBefore(stored) ? first : stored,
                reply.nullableText(6) == null ? null : Contents.time(reply.text(6)),
                stored);
    }

    /**
     * Removes what is listed and not there: a memory that has expired, or whose erasure or creation was interrupted. If it is
     * just being created, its number is refused first, so that it is registered again.
     */
    private void disown(TenantList.Entry entry) {
        Request request = request("disown").with("number", entry.number());
        if (run("list of memory " + entry.key(), entry.key(), request).is("done")) {
            tenants.remove(entry.key(), entry.number());
        }
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        Request request = request("putSummary")
                .with("covers", Text.id(summary.coversUpTo()))
                .with("epoch", epoch)
                .text(Contents.summary(summary));
        change("summary of memory " + key, key, epoch, request);
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return run("read of memory " + key, key, request("summaries")).lists().stream()
                .map(row -> Contents.summary(key, row.number(0), row.text(1)))
                .toList();
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        // Refuses a duration that no clock can end.
        InputRules.leaseEnd(clock.instant(), duration);
        Request request = request("acquire")
                .with("name", name)
                .with("owner", owner)
                .with("lasts", duration.getSeconds() * 1_000_000 + duration.getNano() / 1_000);
        Reply reply = run("lease " + name + " of memory " + key, key, request);
        if (reply.is("held")) {
            return Optional.empty();
        }
        Instant begin = Instant.EPOCH.plus(reply.number(1), ChronoUnit.MICROS);
        Instant end = duration.compareTo(Duration.between(begin, LATEST)) > 0
                ? LATEST
                : begin.plus(duration).truncatedTo(ChronoUnit.MICROS);
        return Optional.of(new Lease(name, owner, end));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        Request request = request("release").with("name", name).with("owner", owner);
        run("release of lease " + name + " of memory " + key, key, request);
    }

    @Override
    public long erase(MemoryKey key) {
        Reply reply = run("erasure of memory " + key, key, request("erase"));
        if (reply.number(2) > 0) {
            tenants.remove(key, reply.number(2));
        }
        absent.put(key, reply.number(2));
        return reply.number(1);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(() -> checker(key).check());
    }

    @Override
    public Repair repair(MemoryKey key) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Repair repair = checker(key).repair();
            if (repair != null) {
                return repair;
            }
        }
        throw new StorageUnavailableException(
                "repair of memory " + key + ": it is changed again and again meanwhile", null);
    }

    private Checker checker(MemoryKey key) {
        return new Checker(key, request -> run("check of memory " + key, key, request));
    }

    /** Sends what is left to be sent. A client that the user passed stays open. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            tenants.close();
            commands.close();
        }
    }

    /** A change in an epoch, of a message that must be there. */
    private Reply change(String what, MemoryKey key, @Nullable Long epoch, Request request) {
        Reply reply = run(what, key, request);
        if (reply.is("erased")) {
            AppendRules.checkEpoch(key, epoch, reply.number(1));
        }
        if (reply.is("unknown")) {
            throw unknown(key, reply);
        }
        return reply;
    }

    private static UnknownMessageException unknown(MemoryKey key, Reply reply) {
        if (!reply.is("unknown")) {
            throw new IllegalStateException("unexpected answer of the script: " + reply.kind());
        }
        return UnknownMessageException.notThere(key, reply.text(1), reply.text(2));
    }

    private static Position position(Reply reply, int epoch, int head) {
        return new Position(reply.number(epoch), reply.number(epoch + 1), reply.nullableText(head));
    }

    private static List<LoggedMessage> messages(MemoryKey key, Reply rows) {
        return rows.lists().stream().map(row -> Contents.message(key, row)).toList();
    }

    private static Instant time(NewMessage message, Instant now) {
        return message.createdAt() == null ? now : message.createdAt();
    }

    private static String textOrEmpty(@Nullable String text) {
        return text == null ? "" : Text.id(text);
    }

    /** A request that uses the memory. */
    private Request request(String op) {
        return new Request(op).with("ttl", timeToLive == null ? null : (Long) timeToLive.toMillis());
    }

    private Reply run(String what, MemoryKey key, Request request) {
        requireOpen(what);
        List<byte[]> memory = keys.memory(Objects.requireNonNull(key, "key"));
        return Reply.of(Script.MEMORY.run(commands, what, memory, request.arguments()));
    }

    private void requireOpen(String what) {
        if (closed) {
            throw new LogClosedException(what);
        }
    }

    /** Configures a log in Redis. Not thread-safe. */
    public static final class Builder {

        private @Nullable Commands commands;
        private String prefix = "keepsake:";
        private Clock clock = Clock.systemUTC();
        private @Nullable Duration timeToLive;
        private Duration lag = TenantList.LAG;

        private Builder() {}

        /**
         * Sets what all keys begin with.
         *
         * @param keyPrefix any text without braces, because a cluster reads those; default {@code keepsake:}
         * @return this builder
         * @throws InvalidInputException if it contains a brace
         */
        public Builder prefix(String keyPrefix) {
            if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
                throw new InvalidInputException(
                        "prefix", "must not contain { or }, which a cluster reads; is " + keyPrefix);
            }
            this.prefix = keyPrefix;
            return this;
        }

        /**
         * Sets how long a memory that is not used is kept.
         *
         * @param unused the time since the last read or change, at least a millisecond; null, which is the default, keeps
         *     memories for ever
         * @return this builder
         * @throws InvalidInputException if it is shorter than a millisecond
         */
        public Builder timeToLive(@Nullable Duration unused) {
            if (unused != null && unused.compareTo(Duration.ofMillis(1)) < 0) {
                throw new InvalidInputException("timeToLive", "must be at least a millisecond, is " + unused);
            }
            this.timeToLive = unused;
            return this;
        }

        /**
         * Sets the clock that gives messages their times. Leases end by the clock of the server.
         *
         * @param source the clock; default: the system's
         * @return this builder
         */
        public Builder clock(Clock source) {
            this.clock = source;
            return this;
        }

        /** Sets how long changes of the order by activity are collected. For tests. */
        Builder lag(Duration collected) {
            this.lag = collected;
            return this;
        }

        /** Sets what sends the commands. */
        Builder commands(Commands sender) {
            this.commands = sender;
            return this;
        }

        /**
         * Opens the log. Asks the server for the settings that may make it lose messages, and warns.
         *
         * @return the log, to be closed at the end
         * @throws InvalidInputException if there is no client
         */
        public RedisMessageLog build() {
            if (commands == null) {
                throw new InvalidInputException("client", "is needed");
            }
            return new RedisMessageLog(this, commands);
        }
    }
}
