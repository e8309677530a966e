package io.github.keepsake4j.log.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.keepsake4j.base.Uninterrupted;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * Reads and writes the objects of one bucket, which are bytes with an etag, under conditions. Compresses them and
 * checks their sizes.
 */
final class Bucket {

    /** The answer of a read. */
    sealed interface Found {}

    /** There is no object of that name. */
    record Absent() implements Found {}

    /** The caller has the newest object. */
    record Unchanged() implements Found {}

    /** An object's uncompressed bytes, or the reason why it cannot be read. The bytes are never compared or changed. */
    @SuppressWarnings("ArrayRecordComponent")
    record Content(String etag, byte[] bytes, @Nullable String problem) implements Found {}

    /** An object in a list. */
    record Listed(String name, String etag, Instant writtenAt) {}

    /** A part of a list, and whether there is more behind it. */
    record Part(List<Listed> objects, boolean more) {}

    /**
     * The answer of a conditional write.
     *
     * @param etag the new etag, or null if it was not written
     * @param refused whether the server answered that the condition is not met. Other answers mean that another write
     * is under way, or that the object to replace no longer exists
     */
    record Put(@Nullable String etag, boolean refused) {}

    /**
     * The settings of reads and writes.
     *
     * @param gzipAbove the largest size that is not compressed, in bytes
     * @param maxBytes the size of the largest object, in bytes before compression
     * @param encryption the server-side encryption, or null for the bucket's own
     * @param kmsKeyId the key of the encryption, or null
     * @param quotedEtags whether {@code If-Match} has quotes around the etag, as HTTP requires
     */
    record Settings(
            long gzipAbove,
            long maxBytes,
            @Nullable String encryption,
            @Nullable String kmsKeyId,
            boolean quotedEtags) {}

    private static final byte[] NOTHING = {};
    private static final int PART = 65_536;

    /** The content of the object that is created to test the server. */
    private static final byte[] PROBE = "\"Tells Keepsake4j that this server honors If-None-Match\"\n".getBytes(UTF_8);

    /** The largest number of answers after which it stays open whether the server honors the condition. */
    private static final int PROBES = 5;

    /** The most objects that an answer lists. */
    static final int LIST = 1_000;

    private final S3Client client;
    private final String bucket;
    private final Settings settings;
    private final boolean ownClient;
    private final StoreClock clock;
    private final String probe;
    private final Lock probing = new ReentrantLock();

    /** Whether the server has refused to create an existing object. */
    private volatile boolean keepsWhatIsThere;

    private volatile boolean closed;

    /**
     * Creates a bucket. It connects at the first use.
     *
     * @param ownClient whether the client is closed with this bucket
     * @param probe the name of the object that is created twice to test the server
     * @param clock receives the date of each answer of a read or a write
     */
    Bucket(S3Client client, boolean ownClient, String bucket, String probe, Settings settings, StoreClock clock) {
        this.client = client;
        this.ownClient = ownClient;
        this.bucket = bucket;
        this.probe = probe;
        this.settings = settings;
        this.clock = clock;
    }

    @Override
    public String toString() {
        return bucket;
    }

    /**
     * Reads an object.
     *
     * @param what the data that is read, for errors
     * @param etag the etag of the object that the caller has, or null
     */
    Found get(String what, String name, @Nullable String etag) {
        return request(
                what,
                () -> client.getObject(
                        request -> request.bucket(bucket).key(name).ifNoneMatch(etag), this::content),
                refusal -> {
                    if (refusal.statusCode() == 304) {
                        return Optional.of(new Unchanged());
                    }
                    return S3Errors.isNoSuchKey(refusal) ? Optional.of(new Absent()) : Optional.empty();
                });
    }

    private Found content(GetObjectResponse response, AbortableInputStream in) {
        clock.answered(response.sdkHttpResponse());
        if (response.eTag() == null) {
            in.abort();
            throw RetryableException.create("The answer's head ended too early");
        }
        try {
            Long length = response.contentLength();
            if (length != null && length > settings.maxBytes()) {
                in.abort();
                return tooLarge(response.eTag());
            }
            byte[] bytes = in.readNBytes(oneTooMany());
            if (bytes.length > settings.maxBytes()) {
                in.abort();
            }
            return isGzip(bytes) ? inflated(response.eTag(), bytes) : checked(response.eTag(), bytes);
        } catch (IOException e) {
            // The line was cut. The SDK asks again.
            throw RetryableException.create("The answer ended too early", e);
        }
    }

    /** Counts the bytes before it keeps any: a small object may decompress to gigabytes. */
    private Content inflated(String etag, byte[] bytes) {
        try {
            int size = inflatedSize(bytes);
            if (size > settings.maxBytes()) {
                return tooLarge(etag);
            }
            byte[] inflated = new byte[size];
            try (InputStream in = gunzip(bytes)) {
                in.readNBytes(inflated, 0, inflated.length);
            }
            return new Content(etag, inflated, null);
        } catch (IOException e) {
            return new Content(etag, NOTHING, "it is compressed, and damaged");
        }
    }

    private int inflatedSize(byte[] bytes) throws IOException {
        long size = 0;
        try (InputStream in = gunzip(bytes)) {
            byte[] part = new byte[PART];
            for (int got = 0; got >= 0 && size <= settings.maxBytes(); got = in.read(part)) {
                size += got;
            }
        }
        return (int) Math.min(size, oneTooMany());
    }

    private static InputStream gunzip(byte[] bytes) throws IOException {
        return new GZIPInputStream(new ByteArrayInputStream(bytes), PART);
    }

    private Content checked(String etag, byte[] bytes) {
        return bytes.length > settings.maxBytes() ? tooLarge(etag) : new Content(etag, bytes, null);
    }

    private Content tooLarge(String etag) {
        return new Content(etag, NOTHING, "it is larger than the limit of " + settings.maxBytes() + " bytes");
    }

    private int oneTooMany() {
        return (int) settings.maxBytes() + 1;
    }

    /**
     * Checks the bytes, since some clients and proxies decompress the content and leave the header. No JSON begins like
     * this.
     */
    private static boolean isGzip(byte[] bytes) {
        return bytes.length > 1 && bytes[0] == (byte) 0x1f && bytes[1] == (byte) 0x8b;
    }

    long maxBytes() {
        return settings.maxBytes();
    }

    /** Writes an object on no condition. */
    void put(String what, String name, byte[] bytes) {
        request(what, () -> Optional.ofNullable(put(bytes, putRequest(name))));
    }

    /**
     * Writes an object if it has not changed.
     *
     * @param etag the etag of the object that the caller knows, or null if there is none
     * @return whether it was written
     * @throws StorageUnavailableException if it is not known whether it was written
     * @throws KeepsakeException if the server creates existing objects again
     */
    Put putIf(String what, String name, @Nullable String etag, byte[] bytes) {
        if (etag == null) {
            checkCreation(what);
        }
        return write(what, name, etag, bytes);
    }

    /**
     * Tests once, before the first creation, whether the server refuses to create an existing object. Without this, two
     * writers could create the same document, and one of them would lose acknowledged messages. The object stays, so
     * that the next process needs only one request for the test.
     */
    void checkCreation(String what) {
        if (keepsWhatIsThere) {
            return;
        }
        probing.lock();
        try {
            int taken = 0;
            for (int attempt = 0; !keepsWhatIsThere && attempt < PROBES; attempt++) {
                Put put = write(what, probe, null, PROBE);
                taken += put.etag() == null ? 0 : 1;
                keepsWhatIsThere = put.refused();
                if (taken == 2) {
                    throw new KeepsakeException(
                            what + ": bucket " + bucket
                                    + " accepts If-None-Match: * for an existing object, so writers would replace "
                                    + "each other's documents. Only " + probe + " was written. Some "
                                    + "servers do so in a bucket with versioning, such as Ceph RGW "
                                    + "16: use a bucket that never had versioning",
                            null);
                }
            }
        } finally {
            probing.unlock();
        }
        if (!keepsWhatIsThere) {
            throw new StorageUnavailableException(
                    what + ": bucket " + bucket + " did not show whether it honors If-None-Match: *. Try again", null);
        }
    }

    private Put write(String what, String name, @Nullable String etag, byte[] bytes) {
        PutObjectRequest.Builder request = putRequest(name);
        if (etag == null) {
            request.ifNoneMatch("*");
        } else {
            request.ifMatch(condition(etag));
        }
        // An interrupted answer may lack its etag. The next read shows whether the object was written.
        return request(
                what,
                () -> new Put(put(bytes, request), false),
                refusal -> S3Errors.isConflict(refusal)
                        ? Optional.of(new Put(null, refusal.statusCode() == 412))
                        : Optional.empty());
    }

    private String condition(String etag) {
        return settings.quotedEtags() ? etag : etag.replace("\"", "");
    }

    private PutObjectRequest.Builder putRequest(String name) {
        return PutObjectRequest.builder()
                .bucket(bucket)
                .key(name)
                .contentType("application/json")
                .serverSideEncryption(settings.encryption())
                .ssekmsKeyId(settings.kmsKeyId());
    }

    private @Nullable String put(byte[] bytes, PutObjectRequest.Builder request) {
        byte[] body = bytes;
        if (bytes.length > settings.gzipAbove()) {
            body = deflated(bytes);
            request.contentEncoding("gzip");
        }
        PutObjectResponse response = client.putObject(request.build(), RequestBody.fromBytes(body));
        clock.answered(response.sdkHttpResponse());
        return response.eTag();
    }

    private static byte[] deflated(byte[] bytes) {
        ByteArrayOutputStream deflated = new ByteArrayOutputStream(bytes.length / 4 + 64);
        try (GZIPOutputStream out = new FastGzip(deflated)) {
            out.write(bytes);
        } catch (IOException e) {
            throw new IllegalStateException("an array has no errors of its own", e);
        }
        return deflated.toByteArray();
    }

    /**
     * The level of compression. The whole document is compressed for each turn, and the next level takes longer than
     * its transfer saves.
     */
    private static final class FastGzip extends GZIPOutputStream {
        FastGzip(OutputStream out) throws IOException {
            super(out, 65_536);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }

    /** Lists all objects whose names begin with a prefix, by name. */
    List<Listed> list(String what, String prefix) {
        List<Listed> all = new ArrayList<>();
        Part part = new Part(List.of(), true);
        while (part.more()) {
            part = list(
                    what, prefix, all.isEmpty() ? "" : all.get(all.size() - 1).name(), LIST);
            all.addAll(part.objects());
        }
        return all;
    }

    /**
     * Lists the first objects behind a name, with one request.
     *
     * @param prefix the beginning of their names
     * @param after the name; no object needs to have it; empty for the first objects
     * @param atMost how many, 1 to 1,000
     */
    Part list(String what, String prefix, String after, int atMost) {
        return request(what, () -> {
            ListObjectsV2Response response = client.listObjectsV2(request -> request.bucket(bucket)
                    .prefix(prefix)
                    .startAfter(after.isEmpty() ? null : after)
                    .maxKeys(atMost));
            List<Listed> objects = response.contents().stream()
                    .map(object -> new Listed(object.key(), object.eTag(), object.lastModified()))
                    .toList();
            return new Part(objects, !objects.isEmpty() && Boolean.TRUE.equals(response.isTruncated()));
        });
    }

    void delete(String what, String name) {
        request(
                what,
                () -> client.deleteObject(request -> request.bucket(bucket).key(name)));
    }

    /**
     * Deletes an object if it has not changed. A server that does not know the condition either deletes the object in
     * any case, or gets a request without the condition after a check of the object.
     *
     * @param etag the etag of the object that the caller knows
     */
    void deleteIf(String what, String name, String etag) {
        request(
                what,
                () -> client.deleteObject(
                        request -> request.bucket(bucket).key(name).ifMatch(condition(etag))),
                refusal -> {
                    if (refusal.statusCode() == 501 && etag.equals(etag(name))) {
                        return Optional.of(client.deleteObject(
                                request -> request.bucket(bucket).key(name)));
                    }
                    boolean isOther = refusal.statusCode() == 412 || S3Errors.isNoSuchKey(refusal);
                    return isOther ? Optional.of(DeleteObjectResponse.builder().build()) : Optional.empty();
                });
    }

    /**
     * Copies an object unchanged, if it has not changed since.
     *
     * @return whether it was copied
     */
    boolean copyIf(String what, String name, String etag, String to) {
        return request(
                what,
                () -> {
                    client.copyObject(request -> request.sourceBucket(bucket)
                            .sourceKey(name)
                            .copySourceIfMatch(condition(etag))
                            .destinationBucket(bucket)
                            .destinationKey(to)
                            .serverSideEncryption(settings.encryption())
                            .ssekmsKeyId(settings.kmsKeyId()));
                    return true;
                },
                refusal -> S3Errors.isConflict(refusal) ? Optional.of(false) : Optional.empty());
    }

    private @Nullable String etag(String name) {
        try {
            return client.headObject(request -> request.bucket(bucket).key(name))
                    .eTag();
        } catch (AwsServiceException e) {
            if (S3Errors.isNoSuchKey(e)) {
                return null;
            }
            throw e;
        }
    }

    /**
     * Sends a request that the server may refuse.
     *
     * @param refused returns what a refusal means, or nothing if it is an error
     */
    private <T> T request(String what, Supplier<T> work, Function<AwsServiceException, Optional<T>> refused) {
        return request(what, () -> {
            try {
                return work.get();
            } catch (AwsServiceException e) {
                if (e.awsErrorDetails() != null) {
                    clock.answered(e.awsErrorDetails().sdkHttpResponse());
                }
                return refused.apply(e).orElseThrow(() -> e);
            }
        });
    }

    /** The SDK refuses an interrupted thread, so a cancelled caller could not store its messages. */
    private <T> T request(String what, Supplier<T> work) {
        return Uninterrupted.call(() -> once(what, work));
    }

    /** A client that is closed during a call throws many kinds of errors, and not all are its own. */
    private <T> T once(String what, Supplier<T> work) {
        if (closed) {
            throw new StorageClosedException(what);
        }
        try {
            return work.get();
        } catch (RuntimeException e) {
            if (closed) {
                throw new StorageClosedException(what);
            }
            throw e instanceof SdkException sdk ? S3Errors.translate(what, bucket, sdk) : e;
        }
    }

    /** Closes the client if this bucket created it. */
    void close() {
        closed = true;
        if (ownClient) {
            client.close();
        }
    }
}
