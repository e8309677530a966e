package io.github.keepsake4j.spring.moving;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.mock.ChatModelMock;

/** A service, so that a test can call that of either application. */
public interface Chat {

    String chat(String conversation, String text);

    /** Returns a model that answers how many questions it was shown. */
    static ChatModel model() {
        return new ChatModelMock(request -> AiMessage.from(request.messages().stream()
                        .filter(UserMessage.class::isInstance)
                        .count()
                + " questions"));
    }
}
