package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.PickyServer;
import io.github.keepsake4j.testing.PickyServer.Refusal;
import io.github.keepsake4j.testing.S3Server;
import java.net.ConnectException;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Servers that need other settings than Amazon's, and servers that keep no promise. */
@Timeout(300)
class VendorSettingsTest extends BucketFixture {

    private static Consumer<S3MessageLog.Builder> needed(Refusal refusal) {
        return switch (refusal) {
            case QUOTED_ETAGS -> builder -> builder.quotedEtags(false);
            case CHUNKS_BESIDE_ENCODING -> builder -> builder.chunkedSigning(false);
            case CHECKSUMS -> builder -> builder.checksums(RequestChecksumCalculation.WHEN_REQUIRED);
        };
    }

    private static Consumer<S3MessageLog.Builder> without(Refusal refusal) {
        return switch (refusal) {
            case QUOTED_ETAGS -> builder -> builder.quotedEtags(true);
            case CHUNKS_BESIDE_ENCODING -> builder -> builder.chunkedSigning(true);
            case CHECKSUMS -> builder -> builder.checksums(RequestChecksumCalculation.WHEN_SUPPORTED);
        };
    }

    private MessageLog connect(PickyServer picky, Consumer<S3MessageLog.Builder> settings) {
        return S3MessageLog.connect(
                S3Server.endpoint(picky.port()),
                S3Server.REGION,
                S3Server.ACCESS_KEY,
                S3Server.SECRET_KEY,
                bucket,
                settings);
    }

    /** Creates, changes, compresses, reads, puts aside and erases. */
    private void use(MessageLog used) {
        used.append(NODE, batch("a"));
        used.append(NODE, Append.under(Parent.head(), List.of(message("b", UserMessage.from("x".repeat(100_000)), 1))));
        used.append(NODE, batch("c"));
        assertThat(branch(used, NODE)).containsExactly("a", "b", "c");
        put(NODE_OBJECT, "damaged");
        ((S3MessageLog) used).quarantine(NODE_OBJECT);
        used.append(NODE, batch("d"));
        used.erase(NODE);
        assertThat(objects()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Refusal.class)
    void a_setting_is_what_a_server_needs(Refusal refusal) throws Exception {
        try (PickyServer picky = new PickyServer(server.port(), EnumSet.of(refusal))) {
            try (MessageLog other = connect(picky, needed(refusal))) {
                use(other);
                assertThat(picky.refused(refusal)).isZero();
            }
            try (MessageLog other = connect(picky, without(refusal))) {
                assertThatThrownBy(() -> use(other))
                        .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                                .isFalse());
                assertThat(picky.refused(refusal)).isPositive();
            }
        }
    }

    @Test
    void a_server_that_does_not_understand_the_condition_is_told_as_such() throws Exception {
        log.append(NODE, batch("a"));
        try (PickyServer picky = new PickyServer(server.port(), EnumSet.of(Refusal.QUOTED_ETAGS));
                MessageLog other = connect(picky, builder -> {})) {
            assertThatThrownBy(() -> other.append(NODE, batch("b")))
                    .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                            .isFalse())
                    .hasMessageContaining(NODE.canonical())
                    .hasMessageContaining("quotedEtags(false)")
                    .hasMessageNotContaining("other writers were first");
            assertThat(picky.refused(Refusal.QUOTED_ETAGS)).isLessThan(10);
        }
        assertThat(branch(log, NODE)).containsExactly("a");
    }

    @Test
    void a_server_that_is_not_there_is_told_with_the_reason() {
        SdkException refused = SdkClientException.create("Unable to execute", new ConnectException("refused") {});
        assertThat(S3Errors.translate("call", "b", refused))
                .isInstanceOf(StorageUnavailableException.class)
                .hasMessage(
                        "call: bucket b cannot be reached: the connection is refused; check the address, the server and"
                                + " the network, and retry");
        AwsServiceException strange = S3Exception.builder().statusCode(501).build();
        assertThat(S3Errors.translate("call", "b", strange))
                .hasMessage(
                        "call: bucket b has an answer that is not one of S3 (501); check that the endpoint is that of"
                                + " S3");
    }

    @Test
    void the_signing_of_a_given_client_is_its_own() {
        assertThatThrownBy(() -> another(builder -> builder.chunkedSigning(false)))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("client");
    }

    @Test
    void a_server_whose_conditions_are_not_atomic_is_found() throws Exception {
        S3Server careless = S3Server.start(S3Server.Kind.CHECKS_CONDITIONS_TOO_EARLY);
        try {
            String lossy = careless.newBucket();
            ConditionalWrites.Result result = ConditionalWrites.race(
                    () -> S3MessageLog.connect(
                            careless.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, lossy),
                    8,
                    25);
            assertThat(result.lost()).as("%s", result).isPositive();
        } finally {
            careless.stop();
        }
        assertThat(ConditionalWrites.race(
                                () -> S3MessageLog.connect(
                                        server.endpoint(),
                                        S3Server.REGION,
                                        S3Server.ACCESS_KEY,
                                        S3Server.SECRET_KEY,
                                        bucket),
                                4,
                                5)
                        .lost())
                .isZero();
    }
}
