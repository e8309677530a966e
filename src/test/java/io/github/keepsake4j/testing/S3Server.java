package io.github.keepsake4j.testing;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import org.gaul.s3proxy.blobstore.S3Exceptions;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;
import software.amazon.awssdk.services.s3.model.CopyObjectResponse;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** A server that implements S3's protocol in this JVM: one server for all tests, with a bucket for each. */
public final class S3Server {

    public static final String ACCESS_KEY = "test-access-key";
    public static final String SECRET_KEY = "test-secret-key";
    public static final String REGION = "us-east-1";

    /**
     * Whether requests are signed and signatures checked. That is a third of a request's processor time, and only reduced
     * counts do without: another process does not know the counts, and signs.
     */
    private static final boolean SIGNED = !Counts.isToldQuick();

    private static S3Server shared;

    /** How a server differs from the one that the other tests share. */
    public enum Kind {
        STANDARD,
        /** Checks signatures with reduced counts too. */
        CHECKS_SIGNATURES,
        /** Checks a condition before it writes and not during the write, so that two writers may both succeed. */
        CHECKS_CONDITIONS_TOO_EARLY,
        /** Takes {@code If-None-Match: *} for an object that is there, as Ceph RGW 16 does in a bucket with versioning. */
        CREATES_WHAT_IS_THERE
    }

    private final S3Proxy proxy;
    private final Store store;
    private final AtomicInteger buckets = new AtomicInteger();
    private @Nullable S3Client client;

    private S3Server(Kind kind) throws Exception {
        store = new Store(new TransientNio2BlobStore(), kind);
        proxy = S3Proxy.builder()
                .blobStore(store)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(
                        SIGNED || kind == Kind.CHECKS_SIGNATURES ? AuthenticationType.AWS_V4 : AuthenticationType.NONE,
                        ACCESS_KEY,
                        SECRET_KEY)
                .v4MaxNonChunkedRequestSize(512L << 20)
                .ignoreUnknownHeaders(true)
                .build();
        proxy.start();
    }

    /** Returns the only server of this JVM, with which it ends: to stop it would wait up to 30 s for open requests. */
    public static synchronized S3Server shared() throws Exception {
        if (shared == null) {
            shared = new S3Server(Kind.STANDARD);
        }
        return shared;
    }

    /** Starts a server of its own, to be stopped at the end. */
    public static S3Server start(Kind kind) throws Exception {
        return new S3Server(kind);
    }

    public void stop() {
        try {
            proxy.stop();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public int port() {
        return proxy.getPort();
    }

    public URI endpoint() {
        return endpoint(port());
    }

    /** Returns the endpoint at another port, such as a proxy's. */
    public static URI endpoint(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Creates a new, empty bucket and returns its name. */
    public String newBucket() {
        String name = "bucket-" + buckets.incrementAndGet();
        store.delegate().createContainer(name);
        return name;
    }

    /** Stores an object without a request. */
    public void put(String bucket, String key, byte[] bytes) {
        store.delegate()
                .putBlob(
                        PutObjectRequest.builder()
                                .bucket(bucket)
                                .key(key)
                                .contentLength((long) bytes.length)
                                .build(),
                        new ByteArrayInputStream(bytes));
    }

    /** Returns a client that tests share and do not close. */
    public synchronized S3Client client() {
        if (client == null) {
            client = client(port());
        }
        return client;
    }

    /** Creates a client for a port, which retries as the SDK does by default. */
    public static S3Client client(int port, ExecutionInterceptor... interceptors) {
        return client(port, config -> {}, interceptors);
    }

    /** Creates a client that retries nothing. */
    public static S3Client impatientClient(int port, ExecutionInterceptor... interceptors) {
        return client(port, config -> config.retryStrategy(DefaultRetryStrategy.doNotRetry()), interceptors);
    }

    /** Creates a client that tries as often as by default, without pauses. */
    public static S3Client hastyClient(int port, ExecutionInterceptor... interceptors) {
        return client(
                port,
                config -> config.retryStrategy(strategy -> strategy.backoffStrategy(BackoffStrategy.retryImmediately())
                        .throttlingBackoffStrategy(BackoffStrategy.retryImmediately())),
                interceptors);
    }

    private static S3Client client(
            int port, Consumer<ClientOverrideConfiguration.Builder> settings, ExecutionInterceptor... interceptors) {
        return S3Client.builder()
                .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
                .endpointOverride(endpoint(port))
                .region(Region.of(REGION))
                .credentialsProvider(
                        SIGNED
                                ? StaticCredentialsProvider.create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY))
                                : AnonymousCredentialsProvider.create())
                .overrideConfiguration(config -> settings.accept(config.executionInterceptors(List.of(interceptors))))
                .forcePathStyle(true)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .build();
    }

    /**
     * Returns the number of requests of a kind since the server started: {@code PUT}, {@code GET}, {@code LIST},
     * {@code DELETE}.
     */
    public int requests(String kind) {
        return store.counts.computeIfAbsent(kind, k -> new AtomicInteger()).get();
    }

    public int requests() {
        return store.counts.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /**
     * Sets what happens before each request is served. It receives the request's kind and key, and may throw, for
     * instance with {@link #fail}.
     */
    public void before(Consumer<String> interference) {
        store.before = interference;
    }

    /** Sets what happens after each request was served and before it is answered. */
    public void after(Consumer<String> interference) {
        store.after = interference;
    }

    public void leaveAlone() {
        store.before = request -> {};
        store.after = request -> {};
    }

    /** Answers with an error. */
    public static void fail(int status) {
        throw S3Exceptions.fromStatusCode(status);
    }

    /**
     * The server checks a condition before it writes or deletes and not during it, so that two writers could both
     * succeed, and a deletion could remove what was written meanwhile. This class checks it again under a lock on the
     * object.
     */
    private static final class Store extends ForwardingBlobStore {
        private final ConcurrentMap<String, Object> locks = new ConcurrentHashMap<>();
        private final ConcurrentMap<String, AtomicInteger> counts = new ConcurrentHashMap<>();
        private final Exchanger<Store> checked = new Exchanger<>();
        private final Kind kind;

        /** The etag of the object that this thread looked at last. */
        private final ThreadLocal<@Nullable String> compared = new ThreadLocal<>();

        private volatile Consumer<String> before = request -> {};
        private volatile Consumer<String> after = request -> {};

        Store(BlobStore delegate, Kind kind) {
            super(delegate);
            this.kind = kind;
        }

        @Override
        public HeadObjectResponse blobMetadata(HeadObjectRequest request) {
            compared.remove();
            HeadObjectResponse there = super.blobMetadata(request);
            compared.set(there.eTag());
            return there;
        }

        /** Returns whether the server has compared an etag for the deletion that it is about to make. */
        private static boolean isConditionalDelete() {
            return StackWalker.getInstance()
                    .walk(calls -> calls.anyMatch(call -> call.getMethodName().equals("conditionalDelete")));
        }

        private void arrive(String kind, String key) {
            counts.computeIfAbsent(kind, k -> new AtomicInteger()).incrementAndGet();
            before.accept(kind + " " + key);
        }

        @Override
        public PutObjectResponse putBlob(PutObjectRequest request, InputStream body) {
            byte[] bytes;
            try {
                bytes = body.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            arrive("PUT", request.key());
            if (kind == Kind.CHECKS_CONDITIONS_TOO_EARLY) {
                checkCondition(request);
                awaitAnotherWriter();
                return super.putBlob(
                        request.toBuilder().ifMatch(null).ifNoneMatch(null).build(), new ByteArrayInputStream(bytes));
            }
            PutObjectResponse response;
            synchronized (locks.computeIfAbsent(request.bucket() + "/" + request.key(), k -> new Object())) {
                checkCondition(request);
                response = super.putBlob(
                        kind == Kind.CREATES_WHAT_IS_THERE
                                ? request.toBuilder().ifNoneMatch(null).build()
                                : request,
                        new ByteArrayInputStream(bytes));
            }
            after.accept("PUT " + request.key());
            return response;
        }

        /** Lets two writers pass whose conditions were both met. A writer that is alone waits for 100 milliseconds. */
        private void awaitAnotherWriter() {
            try {
                checked.exchange(this, 100, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                // It is alone: there is no race to lose.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void checkCondition(PutObjectRequest request) {
            HeadObjectResponse there = blobMetadataIfPresent(request.bucket(), request.key());
            if (request.ifNoneMatch() != null && there != null && kind != Kind.CREATES_WHAT_IS_THERE) {
                throw S3Exceptions.preconditionFailed(null);
            }
            if (request.ifMatch() != null && there == null) {
                throw S3Exceptions.noSuchKey(request.bucket(), request.key(), "nothing to replace");
            }
            if (request.ifMatch() != null && !bare(request.ifMatch()).equals(bare(there.eTag()))) {
                throw S3Exceptions.preconditionFailed(null);
            }
        }

        private static String bare(String etag) {
            return etag.replace("\"", "");
        }

        @Override
        public ResponseInputStream<GetObjectResponse> getBlob(GetObjectRequest request) {
            arrive("GET", request.key());
            ResponseInputStream<GetObjectResponse> response = super.getBlob(request);
            after.accept("GET " + request.key());
            return response;
        }

        @Override
        public CopyObjectResponse copyBlob(CopyObjectRequest request) {
            arrive("COPY", request.destinationKey());
            return super.copyBlob(request);
        }

        @Override
        public ListObjectsV2Response list(ListObjectsV2Request request) {
            arrive("LIST", request.prefix());
            return super.list(request);
        }

        @Override
        public DeleteObjectResponse removeBlob(DeleteObjectRequest request) {
            String expected = isConditionalDelete() ? compared.get() : null;
            arrive("DELETE", request.key());
            synchronized (locks.computeIfAbsent(request.bucket() + "/" + request.key(), k -> new Object())) {
                HeadObjectResponse there = blobMetadataIfPresent(request.bucket(), request.key());
                if (expected != null && there != null && !expected.equals(there.eTag())) {
                    throw S3Exceptions.preconditionFailed(null);
                }
                return super.removeBlob(request);
            }
        }
    }
}
