package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * The log in a bucket of S3, or of any server that speaks S3 and honours {@code If-Match} and {@code If-None-Match} on
 * writes. Needs {@code software.amazon.awssdk:s3} and, unless the client is given, {@code apache5-client}; no database and no
 * table: views, summaries and leases are in the bucket too.
 *
 * <p><b>Documents.</b> Each memory is one JSON document of version 1 that other programs can read and add to:
 * {@code node_memory/{app_id}/{conversation_id}/{node_id}.json} for a {@link NodeKey},
 * {@code conversation_memory/{conversation_id}.json} for a conversation; below the prefix, and, for another tenant than the
 * default one, below {@code tenants/{tenant}/}. Ids are percent-encoded. Names of more than 900 bytes are a hash behind a
 * {@code !}, and such a document says itself whose it is. What role, content and files cannot say of a message stands in its
 * field {@code keepsake}; what a memory holds beside messages in the document's. Fields that others added are kept as they
 * are written.
 *
 * <p><b>Programs that know only the document's public fields</b> may add messages: the last one is then the head. A count of
 * tokens that is missing is estimated, a time that is missing is 1970-01-01 (a list then shows when the document was
 * written). A reader of that kind sees no cleared messages: they lie in an object beside the document, named like it with
 * {@code !kept-} and an id behind.
 *
 * <p><b>Costs.</b> An append is one conditional PUT of the whole document when this process wrote it last (else a GET comes
 * before), a read is one GET that transfers nothing if the document has not changed; where messages were cleared, each
 * process fetches these once. So a turn's cost grows with the memory: this log is for memories of some thousand messages.
 * {@link #list} reads each of the tenant's documents once and later the changed ones. In {@linkplain Builder#turnMode() turn
 * mode} all appends of a turn are one PUT.
 *
 * <p><b>Consistency.</b> Writes are conditional, so any number of processes may use one memory: nothing that was
 * acknowledged is lost, nothing is stored twice, and a read sees everything that was acknowledged before it began. Who loses
 * a race makes the change again on what the winner wrote; who loses 40 of them gets a retryable error.
 *
 * <p>Leases end by the clock of the machine that asks, so machines' clocks should agree to within a small part of a lease's
 * duration. {@link #erase} leaves the object's name, which holds ids, and, in a bucket that keeps versions, the old ones.
 */
public final class S3MessageLog implements MessageLog {

    private static final Duration ATTEMPT = Duration.ofSeconds(20);
    private static final Duration CALL = Duration.ofSeconds(60);

    private final Bucket bucket;
    private final OpenTurns store;
    private final Listing listing;
    private final MovedContents contents;
    private final Clock clock;

    private S3MessageLog(Builder builder, S3Client client, boolean ownClient, String bucketName) {
        this.bucket = new Bucket(
                client,
                ownClient,
                bucketName,
                new Bucket.Settings(
                        builder.gzipAbove, builder.maxObjectBytes, builder.encryption, builder.encryptionKeyId));
        ObjectNames names = new ObjectNames(builder.prefix, builder.defaultTenant);
        DocumentReader reader = new DocumentReader(bucket);
        DocumentStore documents = new DocumentStore(bucket, names, reader);
        MovedContents moved = new MovedContents(bucket, names, builder.moveContentsAbove);
        this.contents = moved;
        this.store = new OpenTurns(
                documents,
                builder.turnIdle,
                (key, lost) -> moved.removeRefused(key, lost, () -> documents.read(key, MemoryTree::state)));
        this.listing = new Listing(bucket, names, reader);
        this.clock = builder.clock;
    }

    /**
     * Keeps memories in a bucket of any server that speaks S3.
     *
     * @param endpoint the server, such as {@code http://localhost:9000}
     * @param region the region that requests are signed for; servers other than Amazon's mostly take any
     * @param accessKeyId the credentials' id
     * @param secretAccessKey the credentials' secret
     * @param bucket the bucket, which must be there
     * @return the log, to be closed at the end
     */
    public static S3MessageLog connect(
            URI endpoint, String region, String accessKeyId, String secretAccessKey, String bucket) {
        return builder()
                .endpoint(endpoint)
                .region(region)
                .credentials(StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKeyId, secretAccessKey)))
                .bucket(bucket)
                .build();
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
    public AppendResult append(MemoryKey key, Append append) {
        Append moved = contents.move(key, append);
        try {
            return store.append(key, moved, clock.instant());
        } catch (MessageIdConflictException e) {
            Append stored = contents.asStored(key, append, moved, () -> store.read(key, MemoryTree::state));
            if (stored.equals(moved)) {
                throw e;
            }
            return store.append(key, stored, clock.instant());
        } catch (ErasedException e) {
            contents.removeRefused(key, List.of(moved), () -> store.read(key, MemoryTree::state));
            throw e;
        }
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        Tail tail = store.read(key, tree -> tree.read(query));
        return contents.restore(key, tail);
    }

    @Override
    public List<LoggedMessage> find(MemoryKey key, Collection<String> ids) {
        List<LoggedMessage> found = store.read(key, tree -> tree.find(ids));
        return contents.restore(key, found);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        HistoryPage page = store.read(key, tree -> tree.history(query));
        return new HistoryPage(contents.restore(key, page.messages()), page.next());
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return store.read(key, MemoryTree::branches);
    }

    @Override
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        return store.write(key, tree -> tree.moveHead(messageId, epoch));
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        InputRules.checkDescription(title, metadata);
        store.write(key, tree -> {
            tree.describe(title, metadata, clock.instant());
            return true;
        });
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        return listing.page(tenant, query);
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        store.write(key, tree -> {
            tree.putSummary(summary, epoch);
            return true;
        });
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return store.read(key, MemoryTree::summaries);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return store.write(key, tree -> tree.acquireLease(name, owner, duration, clock.instant()));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        store.write(key, tree -> {
            tree.releaseLease(name, owner);
            return true;
        });
    }

    @Override
    public long erase(MemoryKey key) {
        return store.erase(key);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(() -> store.read(key, MemoryTree::check));
    }

    @Override
    public Repair repair(MemoryKey key) {
        return store.write(key, MemoryTree::repair);
    }

    @Override
    public String backend() {
        return "s3";
    }

    /** In turn mode, writes what is held back of the memory. */
    @Override
    public void flush(MemoryKey key) {
        store.flush(key);
    }

    /** In turn mode, writes what is held back, and throws if that fails. Closes the client, unless it was given. */
    @Override
    public void close() {
        try {
            store.close();
        } finally {
            bucket.close();
        }
    }

    /** Configures a log. Not thread-safe. */
    public static final class Builder {

        private static final Duration TURN_IDLE = Duration.ofSeconds(5);
        private static final long DEFAULT_GZIP_ABOVE = 64 * 1024;
        private static final long DEFAULT_MAX_OBJECT_BYTES = 256L * 1024 * 1024;

        private @Nullable S3Client client;
        private @Nullable URI endpoint;
        private @Nullable String region;
        private @Nullable AwsCredentialsProvider credentials;
        private @Nullable Boolean pathStyle;
        private RequestChecksumCalculation checksums = RequestChecksumCalculation.WHEN_REQUIRED;
        private @Nullable String bucket;
        private String prefix = "";
        private String defaultTenant = "default";
        private long gzipAbove = DEFAULT_GZIP_ABOVE;
        private long maxObjectBytes = DEFAULT_MAX_OBJECT_BYTES;
        private @Nullable String encryption;
        private @Nullable String encryptionKeyId;
        private @Nullable Duration turnIdle;
        private long moveContentsAbove = Long.MAX_VALUE;
        private Clock clock = Clock.systemUTC();

        private Builder() {}

        /**
         * Gives the client, which stays open when the log is closed. Then endpoint, region, credentials, path style and
         * checksums are the client's.
         *
         * @param s3Client the client
         * @return this
         */
        public Builder client(S3Client s3Client) {
            this.client = Objects.requireNonNull(s3Client, "s3Client");
            return this;
        }

        /**
         * Sets the server; Amazon's for the region unless set.
         *
         * @param uri the server, such as {@code http://localhost:9000}
         * @return this
         */
        public Builder endpoint(URI uri) {
            this.endpoint = Objects.requireNonNull(uri, "uri");
            return this;
        }

        /**
         * Sets the region; from the environment, as the AWS SDK finds it, unless set.
         *
         * @param name the region's name, such as {@code eu-central-1}
         * @return this
         */
        public Builder region(String name) {
            this.region = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets the credentials; from the environment, as the AWS SDK finds them, unless set.
         *
         * @param provider gives the credentials
         * @return this
         */
        public Builder credentials(AwsCredentialsProvider provider) {
            this.credentials = Objects.requireNonNull(provider, "provider");
            return this;
        }

        /**
         * Sets whether the bucket's name goes into the path instead of the host's name. True unless set where an endpoint
         * is, else false.
         *
         * @param inPath whether it goes into the path
         * @return this
         */
        public Builder pathStyle(boolean inPath) {
            this.pathStyle = inPath;
            return this;
        }

        /**
         * Sets when the SDK adds checksums and checks them; {@code WHEN_REQUIRED} unless set, which every server takes.
         *
         * @param when when checksums of requests are made; answers are checked likewise
         * @return this
         */
        public Builder checksums(RequestChecksumCalculation when) {
            this.checksums = Objects.requireNonNull(when, "when");
            return this;
        }

        /**
         * Sets the bucket. It must be there.
         *
         * @param name the bucket's name
         * @return this
         */
        public Builder bucket(String name) {
            this.bucket = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets what stands before all names in the bucket; nothing unless set.
         *
         * @param path such as {@code chat/prod}; a slash follows it; at most 300 bytes of UTF-8
         * @return this
         */
        public Builder prefix(String path) {
            this.prefix = Objects.requireNonNull(path, "path");
            return this;
        }

        /**
         * Sets the tenant whose documents stand directly below the prefix; {@code "default"} unless set.
         *
         * @param tenant the tenant's id
         * @return this
         */
        public Builder defaultTenant(String tenant) {
            this.defaultTenant = Objects.requireNonNull(tenant, "tenant");
            return this;
        }

        /**
         * Sets from which size on documents are compressed; 64 KiB unless set. Compressed ones are read in any case.
         *
         * @param bytes the size that is not compressed yet, 0 or more
         * @return this
         */
        public Builder gzipAbove(long bytes) {
            if (bytes < 0) {
                throw new InvalidInputException("gzipAbove", "must not be negative");
            }
            this.gzipAbove = bytes;
            return this;
        }

        /**
         * Sets the largest document that is read or written, before compression; 256 MiB unless set. Reading needs about
         * four times as much heap.
         *
         * @param bytes the size, 1 to 1 GiB
         * @return this
         */
        public Builder maxObjectBytes(long bytes) {
            if (bytes < 1 || bytes > 1L << 30) {
                throw new InvalidInputException("maxObjectBytes", "must be 1 to 1 GiB");
            }
            this.maxObjectBytes = bytes;
            return this;
        }

        /**
         * Asks the server to encrypt what it stores; the bucket's own setting unless set.
         *
         * @param algorithm as S3 names it: {@code AES256}, {@code aws:kms} or {@code aws:kms:dsse}
         * @param keyId the id of the KMS key, or null for the server's own
         * @return this
         */
        public Builder serverSideEncryption(String algorithm, @Nullable String keyId) {
            this.encryption = Objects.requireNonNull(algorithm, "algorithm");
            this.encryptionKeyId = keyId;
            return this;
        }

        /**
         * Does {@link #turnMode(Duration)} with an idle time of five seconds.
         *
         * @return this
         */
        public Builder turnMode() {
            return turnMode(TURN_IDLE);
        }

        /**
         * Writes a turn in one request: what is appended waits in this process until an assistant message without tool calls
         * ends the turn. Off unless set, so that an append that has returned is stored.
         *
         * <p>A turn is also written by {@link S3MessageLog#flush}, by {@link S3MessageLog#close}, by any other change of the
         * memory (a view, an append that expects a head, a lease, a summary), and when nothing has been appended for the idle
         * time. What waits is lost if the process is killed. Reads of this log see it, and see the memory as it was when the
         * turn first read it; others, and {@link S3MessageLog#list}, see the turn when it is written. It then follows what
         * others have written meanwhile.
         *
         * <p>The append that ends a turn writes all of it or throws; if it throws, what came before still waits, and the
         * append can be repeated. What was erased meanwhile is not written: whoever goes on with the turn gets an
         * {@code ErasedException}. If an idle turn cannot be written, that is logged and tried again in growing pauses; one that
         * never can be, such as one that would make the document too large, is dropped with an error in the log.
         *
         * @param idle more than zero; longer than most tools take, since a turn that waits longer takes two writes
         * @return this
         */
        public Builder turnMode(Duration idle) {
            if (idle.isZero() || idle.isNegative()) {
                throw new InvalidInputException("idle", "must be more than zero, is " + idle);
            }
            this.turnIdle = idle;
            return this;
        }

        /**
         * Keeps large contents of user messages and tool results (images, sounds, videos and PDF files as base64) in
         * objects beside the document, so that not every turn transfers them again. Each such content costs one PUT when it
         * is appended and one GET where this process has not seen it lately. Reads put them back, whether this is set or
         * not. Off unless set. Programs that know only the document's public fields do not see these contents either way.
         *
         * @param characters how many characters of base64 stay in the document, 128 or more
         * @return this
         */
        public Builder moveContentsAbove(long characters) {
            if (characters < 128) {
                throw new InvalidInputException("moveContentsAbove", "must be 128 or more, is " + characters);
            }
            this.moveContentsAbove = characters;
            return this;
        }

        /** A test's clock. */
        Builder clock(Clock testClock) {
            this.clock = testClock;
            return this;
        }

        /**
         * Makes the log. Nothing is connected before the first use.
         *
         * @return the log, to be closed at the end
         * @throws InvalidInputException if there is no bucket, or the client is given and so is what belongs to it
         */
        public S3MessageLog build() {
            if (bucket == null || bucket.isEmpty()) {
                throw new InvalidInputException("bucket", "is needed: S3MessageLog.builder().bucket(…)");
            }
            if (client == null) {
                return new S3MessageLog(this, newClient(), true, bucket);
            }
            if (endpoint != null || region != null || credentials != null || pathStyle != null) {
                throw new InvalidInputException(
                        "client", "is given: then endpoint, region, credentials and path style are its own");
            }
            return new S3MessageLog(this, client, false, bucket);
        }

        private S3Client newClient() {
            S3ClientBuilder builder = S3Client.builder()
                    .httpClientBuilder(Apache5HttpClient.builder())
                    .overrideConfiguration(
                            config -> config.apiCallAttemptTimeout(ATTEMPT).apiCallTimeout(CALL))
                    .forcePathStyle(pathStyle == null ? endpoint != null : pathStyle)
                    .requestChecksumCalculation(checksums)
                    .responseChecksumValidation(
                            checksums == RequestChecksumCalculation.WHEN_REQUIRED
                                    ? ResponseChecksumValidation.WHEN_REQUIRED
                                    : ResponseChecksumValidation.WHEN_SUPPORTED);
            if (endpoint != null) {
                builder.endpointOverride(endpoint);
            }
            if (region != null) {
                builder.region(Region.of(region));
            }
            if (credentials != null) {
                builder.credentialsProvider(credentials);
            }
            return builder.build();
        }
    }
}
