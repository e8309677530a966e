package io.github.keepsake4j.message;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.message.FileReference.Owner;
import io.github.keepsake4j.message.FileReference.Type;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FileReferenceTest {

    @Test
    void a14_the_names_of_the_document_are_read_and_written() {
        Map<String, Object> document = Map.of(
                "type", "image",
                "transfer_method", "local_file",
                "upload_file_id", "file-uuid-123",
                "belongs_to", "user");
        assertThat(FileReference.fromMap(document)).isEqualTo(FileReference.localFile(Type.IMAGE, "file-uuid-123"));
        assertThat(FileReference.localFile(Type.IMAGE, "file-uuid-123").toMap()).isEqualTo(document);
        for (Type type : Type.values()) {
            for (FileReference file : List.of(
                    FileReference.localFile(type, "1").belongingTo(Owner.ASSISTANT),
                    FileReference.toolFile(type, "2"),
                    FileReference.remoteUrl(type, "https://example.org/a?b=c"))) {
                assertThat(FileReference.fromMap(file.toMap())).isEqualTo(file);
            }
        }
    }

    @Test
    void a14_whose_it_is_counts_as_the_users_if_it_is_not_said() {
        Map<String, Object> map =
                new HashMap<>(Map.of("type", "audio", "transfer_method", "tool_file", "tool_file_id", "t", "other", 1));
        map.put("belongs_to", null);
        map.put("url", null);
        assertThat(FileReference.fromMap(map)).isEqualTo(FileReference.toolFile(Type.AUDIO, "t"));
    }

    @Test
    void a14_what_is_missing_or_malformed_is_an_error_that_names_the_field() {
        wrong("type", Map.of("transfer_method", "local_file", "upload_file_id", "x"));
        wrong("type", Map.of("type", "IMAGE", "transfer_method", "local_file", "upload_file_id", "x"));
        wrong("transfer_method", Map.of("type", "image", "upload_file_id", "x"));
        wrong("transfer_method", Map.of("type", "image", "transfer_method", "ftp"));
        wrong("upload_file_id", Map.of("type", "image", "transfer_method", "local_file", "tool_file_id", "x"));
        wrong("upload_file_id", Map.of("type", "image", "transfer_method", "local_file", "upload_file_id", " "));
        wrong("upload_file_id", Map.of("type", "image", "transfer_method", "local_file", "upload_file_id", 7));
        wrong("tool_file_id", Map.of("type", "image", "transfer_method", "tool_file", "tool_file_id", ""));
        wrong("url", Map.of("type", "image", "transfer_method", "remote_url"));
        wrong("url", Map.of("type", "image", "transfer_method", "remote_url", "url", "file:///etc/passwd"));
        wrong("url", Map.of("type", "image", "transfer_method", "remote_url", "url", "http://a b"));
        wrong(
                "belongs_to",
                Map.of("type", "image", "transfer_method", "local_file", "upload_file_id", "x", "belongs_to", "me"));
    }

    @Test
    void a14_references_survive_the_codec_as_an_attribute() {
        FileReference file = FileReference.localFile(Type.IMAGE, "1");
        MessageCodec codec = new MessageCodec();
        for (ChatMessage message : List.of(
                FileReference.attach(UserMessage.from("u"), List.of(file)),
                FileReference.attach(AiMessage.from("a"), List.of(file)))) {
            ChatMessage back = codec.decode(codec.encode(message));
            assertThat(back).isEqualTo(message);
            assertThat(FileReference.entries(back)).containsExactly(file.toMap());
        }
        assertThat(FileReference.entries(UserMessage.from("u"))).isEmpty();
        assertThat(FileReference.attach(UserMessage.from("u"), List.of()).attributes())
                .isEmpty();
    }

    private static void wrong(String field, Map<String, Object> map) {
        assertThrown(InvalidInputException.class, () -> FileReference.fromMap(map))
                .hasMessageStartingWith(field + ":");
    }
}
