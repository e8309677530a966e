package io.github.keepsake4j.spring;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.turn.TurnPolicy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.scheduling.support.CronExpression;

/**
 * The properties. An unknown name below the prefix is an error, because a misspelt property would otherwise be ignored
 * silently.
 *
 * @param enabled whether there are any beans of Keepsake4j
 * @param store the store of the memories; by default the only store that is configured
 * @param tenant the tenant of memory ids without a tenant, such as a String
 * @param acceptDefaultMemoryId whether AI services without a MemoryId may be used; all their users share one memory
 * @param keepRequests whether the whole request is stored with an answer if it differs from the stored messages
 * @param showRetrieved the requests that show what was retrieved for a question
 * @param listedMetadata the metadata names by which conversations are listed, at most three, such as user
 * @param importFrom name of the ChatMemoryStore or ImportSource bean whose conversations are imported when they are
 * used
 * @param shutdownMaxWait the time for which a stopping application waits for summaries and the index
 * @param strategy the messages that the model sees
 * @param summary summaries in place of old turns
 * @param turns the policy for two turns of a conversation at the same time
 * @param nodeLog another store for the memories of nodes
 * @param index the index for search and recall
 * @param memories long-term memories of conversations
 * @param retention removal of memories that are no longer used
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
        @DefaultValue("current-turn") Keepsake.ShowRetrieved showRetrieved,
        @DefaultValue List<String> listedMetadata,
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
        if (listedMetadata.size() > ListedMetadata.MOST) {
            throw wrong(
                    "listed-metadata",
                    "may have at most " + ListedMetadata.MOST + " names, has " + listedMetadata.size());
        }
        listedMetadata.forEach(name -> notBlank("listed-metadata", name));
        notBlank("import-from", importFrom);
        range("shutdown-max-wait", Duration.ZERO, DAY, shutdownMaxWait);
        if (retention.cron() != null && retention.tenants().isEmpty()) {
            retention = retention.of(tenant);
        }
    }

    String[] listed() {
        return listedMetadata.toArray(String[]::new);
    }

    /**
     * The messages that the model sees. All limits that are set apply together.
     *
     * @param maxMessages the largest number of the newest messages that the model sees; without any limit 50, in steps of
     * a third
     * @param maxTurns the largest number of the newest turns that the model sees
     * @param maxTokens the largest number of tokens of the messages that the model sees
     * @param step the share of each limit that may leave at once, such as 0.33, so that a prompt cache works between
     * these steps; without it, the limits that are set are exact
     * @param model the model whose tokens are counted, such as gpt-4o
     * @param keepToolResults the number of the newest tool results that are shown in full; older ones are shown as
     * cleared
     */
    record Strategy(
            @Nullable Integer maxMessages,
            @Nullable Integer maxTurns,
            @Nullable Integer maxTokens,
            @Nullable Double step,
            @Nullable String model,
            @Nullable Integer keepToolResults) {

        private static final double MOST_STEP = 0.5;

        Strategy {
            atLeast("strategy.max-messages", 1, maxMessages);
            atLeast("strategy.max-turns", 1, maxTurns);
            atLeast("strategy.max-tokens", 1, maxTokens);
            if (step != null && !(step > 0 && step <= MOST_STEP)) {
                throw wrong(
                        "strategy.step",
                        "must be more than 0 and at most " + MOST_STEP + ", is " + step
                                + "; it is the share of each limit that may leave at once, such as 0.33");
            }
            atLeast("strategy.keep-tool-results", 0, keepToolResults);
            notBlank("strategy.model", model);
        }
    }

    /**
     * Summaries in place of old turns.
     *
     * @param enabled whether a ChatModel bean writes summaries in the background
     * @param chatModel name of the ChatModel bean that writes them, if there are several
     * @param triggerTokens the number of tokens from which a summary is created
     * @param keepTokens the number of the newest tokens that a summary leaves out
     * @param instructions the instructions for the model, in place of the standard text
     * @param timeout the time limit of one call of the model
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
            atLeast("summary.trigger-tokens", 2, triggerTokens);
            atLeast("summary.keep-tokens", 1, keepTokens);
            if (keepTokens >= triggerTokens) {
                throw wrong(
                        "summary.keep-tokens",
                        "must be less than keepsake4j.summary.trigger-tokens (" + triggerTokens + "), is " + keepTokens
                                + "; set both, since either may be its default");
            }
            range("summary.timeout", Duration.ofMillis(1), DAY, timeout);
        }
    }

    /**
     * The policy for two turns of a conversation at the same time, with Keepsake.turn.
     *
     * @param policy whether both continue, the later one fails, or the later one waits
     * @param lease the time for which a turn excludes others after its process was killed
     * @param limit the time for which a turn that does not end excludes others
     * @param maxWait the time for which a turn waits for another one
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
     * @param store the store of the memories of nodes, with the properties of that store; by default the store of all
     * memories
     */
    record NodeLog(@Nullable Store store) {}

    /**
     * The index for search and recall.
     *
     * @param enabled whether there is an index; it is in PostgreSQL if the memories are, else in the heap
     * @param file a SQLite file of its own for the index
     * @param embeddingModelName a name of your choice for the EmbeddingModel bean, by which recall also finds messages of
     * the same meaning; without it, no EmbeddingModel is used. With another name, all vectors are made again
     */
    record Index(boolean enabled, @Nullable Path file, @Nullable String embeddingModelName) {

        Index {
            if (file != null && !enabled) {
                throw wrong("index.file", "needs keepsake4j.index.enabled=true");
            }
            notBlank("index.embedding-model-name", embeddingModelName);
        }
    }

    /**
     * Long-term memories, created of conversations in the background.
     *
     * @param enabled whether memories are made
     * @param chatModel name of the ChatModel bean that creates them, if there are several
     * @param freshness the longest time from a message to the creation of its memories
     * @param discussion the configuration, as the text of WilmerAI's JSON; by default with its defaults
     * @param discussionFile location of a file with this JSON, such as file:discussion.json or classpath:discussion.json
     * @param workflowDirectory the directory of the workflow files that the JSON names; beans of LongTermMemoryWorkflow need no
     * file
     * @param store the store, file or jdbc (PostgreSQL); by default file if there is a directory, else the store of the
     * conversations
     * @param directory the directory of the store file; it is created if it does not exist
     * @param leastTrust the least trust of memories that retrievers read
     * @param userTextOnly whether they are created only of texts of users
     * @param blockTokens the largest number of tokens of the message that shows the newest memories to the model; by
     * default there is no message
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
     * Removal of memories that are no longer used. Off unless there is a cron expression.
     *
     * @param cron when memories are removed, as in Spring's scheduling, such as 0 0 3 * * *; off if absent or -
     * @param zone the time zone of the cron expression
     * @param idleFor the time for which a memory must be unused
     * @param tombstonesFor the time for which the tombstones of erased memories are kept
     * @param batchSize the number of memories that are listed at once
     * @param tenants the tenants whose memories are removed; by default keepsake4j.tenant
     * @param metadata a name of keepsake4j.listed-metadata and its text, which memories must have to be removed
     */
    record Retention(
            @Nullable String cron,
            @DefaultValue("UTC") ZoneId zone,
            @Nullable Duration idleFor,
            @DefaultValue("30d") Duration tombstonesFor,
            @DefaultValue("100") int batchSize,
            @DefaultValue List<String> tenants,
            @DefaultValue Map<String, String> metadata) {

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
            if (metadata.size() > 1) {
                throw wrong("retention.metadata", "must have one name, has " + metadata.keySet());
            }
            InvalidInputException.checkPositive(PREFIX + ".retention.idle-for", idleFor == null ? DAY : idleFor);
            InvalidInputException.checkPositive(PREFIX + ".retention.tombstones-for", tombstonesFor);
            InvalidInputException.checkRange(PREFIX + ".retention.batch-size", 1, 1000, batchSize);
        }

        Retention of(String tenant) {
            return new Retention(cron, zone, idleFor, tombstonesFor, batchSize, List.of(tenant), metadata);
        }
    }

    /**
     * The store jdbc.
     *
     * @param initializeSchema whether the tables are created at the start: in SQLite only, always, or never
     * @param platform the database, postgresql or sqlite; by default read from the DataSource
     * @param schema location of a script that creates the tables, in place of the script in the jar; PostgreSQL only
     * @param statementTimeout the time limit of one statement
     * @param transactionPooler whether there is a transaction pooler, such as PgBouncer, that tracks no prepared statements
     */
    record Jdbc(
            @DefaultValue("embedded") SchemaMode initializeSchema,
            @Nullable String platform,
            @Nullable String schema,
            @DefaultValue(PostgresBuilder.DEFAULT_STATEMENT_TIMEOUT) Duration statementTimeout,
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
     * @param directory the directory; it is created if it does not exist
     * @param fsync whether each append is synced to the device
     */
    record File(@Nullable Path directory, @DefaultValue("true") boolean fsync) {}

    /**
     * The store redis.
     *
     * @param url the server, such as redis://localhost:6379; without it, the UnifiedJedis bean is used
     * @param prefix the prefix of all keys
     * @param timeToLive the time for which an unused memory is kept; by default for ever
     */
    record Redis(@Nullable URI url, @DefaultValue("keepsake:") String prefix, @Nullable Duration timeToLive) {

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
     * @param prefix the prefix of the names of all objects
     * @param endpoint the server, unless it is Amazon's; without endpoint and region, an S3Client bean is used if there is one
     * @param region the region
     * @param accessKey id of the credentials; by default, the SDK looks for credentials itself
     * @param secretKey secret of the credentials
     * @param pathStyle whether the bucket is in the path; by default, the library decides by the endpoint
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

    private static void notBlank(String name, @Nullable String value) {
        if (value != null && value.isBlank()) {
            throw wrong(name, "must not be blank");
        }
    }

    private static InvalidInputException wrong(String name, String problem) {
        return new InvalidInputException(PREFIX + "." + name, problem);
    }
}
