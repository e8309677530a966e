package io.github.keepsake4j.codec;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.message.KeptRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * Converts a request to JSON and back, as a model received it. The JSON contains the messages in the format of
 * {@link MessageCodec}, and the names of the model and the tools. Fields of newer versions are ignored. Pure functions.
 */
public final class RequestCodec {

    private RequestCodec() {}

    /**
     * Encodes a request.
     *
     * @param request the request
     * @return JSON
     * @throws io.github.keepsake4j.message.InvalidInputException if {@link MessageCodec#encode} refuses one of its
     *     messages
     */
    public static String encode(ChatRequest request) {
        List<Object> messages = new ArrayList<>();
        request.messages().forEach(message -> messages.add(MessageWriter.write(message)));
        JsonObject json =
                new JsonObject().with("version", MessageCodec.VERSION).withPresent("model", request.modelName());
        List<ToolSpecification> tools = request.toolSpecifications();
        if (tools != null && !tools.isEmpty()) {
            json.with("tools", tools.stream().map(ToolSpecification::name).toList());
        }
        return Json.write(json.with("messages", messages));
    }

    /**
     * Decodes a request.
     *
     * @param json JSON that {@link #encode} returned
     * @return the request
     * @throws io.github.keepsake4j.message.UnreadableDataException if the text is not such JSON
     */
    public static KeptRequest decode(String json) {
        JsonFields request = MessageCodec.object("Request", json);
        if (!request.has("messages")) {
            throw request.wrong("messages", "is missing");
        }
        List<ChatMessage> messages = request.objects("messages").stream()
                .map(message -> new MessageReader(message).read())
                .toList();
        return new KeptRequest(messages, request.text("model"), request.texts("tools"));
    }
}
