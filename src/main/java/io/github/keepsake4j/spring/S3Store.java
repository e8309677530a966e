package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import java.util.Optional;
import org.springframework.beans.factory.BeanFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.services.s3.S3Client;

/** The store s3, in a class of its own because Amazon's SDK may be absent. */
final class S3Store {

    private S3Store() {}

    static MessageLog open(
            KeepsakeProperties.S3 properties, String bucket, String[] listedMetadata, BeanFactory beans) {
        S3MessageLog.Builder builder = S3MessageLog.builder().bucket(bucket).listedMetadata(listedMetadata);
        S3Client client = properties.endpoint() == null && properties.region() == null && properties.accessKey() == null
                ? beans.getBeanProvider(S3Client.class).getIfUnique()
                : null;
        if (client != null) {
            builder.client(client);
        } else {
            connect(builder, properties);
        }
        Optional.ofNullable(properties.prefix()).ifPresent(builder::prefix);
        if (properties.turnMode()) {
            builder.turnMode();
        }
        return builder.build();
    }

    private static void connect(S3MessageLog.Builder builder, KeepsakeProperties.S3 properties) {
        Optional.ofNullable(properties.endpoint()).ifPresent(builder::endpoint);
        Optional.ofNullable(properties.region()).ifPresent(builder::region);
        Optional.ofNullable(properties.pathStyle()).ifPresent(builder::pathStyle);
        if (properties.accessKey() != null && properties.secretKey() != null) {
            builder.credentials(StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(properties.accessKey(), properties.secretKey())));
        }
    }
}
