package io.github.keepsake4j.log.s3;

import java.util.Optional;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;

/** The region that the AWS SDK finds around it. */
final class AwsRegion {

    private AwsRegion() {}

    static Optional<String> find() {
        try {
            return Optional.of(new DefaultAwsRegionProviderChain().getRegion().id());
        } catch (SdkClientException e) {
            // So the SDK tells that there is none.
            return Optional.empty();
        }
    }
}
