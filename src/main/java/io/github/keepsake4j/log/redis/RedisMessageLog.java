package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.InvalidURIException;

/**
 * A log in Redis 5 or newer, including Redis Cluster, without modules. An append is one command. A read of up to 500
 * messages is one command too. The first append to a memory is preceded by one that registers it in its tenant's list.
 *
 * <p><b>Durability.</b> An acknowledged append survives a crash of the server if {@code appendonly} is {@code yes} and
 * {@code appendfsync} is {@code always}. Replication is asynchronous: a failover loses what the replica does not have
 * yet. An eviction ({@code maxmemory-policy}) removes memories without an error, so set the policy to
 * {@code noeviction}. An append to a full server then fails and can be sent again. When a log is opened, it reads these
 * settings and logs warnings ({@link Builder#checks}).
 *
 * <p><b>Lists.</b> {@link #list} sends one command for each memory of its page, and at most 500 more for stale entries.
 * A list with usage goes through the tenant's memories until its page is full, one command each. {@link #nodes} takes a
 * command for each 500 memories of the tenant, and one for each node. The list by activity lags behind the appends of
 * other processes by at most 10 seconds. If a process is killed, the memories to which it appended in its last seconds
 * keep their place until the next append.
 *
 * <p><b>Time to live.</b> If it is set ({@link Builder#timeToLive}), each use of a memory renews it. A memory expires
 * as a whole, with its tombstone.
 *
 * <p>A lease ends by the clock of the server. Thread-safe.
 */
public final class RedisMessageLog implements MessageLog {

    /** The reaction to settings of the server with which acknowledged messages may be lost. */
    public enum Checks {
        /** The server is not asked. */
        NONE,
        /**
         * Each such setting is logged with its name. A setting that the server does not return is logged as unknown.
         */
        WARN,
        /**
         * The log is not opened: {@link Builder#build} throws. A server that has replicas or does not return its
         * settings is refused too.
         */
        REQUIRE
    }

    private final UnifiedJedis client;
    private final boolean ownsClient;
    private final String prefix;
    private final Clock clock;
    private final MemoryScript script;
    private final TenantList tenants;
    private final Writer writer;
    private final Reader reader;
    private final Listing listing;
    private boolean closed;

    private RedisMessageLog(Builder builder, UnifiedJedis client, boolean ownsClient) {
        this.client = client;
        this.ownsClient = ownsClient;
        this.prefix = builder.prefix;
        this.clock = builder.clock;
        Commands commands = new Commands(client, Commands.name(builder.server));
        Keys keys = new Keys(builder.prefix);
        this.script = new MemoryScript(commands, keys, builder.timeToLive);
        this.tenants = new TenantList(commands, keys, builder.listed, builder.lag);
        this.writer = new Writer(script, tenants, builder.listed);
        this.reader = new Reader(script, writer);
        this.listing = new Listing(script, tenants, writer, builder.listed);
    }

    /**
     * Opens a log in one server. Reads the server's settings and logs warnings about them.
     *
     * @param server the server, such as {@code redis://localhost:6379}, or {@code rediss://user:password@host:6379} for TLS
     *     and a password
     * @return the log, to be closed at the end
     * @throws InvalidInputException if the URI is not the URI of a server
     */
    public static RedisMessageLog connect(URI server) {
        Library.require(Library.REDIS);
        return builder().server(server).build();
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

    /** Does not show the server, whose URI may contain a password. */
    @Override
    public String toString() {
        return "RedisMessageLog[" + prefix + "]";
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return writer.append(key, append, now());
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return reader.read(key, query);
    }

    @Override
    public Map<MemoryKey, List<Found>> find(Selection selection) {
        return selection.each(
                (key, ids) -> reader.find(key, ids, selection.made()),
                (key, sequences) -> reader.findAt(key, sequences, selection.made()));
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return reader.onBranch(key, sequences);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return reader.history(key, query);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return reader.branches(key);
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return change.by(new Kinds(key));
    }

    /** The changes of one memory. */
    private final class Kinds implements Change.Kinds {

        private final MemoryKey key;

        Kinds(MemoryKey key) {
            this.key = key;
        }

        @Override
        public String moveHead(Change.MoveHead change) {
            Request request = script.use("moveHead").with("id", Text.id(change.messageId()));
            return change("move of the head of", change.epoch(), request).text(1);
        }

        @Override
        public void moveBranch(Change.MoveBranch change) {
            Request request =
                    script.use("moveBranch").with("reference", change.name()).with("id", Text.id(change.messageId()));
            change("move of a branch of", change.epoch(), request);
        }

        @Override
        public void setOutcome(Change.SetOutcome change) {
            Request request = script.use("outcome")
                    .with("id", Text.id(change.messageId()))
                    .text(NotesText.of(change.outcome()));
            change("outcome in", change.epoch(), request);
        }

        @Override
        public Map<String, String> describe(Change.Describe change) {
            return writer.describe(key, change, now());
        }

        @Override
        public void putSummary(Change.PutSummary change) {
            Request request = script.use("putSummary")
                    .with("id", Text.id(change.summary().coversUpTo()))
                    .with("version", change.summary().version())
                    .text(Contents.summary(change.summary()));
            change("summary of", change.epoch(), request);
        }

        private Reply change(String what, @Nullable Long epoch, Request request) {
            return script.change(what + " memory " + key, key, epoch, request.with("epoch", epoch));
        }
    }

    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        return reader.details(key, parts);
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        return listing.list(tenant, query);
    }

    @Override
    public List<NodeKey> nodes(ConversationKey conversation) {
        return listing.nodes(conversation);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        // Refuses a duration that no clock can end.
        InputRules.leaseEnd(clock.instant(), duration);
        Request request = script.use("acquire")
                .with("name", name)
                .with("owner", owner)
                .with("lasts", duration.getSeconds() * 1_000_000 + duration.getNano() / 1_000);
        Reply reply = script.run("lease " + name + " of memory " + key, key, request);
        if (reply.is("held")) {
            return Optional.empty();
        }
        Instant begin = Instant.EPOCH.plus(reply.number(1), ChronoUnit.MICROS);
        Instant end = duration.compareTo(Duration.between(begin, InputRules.LATEST)) > 0
                ? InputRules.LATEST
                : begin.plus(duration).truncatedTo(ChronoUnit.MICROS);
        return Optional.of(new Lease(name, owner, end));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        Request request = script.use("release").with("name", name).with("owner", owner);
        script.run("release of lease " + name + " of memory " + key, key, request);
    }

    @Override
    public long erase(MemoryKey key) {
        return erased(key, script.run("erasure of memory " + key, key, script.use("erase")));
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        // First, because a memory that is erased and written again meanwhile may have as many messages.
        long epoch = read(key, ReadQuery.newest(0)).epoch();
        // Throws if it cannot be read: a memory that may be repaired is not erased.
        history(key, HistoryQuery.newest(1));
        MemoryInfo info = details(key, Set.of(MemoryDetails.Part.INFO)).info();
        if (info == null || !info.lastUse().isBefore(since)) {
            return false;
        }
        Reply reply = script.run(
                "erasure of memory " + key,
                key,
                script.use("erase").with("count", info.messages()).with("epoch", epoch));
        if (reply.is("changed")) {
            return false;
        }
        erased(key, reply);
        return true;
    }

    private long erased(MemoryKey key, Reply reply) {
        if (reply.number(2) > 0) {
            tenants.remove(key, reply.number(2));
        }
        writer.noteAbsent(key, reply.number(2));
        return reply.number(1);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(() -> checker(key).check());
    }

    @Override
    public Repair repair(MemoryKey key) {
        Repair repair = MemoryScript.untilDone(
                "repair of memory " + key + ": the memory was changed during each try. Retry later",
                () -> Optional.ofNullable(checker(key).repair()));
        writer.relist(key);
        return repair;
    }

    private Checker checker(MemoryKey key) {
        return new Checker(key, request -> script.run("check of memory " + key, key, request));
    }

    private Instant now() {
        return InputRules.time("clock", clock.instant());
    }

    /** Sends the remaining changes of the order by activity. A client that the user passed stays open. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            script.close();
            tenants.close();
            if (ownsClient) {
                client.close();
            }
        }
    }

    /** Configures a log in Redis. Not thread-safe. */
    public static final class Builder {

        private @Nullable UnifiedJedis client;
        private @Nullable URI server;
        private String prefix = "keepsake:";
        private Checks checks = Checks.WARN;
        private ListedMetadata listed = ListedMetadata.NONE;
        private Clock clock = Clock.systemUTC();
        private @Nullable Duration timeToLive;
        private Duration lag = TenantList.LAG;

        private Builder() {}

        /**
         * Sets the client: Jedis's {@code RedisClient}, {@code RedisClusterClient}, {@code RedisSentinelClient}, or
         * another client of the same type. Its pool limits the number of concurrent calls, and its timeouts limit the
         * time of a call. It stays open when the log is closed.
         *
         * @param jedis the client
         * @return this
         */
        public Builder client(UnifiedJedis jedis) {
            this.client = InvalidInputException.given("jedis", jedis);
            return this;
        }

        /**
         * Sets the server, instead of a client. The log creates a client with Jedis's defaults, and closes it.
         *
         * @param uri the server, such as {@code redis://localhost:6379}
         * @return this
         */
        public Builder server(URI uri) {
            this.server = InvalidInputException.given("uri", uri);
            return this;
        }

        /**
         * Sets the prefix of all keys. Logs with different prefixes share nothing. Default: {@code keepsake:}.
         *
         * @param keyPrefix any text without braces, because a cluster interprets braces
         * @return this
         * @throws InvalidInputException if it contains a brace
         */
        public Builder prefix(String keyPrefix) {
            if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
                throw new InvalidInputException(
                        "prefix", "must not contain { or }, because a cluster interprets them; is " + keyPrefix);
            }
            this.prefix = keyPrefix;
            return this;
        }

        /**
         * Sets the time for which an unused memory is kept. Each call that names a memory uses it, except lists. Set
         * the same time in all processes. The entry of a memory that expired stays in its tenant's list until a list or
         * a clean-up finds it. Default: memories are kept for ever.
         *
         * @param unused the time since the last use, at least a millisecond, or null for ever
         * @return this
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
         * Sets the reaction to settings of the server with which acknowledged messages may be lost: eviction, files
         * that are not synced, replicas. In a cluster, each node is checked. Default: {@link Checks#WARN}.
         *
         * @param strictness the reaction
         * @return this
         */
        public Builder checks(Checks strictness) {
            this.checks = InvalidInputException.given("strictness", strictness);
            return this;
        }

        /**
         * Declares the metadata names by which {@link ListQuery#withMetadata} lists memories. Default: none. The first such
         * query of a tenant puts all its memories on the lists, if it has memories from before the declaration. A process
         * that does not declare a name does not change its lists when it describes a memory, so declare the same names in
         * all processes.
         *
         * @param names up to three names, such as {@code user}
         * @return this
         * @throws InvalidInputException if there are too many names, or one is no id
         */
        public Builder listedMetadata(String... names) {
            this.listed = ListedMetadata.of(names);
            return this;
        }

        /** Sets a test's clock. Leases end by the clock of the server. */
        Builder clock(Clock testClock) {
            this.clock = testClock;
            return this;
        }

        /** Sets the time for which changes of the order by activity are collected. For tests. */
        Builder lag(Duration collected) {
            this.lag = collected;
            return this;
        }

        /**
         * Opens the log. Checks the server's settings that may lose messages.
         *
         * @return the log, to be closed at the end
         * @throws InvalidInputException if neither or both of client and server are given, or {@link Checks#REQUIRE} refuses
         *     a setting
         * @throws StorageUnavailableException if checks are required and the server cannot be reached
         */
        public RedisMessageLog build() {
            if ((client == null) == (server == null)) {
                throw new InvalidInputException(
                        "client",
                        client == null ? "or server is required" : "and server are both set; set one of them");
            }
            boolean ownsClient = client == null;
            UnifiedJedis used = client == null ? connected(Objects.requireNonNull(server)) : client;
            try {
                ServerSettings.check(used, Commands.name(server), checks, timeToLive != null);
                return new RedisMessageLog(this, used, ownsClient);
            } catch (RuntimeException e) {
                if (ownsClient) {
                    used.close();
                }
                throw e;
            }
        }

        private static UnifiedJedis connected(URI uri) {
            try {
                return RedisClient.create(uri);
            } catch (IllegalArgumentException | InvalidURIException e) {
                // Their messages may hold the password.
                throw new InvalidInputException(
                        "server",
                        "must begin with redis:// or rediss://, such as redis://localhost:6379. Within a user or a"
                                + " password, write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25");
            }
        }
    }
}
