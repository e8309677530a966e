package io.github.keepsake4j.workflow.files.s3;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.Type;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.workflow.WorkflowMemories;
import io.github.keepsake4j.workflow.files.FileContentSource;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** Files of a history whose bytes are in a bucket, over the wire. */
class S3FileContentSourceTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c1");
    private static final byte[] BYTES = {1, 2, 3, 4};

    private final MessageLog log = new InMemoryMessageLog();
    private S3Server server;
    private S3Client client;
    private String bucket;

    @BeforeEach
    void open() throws Exception {
        server = S3Server.shared();
        client = S3Server.client(server.port());
        bucket = server.newBucket();
        client.putObject(request -> request.bucket(bucket).key("files/cats/a b.png"), RequestBody.fromBytes(BYTES));
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void a15_contents_are_the_bytes_of_the_object() {
        assertThat(shown(S3FileContentSource.bytes(client, bucket).prefix("files/"), "cats/a b.png"))
                .isEqualTo(ImageContent.from("AQIDBA==", "image/png", DetailLevel.HIGH));
    }

    @Test
    void a15_contents_are_presigned_urls_that_need_no_credentials() throws Exception {
        try (S3Presigner presigner = S3Presigner.builder()
                .endpointOverride(server.endpoint())
                .region(Region.of(S3Server.REGION))
                .serviceConfiguration(
                        S3Configuration.builder().pathStyleAccessEnabled(true).build())
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
                .build()) {
            FileContentSource source = S3FileContentSource.presigned(presigner, bucket, Duration.ofMinutes(5))
                    .prefix("files/");
            ImageContent shown = (ImageContent) shown(source, "cats/a b.png");

            byte[] fetched = HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(shown.image().url()).build(), BodyHandlers.ofByteArray())
                    .body();
            assertThat(fetched).isEqualTo(BYTES);
            assertThat(shown.image().url().getQuery()).contains("X-Amz-Expires=300");
            assertThrown(
                    InvalidInputException.class,
                    () -> S3FileContentSource.presigned(presigner, bucket, Duration.ofDays(8)),
                    "validFor");
        }
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void an_object_that_is_not_there_or_larger_than_its_row_says_is_a_placeholder() {
        TextContent placeholder = TextContent.from("[image: not available]");

        assertThat(shown(S3FileContentSource.bytes(client, bucket), "cats/a b.png"))
                .isEqualTo(placeholder);
        assertThat(shown(S3FileContentSource.bytes(client, bucket, 3).prefix("files/"), "cats/a b.png"))
                .isEqualTo(placeholder);
        assertThat(shown(S3FileContentSource.bytes(client, bucket, 4).prefix("files/"), "cats/a b.png"))
                .isInstanceOf(ImageContent.class);
    }

    private Content shown(FileContentSource source, String storageKey) {
        FileReference file = FileReference.localFile(Type.IMAGE, "i1");
        log.append(
                KEY,
                Append.underHead(
                        NewMessage.of(FileReference.attach(user("look"), List.of(file)), 10, "test"),
                        NewMessage.of(ai("nice"), 5, "test")));
        WorkflowMemories memories = WorkflowMemories.builder()
                .conversationLog(log)
                .nodeLog(log)
                .fileResolver(
                        (tenant, files) -> Map.of(file, new ResolvedFile(file, storageKey, "a b.png", "image/png", -1)))
                .fileContentSource(source)
                .build();
        UserMessage newest = (UserMessage)
                memories.conversation(KEY).getHistoryPromptMessages(100_000).get(0);
        return newest.contents().get(0);
    }
}
