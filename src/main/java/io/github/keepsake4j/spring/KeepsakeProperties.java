package io.github.keepsake4j.spring;

import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.sql.SchemaMode;
import io.github.keepsake4j.turn.TurnPolicy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.scheduling.support.CronExpression;

/**
 * The properties. An unknown name below the prefix is an error, because a misspelt property would be a setting that is
 * silently not there.
 *
 * @param enabled whether there are any beans of Keepsake4j
 * @param store where memories are kept; without it, the only store that is configured
 * @param tenant the tenant of memory ids that name none, such as a String
 * @param acceptDefaultMemoryId whether AI services without a MemoryId may be used; all their users share one memory
 * @param keepRequests whether the whole request is kept beside an answer where the stored messages do not tell it
 * @param importFrom name of the ChatMemoryStore or ImportSource bean whose conversations are taken in when they are used
 * @param shutdownMaxWait how long a stopping application waits for summaries and the index
 * @param strategy what the model sees
 * @param summary summaries in place of old turns
 * @param turns what happens when two turns of a conversation meet
 * @param nodeLog another store for the memories of nodes
 * @param index the index for search and recall
 * @param memories memories that are made of conversations
 * @param retention removal of memories that are not used any more
 * @param jdbc the store jdbc
 * @param sqlite the store sqlite
 * @param file the store file
 * @param redis the store redis
 * @param s3 the store s3
 */
@ConfigurationProperties(prefix = KeepsakeProperties.PREFIX, ignoreUnknownFields = false)
record KeepsakeProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable Store store,
        @DefaultValue("default") String tenant,
        boolean acceptDefaultMemoryId,
        boolean keepRequests,
        @Nullable String importFrom,
        @DefaultValue("10s") Duration shutdownMaxWait,
        @DefaultValue Strategy strategy,
        @DefaultValue Summary summary,
        @DefaultValue Turns turns,
        @DefaultValue NodeLog nodeLog,
        @DefaultValue Index index,
        @DefaultValue Memories memories,
        @DefaultValue Retention retention,
        @DefaultValue Jdbc jdbc,
        @DefaultValue Sqlite sqlite,
        @DefaultValue File file,
        @DefaultValue Redis redis,
        @DefaultValue S3 s3) {

    static final String PREFIX = "keepsake4j";

    private static final Duration DAY = Duration.ofDays(1);

    KeepsakeProperties {
        Ids.check(PREFIX + ".tenant", tenant);
        notBlank("import-from", importFrom);
        range("shutdown-max-wait", Duration.ZERO, DAY, shutdownMaxWait);
        if (retention.cron() != null && retention.tenants().isEmpty()) {
            retention = retention.of(tenant);
        }
    }

    /**
     * What the model sees. The limits that are set hold together.
     *
     * @param maxMessages how many of the newest messages the model sees at most; 50 if no limit is set
     * @param maxTurns how many of the newest turns the model sees at most
     * @param maxTokens how many tokens the messages that the model sees have at most
     * @param step how many messages a window moves at once, so that a prompt cache holds between the moves
     * @param model the model whose tokens are counted, such as gpt-4o
     * @param keepToolResults how many of the newest tool results are shown in full; older ones are shown as cleared
     */
    record Strategy(
            @Nullable Integer maxMessages,
            @Nullable Integer maxTurns,
            @Nullable Integer maxTokens,
            @Nullable Integer step,
            @Nullable String model,
            @Nullable Integer keepToolResults) {

        Strategy {
            atLeast("strategy.max-messages", 1, maxMessages);
            atLeast("strategy.max-turns", 1, maxTurns);
            atLeast("strategy.max-tokens", 1, maxTokens);
            atLeast("strategy.step", 1, step);
            atLeast("strategy.keep-tool-results", 0, keepToolResults);
            notBlank("strategy.model", model);
        }
    }

    /**
     * Summaries in place of old turns.
     *
     * @param enabled whether a ChatModel bean writes summaries in the background
     * @param chatModel name of the ChatModel bean that writes them, if there are several
     * @param triggerTokens from how many tokens on a summary is made
     * @param keepTokens how many of the newest tokens a summary leaves out
     * @param instructions what the model is told to write, in place of the standard text
     * @param timeout how long one call of the model may take
     */
    record Summary(
            boolean enabled,
            @Nullable String chatModel,
            @DefaultValue("4000") int triggerTokens,
            @DefaultValue("1000") int keepTokens,
            @Nullable String instructions,
            @DefaultValue("60s") Duration timeout) {

        Summary {
            notBlank("summary.chat-model", chatModel);
            notBlank("summary.instructions", instructions);
            atLeast("summary.trigger-tokens", 1, triggerTokens);
            atLeast("summary.keep-tokens", 0, keepTokens);
            if (keepTokens >= triggerTokens) {
                throw wrong(
                        "summary.keep-tokens",
                        "must be less than summary.trigger-tokens (" + triggerTokens + "), is " + keepTokens);
            }
            range("summary.timeout", Duration.ofMillis(1), DAY, timeout);
        }
    }

    /**
     * What happens when two turns of a conversation meet in Keepsake.turn.
     *
     * @param policy whether both go on, the later one fails, or it waits
     * @param lease how long a turn excludes others after its process was killed
     * @param limit how long a turn that does not end excludes others
     * @param maxWait how long a turn waits for another one
     */
    record Turns(
            @DefaultValue("keep") TurnPolicy policy,
            @DefaultValue("60s") Duration lease,
            @DefaultValue("10m") Duration limit,
            @DefaultValue("60s") Duration maxWait) {

        Turns {
            range("turns.lease", Duration.ofMillis(1), DAY, lease);
            range("turns.limit", Duration.ofMillis(1), DAY, limit);
            range("turns.max-wait", Duration.ZERO, DAY, maxWait);
        }
    }

    /**
     * Another store for the memories of nodes, such as agents.
     *
     * @param store where memories of nodes are kept, with the properties of that store; by default where all are
     */
    record NodeLog(@Nullable Store store) {}

    /**
     * The index for search and recall.
     *
     * @param enabled whether there is an index; made in PostgreSQL if the memories are there, else in memory
     * @param file a SQLite file of its own for the index
     */
    record Index(boolean enabled, @Nullable Path file) {

        Index {
            if (file != null && !enabled) {
                throw wrong("index.file", "needs keepsake4j.index.enabled=true");
            }
        }
    }

    /**
     * Memories that are made of conversations in the background.
     *
     * @param enabled whether memories are made
     * @param chatModel name of the ChatModel bean that makes them, if there are several
     * @param freshness how long after a message memories are made of it at the latest
     * @param discussion how they are made, as the text of WilmerAI's JSON; by default with its defaults
     * @param discussionFile location of a file with this JSON, such as file:discussion.json or classpath:discussion.json
     * @param workflowDirectory where workflow files are that the JSON names and that are no MemoryWorkflow beans
     * @param store where they are kept, file or jdbc (PostgreSQL); file if there is a directory, else where conversations are
     * @param directory the directory of the store file, made if it is absent
     * @param leastTrust the least trust of memories that retrievers read
     * @param userTextOnly whether they are made of what users wrote alone
     * @param blockTokens shows the model the newest ones in one message of at most so many tokens; by default none
     */
    record Memories(
            boolean enabled,
            @Nullable String chatModel,
            @DefaultValue("5m") Duration freshness,
            @Nullable String discussion,
            @Nullable String discussionFile,
            @Nullable Path workflowDirectory,
            @Nullable Store store,
            @Nullable Path directory,
            @DefaultValue("retrieved") Trust leastTrust,
            boolean userTextOnly,
            @Nullable Integer blockTokens) {

        Memories {
            if (blockTokens != null && !enabled) {
                throw wrong("memories.block-tokens", "needs keepsake4j.memories.enabled=true");
            }
            atLeast("memories.block-tokens", 1, blockTokens);
            notBlank("memories.chat-model", chatModel);
            notBlank("memories.discussion", discussion);
            notBlank("memories.discussion-file", discussionFile);
            range("memories.freshness", Duration.ZERO, DAY, freshness);
            if (discussion != null && discussionFile != null) {
                throw wrong(
                        "memories.discussion-file", "is set besides keepsake4j.memories.discussion; one is allowed");
            }
            if (store != null && store != Store.JDBC && store != Store.FILE) {
                throw wrong("memories.store", "must be jdbc or file, is " + store.value());
            }
            if (store == Store.FILE && directory == null) {
                throw wrong("memories.directory", "is required by keepsake4j.memories.store=file");
            }
            if (store == Store.JDBC && directory != null) {
                throw wrong("memories.directory", "is not used by keepsake4j.memories.store=jdbc");
            }
        }
    }

    /**
     * Removal of memories that are not used any more. Off unless there is a cron expression.
     *
     * @param cron when memories are removed, as in Spring's scheduling, such as 0 0 3 * * *; off if absent or -
     * @param zone the time zone of the cron expression
     * @param idleFor how long a memory must be unused
     * @param tombstonesFor how long the marks of erased memories are kept
     * @param batchSize how many memories are listed at once
     * @param tenants the tenants whose memories are removed; by default keepsake4j.tenant
     */
    record Retention(
            @Nullable String cron,
            @DefaultValue("UTC") ZoneId zone,
            @Nullable Duration idleFor,
            @DefaultValue("30d") Duration tombstonesFor,
            @DefaultValue("100") int batchSize,
            @DefaultValue List<String> tenants) {

        static final String OFF = "-";

        Retention {
            cron = cron == null || cron.equals(OFF) ? null : cron;
            tenants = List.copyOf(tenants);
            if (cron != null && !CronExpression.isValidExpression(cron)) {
                throw wrong("retention.cron", "must be a cron expression such as 0 0 3 * * *, is " + cron);
            }
            if (cron != null && idleFor == null) {
                throw wrong("retention.idle-for", "is required with retention.cron, such as 180d");
            }
            positive("retention.idle-for", idleFor);
            positive("retention.tombstones-for", tombstonesFor);
            InvalidInputException.checkRange(PREFIX + ".retention.batch-size", 1, 1000, batchSize);
        }

        Retention of(String tenant) {
            return new Retention(cron, zone, idleFor, tombstonesFor, batchSize, List.of(tenant));
        }
    }

    /**
     * The store jdbc.
     *
     * @param initializeSchema whether the tables are made at the start: in SQLite only, always, or never
     * @param platform the database, postgresql or sqlite; asked of the DataSource if absent
     * @param schema location of a script that makes the tables, in place of the script in the jar; PostgreSQL only
     * @param statementTimeout how long one statement may take
     * @param transactionPooler whether there is a transaction pooler, such as PgBouncer, that tracks no prepared statements
     */
    record Jdbc(
            @DefaultValue("embedded") SchemaMode initializeSchema,
            @Nullable String platform,
            @Nullable String schema,
            @DefaultValue("30s") Duration statementTimeout,
            boolean transactionPooler) {

        Jdbc {
            if (platform != null && !platform.equals("postgresql") && !platform.equals("sqlite")) {
                throw wrong("jdbc.platform", "must be postgresql or sqlite, is " + platform);
            }
            notBlank("jdbc.schema", schema);
            range("jdbc.statement-timeout", Duration.ofSeconds(1), DAY, statementTimeout);
            if (schema != null && initializeSchema != SchemaMode.ALWAYS) {
                throw wrong("jdbc.schema", "is run only with keepsake4j.jdbc.initialize-schema=always");
            }
        }
    }

    /**
     * The store sqlite.
     *
     * @param file the file; its directory must exist
     */
    record Sqlite(@Nullable Path file) {}

    /**
     * The store file.
     *
     * @param directory the directory, made if it is absent
     * @param fsync whether each append is synced to the device
     */
    record File(@Nullable Path directory, @DefaultValue("true") boolean fsync) {}

    /**
     * The store redis.
     *
     * @param url the server, such as redis://localhost:6379; without it, the UnifiedJedis bean is used
     * @param prefix what all keys begin with
     * @param timeToLive how long a memory that is not used is kept; for ever if absent
     */
    record Redis(@Nullable URI url, @DefaultValue("keepsake:") String prefix, @Nullable Duration timeToLive) {

        Redis {
            if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
                throw wrong("redis.prefix", "must not contain { or }, which a cluster reads; is " + prefix);
            }
            if (timeToLive != null && timeToLive.compareTo(Duration.ofMillis(1)) < 0) {
                throw wrong("redis.time-to-live", "must be 1ms or more, is " + timeToLive);
            }
        }

        /** Shows no URL, which may have a password. */
        @Override
        public String toString() {
            return "Redis[prefix=" + prefix + ", timeToLive=" + timeToLive + "]";
        }
    }

    /**
     * The store s3.
     *
     * @param bucket the bucket, which must exist
     * @param prefix what all names of objects begin with
     * @param endpoint the server, unless it is Amazon's; without endpoint and region, an S3Client bean is used if there is one
     * @param region the region
     * @param accessKey id of the credentials; without it, the SDK looks for credentials itself
     * @param secretKey secret of the credentials
     * @param pathStyle whether the bucket is in the path; by default, what the library chooses for the endpoint
     * @param turnMode whether the messages of a turn are written together at its end
     */
    record S3(
            @Nullable String bucket,
            @Nullable String prefix,
            @Nullable URI endpoint,
            @Nullable String region,
            @Nullable String accessKey,
            @Nullable String secretKey,
            @Nullable Boolean pathStyle,
            boolean turnMode) {

        S3 {
            notBlank("s3.bucket", bucket);
            if ((accessKey == null) != (secretKey == null)) {
                throw wrong(
                        accessKey == null ? "s3.access-key" : "s3.secret-key", "is missing; both keys or none are set");
            }
        }

        /** Shows no secret. */
        @Override
        public String toString() {
            return "S3[bucket=" + bucket + ", prefix=" + prefix + ", endpoint=" + endpoint + ", region=" + region + "]";
        }
    }

    private static void atLeast(String name, int least, @Nullable Integer value) {
        if (value != null) {
            InvalidInputException.checkAtLeast(PREFIX + "." + name, least, value);
        }
    }

    private static void range(String name, Duration least, Duration most, Duration value) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw wrong(name, "must be from " + least + " to " + most + ", is " + value);
        }
    }

    private static void positive(String name, @Nullable Duration value) {
        if (value != null && (value.isZero() || value.isNegative())) {
            throw wrong(name, "must be more than zero, is " + value);
        }
    }

    private static void notBlank(String name, @Nullable String value) {
        if (value != null && value.isBlank()) {
            throw wrong(name, "must not be blank");
        }
    }

    private static InvalidInputException wrong(String name, String problem) {
        return new InvalidInputException(PREFIX + "." + name, problem);
    }
}
