package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.base.Unreachable;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;

/** The meaning of S3's errors for a caller. */
final class S3Errors {

    private static final Set<String> CREDENTIALS =
            Set.of("SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "ExpiredToken");

    private static final Set<String> REGION =
            Set.of("AuthorizationHeaderMalformed", "IllegalLocationConstraintException");

    private S3Errors() {}

    static boolean isNoSuchKey(AwsServiceException e) {
        return e.statusCode() == 404 && !code(e).equals("NoSuchBucket");
    }

    /** 412: the condition is not met. 409: another write is under way. 404: the object to replace does not exist. */
    static boolean isConflict(AwsServiceException e) {
        return e.statusCode() == 412 || e.statusCode() == 409 || isNoSuchKey(e);
    }

    static KeepsakeException translate(String what, String bucket, SdkException e) {
        if (e instanceof AbortedException) {
            Thread.currentThread().interrupt();
        }
        if (!(e instanceof AwsServiceException service)) {
            return new StorageUnavailableException(
                    what + ": bucket " + bucket + " cannot be reached" + Unreachable.why(e), e);
        }
        String answer = " (" + (service.statusCode() + " " + code(service)).strip() + ")";
        if (CREDENTIALS.contains(code(service))) {
            return new KeepsakeException(
                    what + ": bucket " + bucket + " refuses the client's credentials" + answer
                            + ". Check the access key and the secret key",
                    e);
        }
        if (service.statusCode() == 301 || REGION.contains(code(service))) {
            return new KeepsakeException(
                    what + ": bucket " + bucket + " is in another region than the client" + answer
                            + ". Set the client's region to the bucket's",
                    e);
        }
        if (service.statusCode() == 401 || service.statusCode() == 403) {
            return new KeepsakeException(
                    what + ": bucket " + bucket + " denies access" + answer
                            + ". Grant s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket (without the "
                            + "last one, S3 answers 403 for a missing object)",
                    e);
        }
        if (service.statusCode() == 404) {
            return new KeepsakeException(
                    what + ": the bucket " + bucket + " does not exist; create it, or correct its name" + answer, e);
        }
        if ((service.statusCode() >= 500 && service.statusCode() != 501)
                || service.statusCode() == 429
                || service.statusCode() == 408
                || service.statusCode() == 409
                || service.isThrottlingException()
                || code(service).equals("RequestTimeout")) {
            return new StorageUnavailableException(what + ": bucket " + bucket + " is not available" + answer, e);
        }
        String refused = code(service).isEmpty()
                ? " has an answer that is not one of S3" + answer + "; check that the endpoint is that of S3"
                : " refuses the request" + answer;
        return new KeepsakeException(what + ": bucket " + bucket + refused, e);
    }

    private static String code(AwsServiceException e) {
        return e.awsErrorDetails() == null || e.awsErrorDetails().errorCode() == null
                ? ""
                : e.awsErrorDetails().errorCode();
    }
}
