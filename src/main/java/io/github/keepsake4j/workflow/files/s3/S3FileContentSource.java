package io.github.keepsake4j.workflow.files.s3;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.workflow.files.FileContentSource;
import io.github.keepsake4j.workflow.files.FileContentSource.FileContent;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.function.Function;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * Loads contents of files that are stored in a bucket under their storage keys: the bytes, or a presigned URL that the
 * model's provider fetches. The owner of a file was checked by the {@code FileResolver} that returned the storage key.
 * Everyone who may write to the resolver's table therefore decides which objects can be read. Thread-safe; closes
 * neither the client nor the presigner.
 */
public final class S3FileContentSource implements FileContentSource {

    private static final Duration LONGEST = Duration.ofDays(7);

    /** Returns the content of an object. */
    private final Function<String, FileContent> reader;

    private final String prefix;

    private S3FileContentSource(Function<String, FileContent> reader, String prefix) {
        this.reader = reader;
        this.prefix = prefix;
    }

    /**
     * Creates a source that reads the bytes, for models that cannot access the bucket. Files that exceed the limit of
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
     * Creates a source that reads the bytes of files up to a maximum size.
     *
     * @param client the client
     * @param bucket the bucket's name
     * @param maxBytes the size in bytes of the largest file that is read, 1 to 1 GiB; larger files are refused without
     *     being read
     * @return the source
     * @throws InvalidInputException if the limit is out of range
     */
    public static S3FileContentSource bytes(S3Client client, String bucket, long maxBytes) {
        InvalidInputException.given("client", client);
        InvalidInputException.given("bucket", bucket);
        InvalidInputException.checkRange("maxBytes", 1, 1L << 30, maxBytes);
        return new S3FileContentSource(key -> download(client, bucket, key, maxBytes), "");
    }

    /**
     * Creates a source of presigned URLs. It sends no request and does not check whether a file exists.
     *
     * @param presigner the presigner
     * @param bucket the bucket's name
     * @param validFor how long a URL can be used: one second to seven days, which is the maximum of S3
     * @return the source
     * @throws InvalidInputException if the time is out of range
     */
    public static S3FileContentSource presigned(S3Presigner presigner, String bucket, Duration validFor) {
        InvalidInputException.given("presigner", presigner);
        InvalidInputException.given("bucket", bucket);
        if (validFor.compareTo(Duration.ofSeconds(1)) < 0 || validFor.compareTo(LONGEST) > 0) {
            throw new InvalidInputException("validFor", "must be one second to seven days, is " + validFor);
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
     * Sets a prefix of all storage keys. Default: none.
     *
     * @param path the prefix, such as {@code files/}; it is used unchanged
     * @return a copy
     */
    public S3FileContentSource prefix(String path) {
        return new S3FileContentSource(reader, InvalidInputException.given("path", path));
    }

    @Override
    public FileContent load(String tenantId, ResolvedFile file) {
        return reader.apply(prefix + file.storageKey());
    }

    /** Downloads an object. Memory is used only up to the limit, whatever size the file's row states. */
    private static FileContent download(S3Client client, String bucket, String key, long maxBytes) {
        try (ResponseInputStream<GetObjectResponse> in =
                client.getObject(request -> request.bucket(bucket).key(key))) {
            Long length = in.response().contentLength();
            boolean isTooLarge = length != null && length > maxBytes;
            byte[] bytes = isTooLarge ? new byte[0] : in.readNBytes((int) maxBytes + 1);
            if (isTooLarge || bytes.length > maxBytes) {
                in.abort();
                throw new IllegalStateException("the object exceeds the limit of " + maxBytes + " bytes");
            }
            return FileContent.bytes(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
