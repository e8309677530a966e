package io.github.keepsake4j.codec;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.message.KeptRequest;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestCodecTest {

    private static final List<ChatMessage> MESSAGES = List.of(
            SystemMessage.from("rules"), user("secret \0 \ud83d \ud83d\ude00"), calls("t"), result("t"), ai("fine"));

    @Test
    void a_request_comes_back_with_its_messages_model_and_tools() {
        ChatRequest request = ChatRequest.builder()
                .messages(MESSAGES)
                .modelName("large")
                .toolSpecifications(
                        ToolSpecification.builder().name("one").build(),
                        ToolSpecification.builder().name("two").build())
                .build();

        String json = RequestCodec.encode(request);

        assertThat(RequestCodec.decode(json)).isEqualTo(new KeptRequest(MESSAGES, "large", List.of("one", "two")));
        assertThat(json).doesNotContain("\0").startsWith("{\"version\":1,");
        assertThat(RequestCodec.decode(json).toString()).doesNotContain("secret");
    }

    @Test
    void a_request_without_model_and_tools_comes_back() {
        ChatRequest request = ChatRequest.builder().messages(user("hello")).build();

        assertThat(RequestCodec.decode(RequestCodec.encode(request)))
                .isEqualTo(new KeptRequest(List.of(user("hello")), null, List.of()));
    }

    @Test
    void what_a_newer_version_wrote_is_ignored_and_other_text_is_refused() {
        assertThat(RequestCodec.decode("{\"version\":9,\"new\":[1],\"messages\":[]}"))
                .isEqualTo(new KeptRequest(List.of(), null, List.of()));
        for (String text : List.of("", "[]", "{}", "{\"messages\":[1]}", "{\"messages\":{}}")) {
            assertThatThrownBy(() -> RequestCodec.decode(text)).isInstanceOf(UnreadableDataException.class);
        }
    }
}
