package io.github.keepsake4j.workflow.s3;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.workflow.FileContent;
import io.github.keepsake4j.workflow.FileContentSource;
import io.github.keepsake4j.workflow.FileUploadConfig;
import io.github.keepsake4j.workflow.ResolvedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * Gives contents of files that lie in a bucket under their storage keys: the bytes, or a presigned URL that the model's
 * provider fetches. Whose file it is was checked where the storage key came from, by {@code FileResolver}; who may write
 * that table decides which objects can be read. Thread-safe; closes neither client nor presigner.
 */
public final class S3FileContentSource implements FileContentSource {

    private static final Duration LONGEST = Duration.ofDays(7);

    private final Reader reader;
    private final String prefix;

    /** Gives the content of an object. */
    @FunctionalInterface
    private interface Reader {
        FileContent read(String objectKey);
    }

    private S3FileContentSource(Reader reader, String prefix) {
        this.reader = reader;
        this.prefix = prefix;
    }

    /**
     * Reads the bytes; for models that cannot reach the bucket. Files over the limit of
     * {@link FileUploadConfig#STANDARD} are refused without being read.
     *
     * @param client the client
     * @param bucket the bucket's name
     * @return the source
     */
    public static S3FileContentSource bytes(S3Client client, String bucket) {
        return bytes(client, bucket, FileUploadConfig.STANDARD.maxFileBytes());
    }

    /**
     * Reads the bytes.
     *
     * @param client the client
     * @param bucket the bucket's name
     * @param maxBytes the largest file that is read, 1 to 1 GiB; larger ones are refused without being read
     * @return the source
     * @throws InvalidInputException if the limit is out of its range
     */
    public static S3FileContentSource bytes(S3Client client, String bucket, long maxBytes) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(bucket, "bucket");
        if (maxBytes < 1 || maxBytes > 1L << 30) {
            throw new InvalidInputException("maxBytes", "must be 1 to 1 GiB, is " + maxBytes);
        }
        return new S3FileContentSource(key -> download(client, bucket, key, maxBytes), "");
    }

    /**
     * Gives presigned URLs. That a file is there is not checked, and nothing is sent.
     *
     * @param presigner the presigner
     * @param bucket the bucket's name
     * @param validFor how long a URL can be used, a second to seven days, which is the longest that S3 takes
     * @return the source
     * @throws InvalidInputException if the time is out of its range
     */
    public static S3FileContentSource presigned(S3Presigner presigner, String bucket, Duration validFor) {
        Objects.requireNonNull(presigner, "presigner");
        Objects.requireNonNull(bucket, "bucket");
        if (validFor.compareTo(Duration.ofSeconds(1)) < 0 || validFor.compareTo(LONGEST) > 0) {
            throw new InvalidInputException("validFor", "must be a second to seven days, is " + validFor);
        }
        return new S3FileContentSource(
                key -> FileContent.url(URI.create(presigner
                        .presignGetObject(request -> request.signatureDuration(validFor)
                                .getObjectRequest(get -> get.bucket(bucket).key(key)))
                        .url()
                        .toString())),
                "");
    }

    /**
     * Puts something before all storage keys.
     *
     * @param path such as {@code files/}; nothing is added to it
     * @return a copy
     */
    public S3FileContentSource prefix(String path) {
        return new S3FileContentSource(reader, Objects.requireNonNull(path, "path"));
    }

    @Override
    public FileContent load(String tenantId, ResolvedFile file) {
        return reader.read(prefix + file.storageKey());
    }

    /** Memory is only for what is within the limit, whatever the file's row says of its size. */
    private static FileContent download(S3Client client, String bucket, String key, long maxBytes) {
        try (ResponseInputStream<GetObjectResponse> in =
                client.getObject(request -> request.bucket(bucket).key(key))) {
            byte[] bytes = atMost(in, maxBytes);
            if (bytes == null) {
                in.abort();
                throw new IllegalStateException("the object is over the limit of " + maxBytes + " bytes");
            }
            return FileContent.bytes(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte @Nullable [] atMost(ResponseInputStream<GetObjectResponse> in, long maxBytes)
            throws IOException {
        Long length = in.response().contentLength();
        if (length != null && length > maxBytes) {
            return null;
        }
        byte[] bytes = in.readNBytes((int) maxBytes + 1);
        return bytes.length > maxBytes ? null : bytes;
    }
}
