package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.TreeMessageLog;
import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;

/**
 * A log in a bucket of S3, or of any compatible server that honors {@code If-Match} and {@code If-None-Match} on
 * writes. Needs {@code software.amazon.awssdk:s3} and, if no client is given, {@code apache5-client}. It needs no
 * database: views, summaries and leases are in the bucket too.
 *
 * <p><b>Documents.</b> Each memory is one JSON document of version 1 that other programs can read and add to. Its name
 * is {@code node_memory/{app_id}/{conversation_id}/{node_id}.json} for a {@link NodeKey} and
 * {@code conversation_memory/{conversation_id}.json} for a conversation. The names begin with the prefix, followed by
 * {@code tenants/{tenant}/} for a tenant other than the default one. Ids are percent-encoded. If a name would be longer
 * than 900 bytes, {@code !} and a hash replace the ids, which the document then contains. The fields role, content and
 * files hold the public part of a message. Other data of a message is in its field {@code keepsake}; other data of the
 * memory is in the document's field of that name. Fields of other programs are kept unchanged.
 *
 * <p><b>Programs that know only the document's public fields</b> may add messages; the last message is then the head. A
 * message may come before its parent. A message without an id, role or content is damage, and a parent that is not in the
 * document is reported by {@link #check}. A missing token count is estimated. A missing or unreadable time counts as
 * 1970-01-01, but its field stays unchanged. If the last message has no time, a list shows the time when the document
 * was written. Such programs do not see cleared messages, which are in another object, below {@code aside/}.
 *
 * <p><b>Lists.</b> {@link #list} lists memories in the order of their documents' names. With
 * {@link ListQuery#byActivity()}, the order is that of the documents' last writes, which include a new title, a summary
 * or a lease. A page reads only those of its documents that have changed since this log last read them. To find them, a
 * page by name lists objects with at most two requests. A page by activity lists all documents of the tenant, 1,000
 * with each request. A page may have fewer memories than its limit, or none, and still be followed by another one. A
 * document that cannot be read is an entry in {@link MemoryPage#damaged()}, and {@link #quarantine} moves its bytes to
 * another object.
 *
 * <p><b>Costs.</b> An append is one conditional PUT of the whole document if this process wrote it last, otherwise a
 * GET and a PUT. A read is one GET, which transfers nothing if the document has not changed. One more GET is needed for
 * the first write of a memory, for a read of a missing memory, and for a document of another program. Each process
 * reads cleared messages once. So a turn's cost grows with the memory: this log is for memories of some thousand
 * messages. In {@linkplain Builder#turnMode() turn mode} all appends of a turn are one PUT.
 *
 * <p><b>Servers.</b> Before a log creates its first document, it creates the object {@code aside/probe} twice, and the
 * server must refuse the second creation. If the server accepts both, it does not honor {@code If-None-Match}: the log
 * writes no document and throws an exception. The object stays, so no permission to delete is needed. The next log
 * needs one request for this test, and later writes need none.
 *
 * <p><b>Consistency.</b> Writes are conditional, so any number of processes may use one memory: no acknowledged message
 * is lost or stored twice, and a read sees everything that was acknowledged before it began. After a conflict, a writer
 * makes its change again on the other writer's document. After 40 conflicts, it throws a retryable exception.
 *
 * <p><b>Erasure.</b> {@link #erase} deletes the document and all other objects of the memory. A tombstone stays until
 * {@link #removeTombstones} removes it. Its name is a hash. It contains numbers, random ids and a hash of the tenant's
 * id, but no id of the memory. Old versions of objects in a versioned bucket are not deleted: give such a bucket a rule
 * that deletes them. The last step is a conditional DELETE. If the server ignores the condition, a write of another
 * program at this moment may be lost.
 *
 * <p>Leases end by the server's clock, not by the clients'. The dates of the server's answers give its time to within
 * two seconds. Thread-safe.
 */
public final class S3MessageLog extends TreeMessageLog {

    private static final Duration ATTEMPT = Duration.ofSeconds(20);
    private static final Duration CALL = Duration.ofSeconds(60);

    private final Bucket bucket;
    private final String prefix;
    private final DocumentStore store;
    private final StoredMemories memories;
    private final Tombstones tombstones;
    private final BucketListing listing;
    private final ListedMetadata listed;
    private final Clock clock;
    private final StoreClock storeClock;

    private S3MessageLog(Builder builder, S3Client client, boolean ownClient, String bucketName) {
        this.listed = builder.listed;
        this.clock = builder.clock;
        this.storeClock = new StoreClock(clock);
        ObjectNames names = new ObjectNames(builder.prefix, builder.defaultTenant);
        this.prefix = names.prefix();
        this.bucket = new Bucket(
                client,
                ownClient,
                bucketName,
                names.probe(),
                new Bucket.Settings(
                        builder.gzipAbove,
                        builder.maxObjectBytes,
                        builder.encryption,
                        builder.encryptionKeyId,
                        builder.quotedEtags),
                storeClock);
        MovedContents contents = new MovedContents(bucket, names, builder.moveContentsAbove);
        this.tombstones = new Tombstones(bucket, names);
        DocumentReader reader = new DocumentReader(bucket, names, tombstones, contents);
        Quarantine quarantine = new Quarantine(bucket, names);
        this.store = new DocumentStore(reader, quarantine, builder.chance);
        this.memories = builder.turnIdle == null ? store : new TurnMode(store, builder.turnIdle);
        this.listing = new BucketListing(bucket, names, reader, quarantine);
    }

    /**
     * Keeps memories in a bucket of any server that is compatible with S3.
     *
     * @param endpoint the server, such as {@code http://localhost:9000}
     * @param region the region for which requests are signed; most servers other than Amazon's accept any
     * @param accessKeyId the credentials' id
     * @param secretAccessKey the credentials' secret
     * @param bucket the bucket; it must exist
     * @return the log, to be closed at the end
     */
    public static S3MessageLog connect(
            URI endpoint, String region, String accessKeyId, String secretAccessKey, String bucket) {
        return connect(endpoint, region, accessKeyId, secretAccessKey, bucket, builder -> {});
    }

    /**
     * Keeps memories in a bucket of a server that needs other settings than Amazon's, such as
     * {@code builder -> builder.quotedEtags(false).chunkedSigning(false)} for Ceph RGW 16.
     *
     * @param endpoint the server, such as {@code http://localhost:9000}
     * @param region the region for which requests are signed
     * @param accessKeyId the credentials' id
     * @param secretAccessKey the credentials' secret
     * @param bucket the bucket; it must exist
     * @param settings sets the server's requirements
     * @return the log, to be closed at the end
     */
    public static S3MessageLog connect(
            URI endpoint,
            String region,
            String accessKeyId,
            String secretAccessKey,
            String bucket,
            Consumer<Builder> settings) {
        Library.require(Library.S3, Library.S3_HTTP);
        Builder builder = builder()
                .endpoint(endpoint)
                .region(region)
                .key(accessKeyId, secretAccessKey)
                .bucket(bucket);
        settings.accept(builder);
        return builder.build();
    }

    /**
     * Starts to configure a log.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    protected <T> T ask(MemoryKey key, Function<MemoryTree, T> question) {
        return memories.ask(key, question);
    }

    @Override
    protected <T> T change(MemoryKey key, Function<MemoryTree, T> change) {
        return memories.change(key, change);
    }

    @Override
    protected Instant now() {
        return clock.instant();
    }

    @Override
    protected Instant leaseTime() {
        return storeClock.instant();
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return memories.append(key, append, now());
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        listed.check(query);
        return listing.page(Ids.check("tenant", tenant), query);
    }

    /**
     * Lists all documents of the tenant. Reads those that belong to the conversation by their names, and those whose
     * names are hashes. A node whose first turn is held back has no document yet.
     */
    @Override
    public List<NodeKey> nodes(ConversationKey conversation) {
        Set<NodeKey> nodes = new LinkedHashSet<>(listing.nodes(conversation));
        for (MemoryKey held : memories.held()) {
            if (held.tenant().equals(conversation.tenant()) && BucketListing.isNodeOf(conversation, held)) {
                nodes.add((NodeKey) held);
            }
        }
        return List.copyOf(nodes);
    }

    @Override
    public long erase(MemoryKey key) {
        return memories.erase(key);
    }

    /**
     * Erases a memory if nothing was appended to it since a time. If this log has listed the memory, it is erased only
     * if its document has not changed since then. The document is not read again, unless the memory has cleared
     * messages, which are in another object.
     */
    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        BucketListing.Known known = listing.known(key);
        if (known == null || known.info() == null) {
            return memories.eraseIfIdle(key, since);
        }
        if (!known.info().lastUse().isBefore(since)) {
            return false;
        }
        if (known.hasKept()) {
            // An unreadable memory is not erased, and the list has not read the document's other objects.
            memories.ask(key, MemoryTree::info);
        }
        return memories.eraseIf(key, known.etag(), known.stored());
    }

    /** Also completes erasures that a crash interrupted and that a list of this log has found. */
    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        String what = "Tenant " + MemoryKey.encode(Ids.check("tenant", tenant));
        listing.takeMarks(tenant).forEach(mark -> store.endErasure(what, mark));
        return tombstones.removeOlderThan(what, tenant, erasedBefore);
    }

    /**
     * Moves the bytes of an unreadable document to another object, so that its memory can be used again. The memory is
     * then empty, in a new epoch. The bytes are copied unchanged within the bucket, to an object below {@code aside/}.
     * The object with the memory's cleared messages is copied too. {@link #erase} with the memory's key deletes the
     * copies. No list shows the memory until it is written again, but {@link #nodes} returns it if it belongs to a
     * node.
     *
     * @param objectName the document's name, as in {@link MemoryPage#damaged()} or an error
     * @return the name of the object that now has the document's bytes
     * @throws InvalidInputException if the object is not a memory's document, or can be read
     */
    public String quarantine(String objectName) {
        return store.quarantine(InvalidInputException.given("objectName", objectName));
    }

    /** Tests the server before the first creation, so that a unit test counts only its own requests. */
    S3MessageLog tried() {
        bucket.checkCreation("A test");
        return this;
    }

    @Override
    public String backend() {
        return "s3";
    }

    @Override
    public String toString() {
        return "S3MessageLog[s3://" + bucket + "/" + prefix + "]";
    }

    /** In turn mode, writes the memory's appends that are held back. */
    @Override
    public void flush(MemoryKey key) {
        memories.flush(key);
    }

    /**
     * In turn mode, writes the appends that are held back, and throws if this fails. Closes the client if this log
     * created it.
     */
    @Override
    public void close() {
        try {
            memories.close();
        } finally {
            bucket.close();
        }
    }

    /** Configures a log. Not thread-safe. */
    public static final class Builder {

        private static final Duration TURN_IDLE = Duration.ofSeconds(5);
        private static final long DEFAULT_GZIP_ABOVE = 64 * 1024;
        private static final long DEFAULT_MAX_OBJECT_BYTES = 64L * 1024 * 1024;

        private @Nullable S3Client client;
        private @Nullable URI endpoint;
        private @Nullable String region;
        private @Nullable AwsCredentialsProvider credentials;
        private @Nullable Boolean pathStyle;
        private RequestChecksumCalculation checksums = RequestChecksumCalculation.WHEN_REQUIRED;
        private boolean quotedEtags = true;
        private @Nullable Boolean chunkedSigning;
        private @Nullable String bucket;
        private String prefix = "";
        private String defaultTenant = "default";
        private long gzipAbove = DEFAULT_GZIP_ABOVE;
        private long maxObjectBytes = DEFAULT_MAX_OBJECT_BYTES;
        private @Nullable String encryption;
        private @Nullable String encryptionKeyId;
        private @Nullable Duration turnIdle;
        private long moveContentsAbove = Long.MAX_VALUE;
        private ListedMetadata listed = ListedMetadata.NONE;
        private Clock clock = Clock.systemUTC();
        private List<ExecutionInterceptor> interceptors = List.of();
        private RandomChoices chance = RandomChoices.RANDOM;

        private Builder() {}

        /**
         * Sets the client. It stays open when the log is closed, and its own endpoint, region, credentials, path style,
         * signing and checksums are used. Default: a new client, which is closed with the log.
         *
         * @param s3Client the client
         * @return this
         */
        public Builder client(S3Client s3Client) {
            this.client = InvalidInputException.given("s3Client", s3Client);
            return this;
        }

        /**
         * Sets the server. Default: Amazon's for the region.
         *
         * @param uri the server, such as {@code http://localhost:9000}
         * @return this
         */
        public Builder endpoint(URI uri) {
            this.endpoint = InvalidInputException.given("uri", uri);
            return this;
        }

        /**
         * Sets the region. Default: the one that the AWS SDK finds in the environment.
         *
         * @param name the region's name, such as {@code eu-central-1}
         * @return this
         */
        public Builder region(String name) {
            this.region = InvalidInputException.given("name", name);
            return this;
        }

        /**
         * Sets the credentials. Default: the credentials that the AWS SDK finds in the environment.
         *
         * @param provider the provider of the credentials
         * @return this
         */
        public Builder credentials(AwsCredentialsProvider provider) {
            this.credentials = InvalidInputException.given("provider", provider);
            return this;
        }

        /**
         * Sets whether the bucket's name is in the path instead of the host's name. Default: true with an endpoint,
         * else false.
         *
         * @param inPath whether it is in the path
         * @return this
         */
        public Builder pathStyle(boolean inPath) {
            this.pathStyle = inPath;
            return this;
        }

        /**
         * Sets when the SDK adds checksums and checks them. Default: {@code WHEN_REQUIRED}, which every server accepts.
         *
         * @param when when requests get checksums, and when the checksums of answers are checked
         * @return this
         */
        public Builder checksums(RequestChecksumCalculation when) {
            this.checksums = InvalidInputException.given("when", when);
            return this;
        }

        /**
         * Sets whether {@code If-Match} has quotes around the etag, as HTTP requires. Some servers, such as Ceph RGW
         * 16, compare the quoted text with the bare etag, and so refuse every change of a document. Default: true.
         *
         * @param quoted false for such a server
         * @return this
         */
        public Builder quotedEtags(boolean quoted) {
            this.quotedEtags = quoted;
            return this;
        }

        /**
         * Sets whether the SDK may sign a body in chunks. If not, it signs the hash of the whole body. Some servers,
         * such as Ceph RGW 16, do not accept chunks of compressed documents, because both use the header
         * {@code Content-Encoding}. Default: the SDK's.
         *
         * @param inChunks false for such a server
         * @return this
         */
        public Builder chunkedSigning(boolean inChunks) {
            this.chunkedSigning = inChunks;
            return this;
        }

        /**
         * Sets the bucket. It must exist. Required.
         *
         * @param name the bucket's name
         * @return this
         */
        public Builder bucket(String name) {
            this.bucket = InvalidInputException.given("name", name);
            return this;
        }

        /**
         * Sets the prefix of all names in the bucket. Default: none.
         *
         * @param path such as {@code chat/prod}; a slash follows it; at most 300 bytes of UTF-8
         * @return this
         */
        public Builder prefix(String path) {
            this.prefix = InvalidInputException.given("path", path);
            return this;
        }

        /**
         * Sets the tenant whose documents are directly below the prefix. A log with another default tenant needs
         * another prefix or bucket: documents of another tenant are refused with a {@code TenantMismatchException}. A
         * document without a tenant (of another program or an older version) counts as this tenant's, and the next
         * write adds the tenant. Default: {@code "default"}.
         *
         * @param tenant the tenant's id
         * @return this
         */
        public Builder defaultTenant(String tenant) {
            this.defaultTenant = InvalidInputException.given("tenant", tenant);
            return this;
        }

        /**
         * Sets the size above which documents are compressed. Compressed documents are read in any case. Default: 64
         * KiB.
         *
         * @param bytes the largest size that is not compressed, in bytes, 0 or more
         * @return this
         */
        public Builder gzipAbove(long bytes) {
            InvalidInputException.checkAtLeast("gzipAbove", 0, bytes);
            this.gzipAbove = bytes;
            return this;
        }

        /**
         * Sets the size of the largest document that is read or written, before compression. Reading needs about four
         * times as much heap. Default: 64 MiB.
         *
         * @param bytes the size in bytes, 1 to 1 GiB
         * @return this
         */
        public Builder maxObjectBytes(long bytes) {
            InvalidInputException.checkRange("maxObjectBytes", 1, 1L << 30, bytes);
            this.maxObjectBytes = bytes;
            return this;
        }

        /**
         * Sets the server-side encryption. Default: the bucket's own setting.
         *
         * @param algorithm the name in S3: {@code AES256}, {@code aws:kms} or {@code aws:kms:dsse}
         * @param keyId the id of the KMS key, or null for the server's own
         * @return this
         */
        public Builder serverSideEncryption(String algorithm, @Nullable String keyId) {
            this.encryption = InvalidInputException.given("algorithm", algorithm);
            this.encryptionKeyId = keyId;
            return this;
        }

        /**
         * Turns on {@link #turnMode(Duration)} with an idle time of five seconds.
         *
         * @return this
         */
        public Builder turnMode() {
            return turnMode(TURN_IDLE);
        }

        /**
         * Turns on the turn mode, which writes a turn in one request: appends wait in this process until an assistant
         * message without tool calls ends the turn. Default: off; then an append is stored when it returns.
         *
         * <p>A turn is also written by {@link S3MessageLog#flush}, by {@link S3MessageLog#close}, by any other change
         * of the memory (a view, an append that expects a position, a lease, a summary), and when nothing has been
         * appended for the idle time. Waiting appends are lost if the process is killed. Reads of this log see them,
         * together with the memory as it was when the turn first read it. Other logs, and {@link S3MessageLog#list},
         * see the turn when it is written. The turn then follows the messages that other writers have written
         * meanwhile.
         *
         * <p>The append that ends a turn writes all of it or throws. If it throws, the earlier appends still wait, and
         * the append can be repeated. A turn whose memory was erased meanwhile is not written, and its next append
         * throws an {@code ErasedException}. An idle turn that cannot be written is logged and tried again in growing
         * pauses. A turn that can never be written, such as one that would make the document too large, is dropped with
         * an error in the application's log.
         *
         * @param idle the idle time, more than zero; it should be longer than most tools take, since a slower tool
         *     costs its turn a second write
         * @return this
         */
        public Builder turnMode(Duration idle) {
            InvalidInputException.checkPositive("idle", idle);
            this.turnIdle = idle;
            return this;
        }

        /**
         * Keeps large contents of user messages and tool results (images, sounds, videos and PDF files as base64) in
         * objects beside the document, so that they are not transferred with every turn. Each such content costs one
         * PUT when it is written, and one GET in a process that has not read it recently. Reads put them back, with or
         * without this setting. Programs that know only the document's public fields do not see these contents in
         * either case. Default: off.
         *
         * @param characters the largest number of characters of base64 that stay in the document, 128 or more
         * @return this
         */
        public Builder moveContentsAbove(long characters) {
            InvalidInputException.checkAtLeast("moveContentsAbove", 128, characters);
            this.moveContentsAbove = characters;
            return this;
        }

        /** Sets an interceptor of a test for the requests of the log's own client. */
        Builder interceptors(ExecutionInterceptor... tests) {
            this.interceptors = List.of(tests);
            return this;
        }

        /** Sets the decisions of a test in place of random ones. */
        Builder chance(RandomChoices test) {
            this.chance = test;
            return this;
        }

        /**
         * Declares the metadata names by which {@link ListQuery#withMetadata} lists memories. Default: none. A bucket has no
         * lists of its own by these: the first page reads all documents of the tenant, and later ones those that have changed.
         *
         * @param names up to three names, such as {@code user}
         * @return this builder
         * @throws InvalidInputException if there are too many names, or one is no id
         */
        public Builder listedMetadata(String... names) {
            this.listed = ListedMetadata.of(names);
            return this;
        }

        /** Sets a test's clock. */
        Builder clock(Clock testClock) {
            this.clock = testClock;
            return this;
        }

        /** In this class, so that the log's can be loaded without the SDK, to report that it is missing. */
        private Builder key(String id, String secret) {
            return credentials(StaticCredentialsProvider.create(AwsBasicCredentials.create(id, secret)));
        }

        /**
         * Makes the log. It connects at the first use.
         *
         * @return the log, to be closed at the end
         * @throws InvalidInputException if no bucket was set, or a client was set together with a setting that the
         *     client has itself
         */
        public S3MessageLog build() {
            if (bucket == null || bucket.isEmpty()) {
                throw new InvalidInputException("bucket", "is required: set S3MessageLog.builder().bucket(…)");
            }
            if (client == null) {
                return new S3MessageLog(this, newClient(), true, bucket);
            }
            if (endpoint != null
                    || region != null
                    || credentials != null
                    || pathStyle != null
                    || chunkedSigning != null) {
                throw new InvalidInputException(
                        "client",
                        "must not be combined with endpoint, region, credentials, path style or signing: "
                                + "set these at the client");
            }
            return new S3MessageLog(this, client, false, bucket);
        }

        private static String regionOfTheSdk() {
            try {
                return new DefaultAwsRegionProviderChain().getRegion().id();
            } catch (SdkClientException e) {
                throw new InvalidInputException(
                        "region", "is required, and the AWS SDK finds none: set it, or AWS_REGION");
            }
        }

        private S3Client newClient() {
            S3ClientBuilder builder = S3Client.builder()
                    .httpClientBuilder(Apache5HttpClient.builder())
                    .overrideConfiguration(config -> config.apiCallAttemptTimeout(ATTEMPT)
                            .apiCallTimeout(CALL)
                            .executionInterceptors(interceptors))
                    .forcePathStyle(pathStyle == null ? endpoint != null : pathStyle)
                    .requestChecksumCalculation(checksums)
                    .responseChecksumValidation(
                            checksums == RequestChecksumCalculation.WHEN_REQUIRED
                                    ? ResponseChecksumValidation.WHEN_REQUIRED
                                    : ResponseChecksumValidation.WHEN_SUPPORTED);
            if (chunkedSigning != null) {
                builder.serviceConfiguration(S3Configuration.builder()
                        .chunkedEncodingEnabled(chunkedSigning)
                        .build());
            }
            Optional.ofNullable(endpoint).ifPresent(builder::endpointOverride);
            builder.region(Region.of(region == null ? regionOfTheSdk() : region));
            Optional.ofNullable(credentials).ifPresent(builder::credentialsProvider);
            return builder.build();
        }
    }
}
