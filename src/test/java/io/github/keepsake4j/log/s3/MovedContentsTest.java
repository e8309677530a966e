package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.ExpectedLog;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Large inline contents are stored beside the document, and a reader of the log does not notice it. */
class MovedContentsTest extends BucketFixture {

    private static final String LARGE = base64(1, 30_000);

    private MessageLog moving;

    @BeforeEach
    void openMoving() {
        moving = another(builder -> builder.moveContentsAbove(1_000));
    }

    @Test
    void every_kind_of_content_comes_back_as_it_was_in_another_process_too() {
        ChatMessage asked = UserMessage.builder()
                .name("ada")
                .addContent(TextContent.from("What is this?"))
                .addContent(ImageContent.from(
                        Image.builder()
                                .base64Data(LARGE)
                                .mimeType("image/png")
                                .revisedPrompt("a bee")
                                .build(),
                        ImageContent.DetailLevel.HIGH))
                .addContent(AudioContent.from(base64(2, 5_000), "audio/mp3"))
                .addContent(VideoContent.from(base64(3, 5_000), "video/mp4"))
                .addContent(PdfFileContent.from(base64(4, 5_000), "application/pdf"))
                .build();
        ChatMessage result = ToolExecutionResultMessage.builder()
                .id("1")
                .toolName("camera")
                .contents(ImageContent.from(base64(5, 5_000), "image/jpeg"))
                .build();
        append(asked, result);

        for (MessageLog each : List.of(moving, log, another())) {
            Tail tail = each.read(NODE, ReadQuery.newest(10).alsoOldest(1));
            assertThat(messages(tail.messages())).containsExactly(asked, result);
            assertThat(messages(tail.oldest())).containsExactly(asked);
            assertThat(tail.user()).isNotNull();
            assertThat(tail.user().message()).isEqualTo(asked);
            assertThat(messages(each.history(NODE, HistoryQuery.oldest(10)).messages()))
                    .containsExactly(asked, result);
        }
        assertThat(text(NODE_OBJECT)).hasSizeLessThan(5_000).doesNotContain(LARGE.substring(0, 100));
        assertThat(objects()).hasSize(6);
    }

    @Test
    void the_same_content_is_stored_once_and_read_once() {
        for (int i = 0; i < 4; i++) {
            append(image(LARGE));
        }
        assertThat(objects()).hasSize(2);
        MessageLog second = another();
        int before = wire.count("GET");
        assertThat(second.read(NODE, ReadQuery.newest(10)).messages()).hasSize(4);
        second.read(NODE, ReadQuery.newest(10));
        assertThat(wire.count("GET") - before)
                .as("the document twice, the content once")
                .isEqualTo(3);
    }

    @Test
    void a_retry_is_recognised_whatever_is_moved() {
        NewMessage message = NewMessage.of(image(LARGE), 7, "test");

        moving.append(NODE, Append.underHead(message));
        assertThat(moving.append(NODE, Append.underHead(message)).replayed()).isTrue();
    }

    @Test
    void small_contents_stay() {
        append(image(base64(6, 300)));
        assertThat(objects()).containsExactly(NODE_OBJECT);
    }

    @Test
    @ExpectedLog("a content that was moved out of a message is missing")
    void what_is_gone_is_shown_as_a_placeholder_and_the_rest_is_there() {
        append(image(LARGE), UserMessage.from("and this?"));
        objects().stream()
                .filter(name -> !name.equals(NODE_OBJECT))
                .forEach(name ->
                        client.deleteObject(request -> request.bucket(bucket).key(name)));

        assertThat(messages(another().read(NODE, ReadQuery.newest(10)).messages()))
                .containsExactly(
                        UserMessage.from(TextContent.from("[image: not available]")), UserMessage.from("and this?"));
    }

    @Test
    void erasing_the_memory_erases_them() {
        append(image(LARGE));
        log.erase(NODE);
        assertThat(objects()).isEmpty();
        append(image(LARGE));
        assertThat(messages(another().read(NODE, ReadQuery.newest(10)).messages()))
                .as("what was erased is written again")
                .containsExactly(image(LARGE));
    }

    @Test
    void erasing_a_memory_leaves_one_alone_whose_id_looks_like_what_lies_beside_it() {
        for (String id : List.of("node.json", "node.json.kept-1", "node.json!kept-1", "node.json!content-1")) {
            log.append(NodeKey.of("default", "app", "conversation", id), batch("there"));
        }
        append(image(LARGE));
        log.erase(NODE);

        for (String id : List.of("node.json", "node.json.kept-1", "node.json!kept-1", "node.json!content-1")) {
            assertThat(another()
                            .read(NodeKey.of("default", "app", "conversation", id), ReadQuery.newest(1))
                            .messages())
                    .as(id)
                    .hasSize(1);
        }
    }

    @Test
    void what_an_erasure_refuses_leaves_no_content_behind() {
        append(UserMessage.from("hi"));
        long epoch = log.erase(NODE) - 1;

        assertThatThrownBy(() -> moving.append(
                        NODE,
                        Append.underHead(NewMessage.of(image(LARGE), 7, "test")).inEpoch(epoch)))
                .isInstanceOf(ErasedException.class);
        assertThat(objects()).isEmpty();

        append(image(LARGE));
        assertThatThrownBy(() -> moving.append(
                        NODE,
                        Append.underHead(
                                        NewMessage.of(image(LARGE), 7, "test"),
                                        NewMessage.of(image(base64(8, 5_000)), 7, "test"))
                                .inEpoch(epoch)))
                .isInstanceOf(ErasedException.class);
        assertThat(messages(another().read(NODE, ReadQuery.newest(10)).messages()))
                .as("what is in use stays")
                .containsExactly(image(LARGE));
        assertThat(objects()).hasSize(2);
    }

    @Test
    void an_erasure_takes_what_was_appended_until_it_was_written_and_nothing_else() {
        append(image(LARGE));
        once("PUT", true, () -> append(image(base64(11, 5_000))));
        log.erase(NODE);
        assertThat(objects()).isEmpty();

        once("PUT", false, () -> append(image(base64(12, 5_000))));
        log.erase(NODE);
        server.leaveAlone();
        assertThat(messages(another().read(NODE, ReadQuery.newest(10)).messages()))
                .containsExactly(image(base64(12, 5_000)));
    }

    @Test
    void an_erasure_leaves_the_same_content_alone_that_begins_the_memory_anew() {
        append(image(LARGE));
        once("PUT", false, () -> append(image(LARGE)));
        log.erase(NODE);
        server.leaveAlone();

        assertThat(messages(another().read(NODE, ReadQuery.newest(10)).messages()))
                .containsExactly(image(LARGE));
        assertThat(objects()).hasSize(2);
    }

    @Test
    void a_turn_that_an_erasure_ends_leaves_no_content_behind() {
        try (MessageLog turns =
                another(builder -> builder.moveContentsAbove(1_000).turnMode(Duration.ofHours(1)))) {
            turns.append(NODE, batch("read first"));
            turns.read(NODE, ReadQuery.newest(1));
            log.append(NODE, batch("there"));
            log.erase(NODE);
            turns.append(NODE, Append.underHead(NewMessage.of(image(LARGE), 7, "test")));
            assertThat(objects()).as("contents are written with their turn").isEmpty();

            assertThatThrownBy(() -> turns.append(NODE, Append.underHead(answer("a"))))
                    .isInstanceOf(ErasedException.class);
            assertThat(objects()).isEmpty();
        }
    }

    @Test
    void a_content_that_could_not_be_read_again_is_refused() {
        MessageLog limited = another(builder -> builder.moveContentsAbove(1_000).maxObjectBytes(20_000));
        assertThatThrownBy(() -> limited.append(NODE, Append.underHead(NewMessage.of(image(LARGE), 7, "test"))))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining(NODE.canonical())
                .hasMessageContaining("20000")
                .hasMessageNotContaining(LARGE.substring(0, 10));
        assertThat(objects()).isEmpty();
    }

    @Test
    void a_retry_is_recognised_though_another_process_moves_other_contents() {
        NewMessage both = NewMessage.of(
                UserMessage.from(
                        ImageContent.from(LARGE, "image/png"), ImageContent.from(base64(9, 3_000), "image/png")),
                7,
                "test");
        MessageLog some = another(builder -> builder.moveContentsAbove(10_000));
        for (MessageLog first : List.of(moving, some, log)) {
            first.append(NODE, Append.underHead(both));
            for (MessageLog again : List.of(log, moving, some)) {
                assertThat(again.append(NODE, Append.underHead(both)).replayed())
                        .isTrue();
                NewMessage other = new NewMessage(both.id(), image(base64(10, 3_000)), 7, "test", null);
                assertThatThrownBy(() -> again.append(NODE, Append.underHead(other)))
                        .isInstanceOf(MessageIdConflictException.class);
            }
            log.erase(NODE);
        }
    }

    @Test
    void contents_are_not_taken_for_cleared_messages() {
        append(image(LARGE));
        // A program that knows only the public fields drops the fields of this library.
        String document = text(NODE_OBJECT);
        int ours = document.lastIndexOf(",\n\"keepsake\":");
        assertThat(ours).isPositive();
        put(NODE_OBJECT, document.substring(0, ours) + "}");

        assertThat(another().read(NODE, ReadQuery.newest(10)).messages()).hasSize(1);
    }

    @Test
    void a_mark_that_a_user_wrote_leads_nowhere() {
        append(image("keepsake-content:../../other"));
        assertThat(messages(another().read(NODE, ReadQuery.newest(10)).messages()))
                .containsExactly(image("keepsake-content:../../other"));
    }

    @Test
    void a_limit_that_would_move_marks_is_refused() {
        assertThatThrownBy(() -> S3MessageLog.builder().moveContentsAbove(10))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("moveContentsAbove");
    }

    private void append(ChatMessage... messages) {
        moving.append(
                NODE,
                Append.underHead(List.of(messages).stream()
                        .map(message -> NewMessage.of(message, 7, "test"))
                        .toArray(NewMessage[]::new)));
    }

    private static UserMessage image(String base64) {
        return UserMessage.from(ImageContent.from(base64, "image/png"));
    }

    private static String base64(int seed, int bytes) {
        byte[] random = new byte[bytes];
        new Random(seed).nextBytes(random);
        return Base64.getEncoder().encodeToString(random);
    }

    private static List<ChatMessage> messages(List<LoggedMessage> logged) {
        return logged.stream().map(LoggedMessage::message).toList();
    }
}
