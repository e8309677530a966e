package io.github.keepsake4j.tokens;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.ModelType;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Counts tokens as OpenAI's models do, with JTokkit. For the same model it returns the same counts as LangChain4j's
 * {@code OpenAiTokenCountEstimator}, and it returns a count where that estimator throws:
 *
 * <ul>
 *   <li>An image counts {@value #IMAGE_LOW} tokens at low detail, {@value #IMAGE_ULTRA_HIGH} at ultra high detail
 *       and {@value #IMAGE_HIGH} otherwise. OpenAI's vision guide states these numbers for models that count tiles: the
 *       first for any image, the second for one of 2048 × 4096 pixels, the third for one of 1024 × 1024 pixels. Newer
 *       models count 32-pixel patches, which gives about the same size.
 *   <li>An audio counts {@value #AUDIO} tokens (one minute at one token per 100 ms). A video counts {@value #VIDEO}
 *       tokens (20 seconds at about 100 tokens a second, one frame a second in low resolution). A PDF file counts
 *       {@value #PDF} tokens (one or two pages of text). These numbers are flat, because neither the length nor the
 *       number of pages is known without decoding the file, and for a URL the file itself is not available.
 *   <li>The contents of a tool result are added up. Tool arguments that are not a JSON object count as text. A tool
 *       call without name or arguments counts as one with an empty name or empty arguments. A custom message counts the
 *       text of its attributes.
 *   <li>Special tokens such as {@code <|endoftext|>} count as ordinary text. An unpaired surrogate counts as a
 *       question mark.
 * </ul>
 *
 * <p><b>Bounded time.</b> A text of up to 65,536 characters is counted as a whole. A longer text is counted in pieces
 * of at most 2,048 characters. A piece ends between a letter and a space where possible, which does not change the
 * count. If there is no such place within 1,024 characters, each cut may change the count by one or two tokens. For a
 * text of more than 4,194,304 characters, 512 evenly spaced pieces are counted, and the total is estimated from them.
 *
 * <p>Thread-safe. An encoding is loaded on its first use (which takes up to 0.7 s), once per JVM.
 */
public final class JtokkitTokenCountEstimator implements TokenCountEstimator {

    /** The number of tokens of an image of low detail. */
    public static final int IMAGE_LOW = 85;

    /** The number of tokens of an image of medium, high or automatic detail. */
    public static final int IMAGE_HIGH = 765;

    /** The number of tokens of an image of ultra high detail. */
    public static final int IMAGE_ULTRA_HIGH = 1105;

    /** The number of tokens of an audio. */
    public static final int AUDIO = 600;

    /** The number of tokens of a video. */
    public static final int VIDEO = 2000;

    /** The number of tokens of a PDF file. */
    public static final int PDF = 2000;

    private static final int PER_LIST = 3;
    private static final int PER_MESSAGE = 4;
    private static final int PER_NAME = 1;
    private static final int ONE_CALL = 5;
    private static final int SEVERAL_CALLS = 21;
    private static final int PER_CALL = 7;
    private static final int PER_ARGUMENT = 2;

    /**
     * Parses a tool call's arguments. Uses Jackson's defaults, as LangChain4j's estimator does, because another setting
     * could change the count. The one exception is that names are not kept in a shared table: the names come from a model,
     * and the table fails permanently once enough of them collide.
     */
    private static final JsonMapper ARGUMENTS = new JsonMapper(JsonFactory.builder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .build());

    private final TextCounter texts;
    private final Family family;

    /**
     * The families of models. All models of a family have the same overheads. The differences were measured with the
     * models.
     */
    private enum Family {
        GPT("", 0, 0),
        O("+o", -1, 0),
        O4("+o4", -1, 2);

        private final String suffix;
        private final int perList;
        private final int perAiMessage;

        Family(String suffix, int perList, int perAiMessage) {
            this.suffix = suffix;
            this.perList = perList;
            this.perAiMessage = perAiMessage;
        }

        static Family of(String modelName) {
            if (modelName.startsWith("o4")) {
                return O4;
            }
            return modelName.startsWith("o") ? O : GPT;
        }
    }

    private JtokkitTokenCountEstimator(EncodingType encoding, Family family) {
        this.texts = new TextCounter(encoding);
        this.family = family;
    }

    /**
     * Creates an estimator for one of OpenAI's models.
     *
     * @param modelName the model's name in OpenAI's API, such as {@code gpt-4o-mini}
     * @return an estimator with the model's encoding and overheads
     * @throws InvalidInputException if the model's encoding is not known; use {@link #forEncoding(String)} then
     */
    public static JtokkitTokenCountEstimator forModel(String modelName) {
        EncodingType encoding = encodingOf(modelName)
                .orElseThrow(() -> new InvalidInputException(
                        "modelName",
                        "no encoding is known for \"" + modelName
                                + "\"; use JtokkitTokenCountEstimator.forEncoding(\"o200k_base\"), or"
                                + " TokenCounter.named(…) with a counter of the model's own"));
        return new JtokkitTokenCountEstimator(encoding, Family.of(modelName));
    }

    /**
     * Creates an estimator for the encoding with the given name, with the overheads of the GPT models.
     *
     * @param encodingName the encoding's name, such as {@code o200k_base} or {@code cl100k_base}
     * @return an estimator with this encoding
     * @throws InvalidInputException if JTokkit has no such encoding
     */
    public static JtokkitTokenCountEstimator forEncoding(String encodingName) {
        return forEncoding(EncodingType.fromName(encodingName)
                .orElseThrow(() -> new InvalidInputException(
                        "encodingName",
                        "\"" + encodingName + "\" is not an encoding of JTokkit; current models use o200k_base")));
    }

    /**
     * Creates an estimator for an encoding, with the overheads of the GPT models.
     *
     * @param encoding the encoding
     * @return an estimator with this encoding
     */
    public static JtokkitTokenCountEstimator forEncoding(EncodingType encoding) {
        return new JtokkitTokenCountEstimator(encoding, Family.GPT);
    }

    /**
     * Returns the name that is stored with counts. Estimators with the same name return the same counts, so any change
     * to a rule of counting needs a new name.
     *
     * @return the encoding, followed by the model family if that has overheads of its own: {@code jtokkit:o200k_base},
     *     {@code jtokkit:o200k_base+o4}
     */
    public String name() {
        return "jtokkit:" + texts.encoding().getName() + family.suffix;
    }

    /**
     * Counts the tokens of a text.
     *
     * @param text the text; null counts as 0 tokens
     * @return the number of tokens
     */
    @Override
    public int estimateTokenCountInText(@Nullable String text) {
        return toInt(text(text));
    }

    /**
     * Counts the tokens of a message, including its overhead.
     *
     * @param message any message
     * @return the number of tokens
     */
    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        return toInt(message(message));
    }

    /**
     * Counts the tokens of messages that are sent together.
     *
     * @param messages the messages
     * @return the sum of the messages' tokens and the overhead of the list
     */
    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        long tokens = (long) PER_LIST + family.perList;
        for (ChatMessage message : messages) {
            tokens += message(message);
        }
        return toInt(tokens);
    }

    /** Returns {@link #name()}. */
    @Override
    public String toString() {
        return name();
    }

    /**
     * JTokkit does not know models newer than gpt-4o. The first check fills that gap in the same way as LangChain4j
     * does.
     */
    private static Optional<EncodingType> encodingOf(String modelName) {
        if (modelName.startsWith("o") || modelName.startsWith("gpt-4.") || modelName.startsWith("gpt-5")) {
            return Optional.of(EncodingType.O200K_BASE);
        }
        Optional<EncodingType> exact = ModelType.fromName(modelName).map(ModelType::getEncodingType);
        if (exact.isPresent()) {
            return exact;
        }
        if (modelName.startsWith("gpt-4o")) {
            return Optional.of(EncodingType.O200K_BASE);
        }
        return modelName.startsWith("gpt-4") || modelName.startsWith("gpt-3.5-turbo")
                ? Optional.of(EncodingType.CL100K_BASE)
                : Optional.empty();
    }

    private long message(ChatMessage message) {
        return PER_MESSAGE + body(message);
    }

    private long body(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return text(system.text());
        }
        if (message instanceof UserMessage user) {
            return contents(user.contents()) + (user.name() == null ? 0 : PER_NAME + text(user.name()));
        }
        if (message instanceof AiMessage ai) {
            return text(ai.text()) + calls(ai.toolExecutionRequests()) + family.perAiMessage;
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return contents(result.contents());
        }
        return message instanceof CustomMessage custom ? text(AttributeText.of(custom.attributes())) : 0;
    }

    private long contents(List<Content> contents) {
        return contents.stream().mapToLong(this::content).sum();
    }

    private long content(Content content) {
        if (content instanceof TextContent text) {
            return text(text.text());
        }
        if (content instanceof ImageContent image) {
            return switch (image.detailLevel()) {
                case LOW -> IMAGE_LOW;
                case ULTRA_HIGH -> IMAGE_ULTRA_HIGH;
                default -> IMAGE_HIGH;
            };
        }
        if (content instanceof AudioContent) {
            return AUDIO;
        }
        if (content instanceof VideoContent) {
            return VIDEO;
        }
        return content instanceof PdfFileContent ? PDF : 0;
    }

    private long calls(List<ToolExecutionRequest> calls) {
        if (calls.isEmpty()) {
            return 0;
        }
        if (calls.size() == 1) {
            ToolExecutionRequest call = calls.get(0);
            return ONE_CALL + 2 * text(call.name()) + text(call.arguments());
        }
        return SEVERAL_CALLS
                + calls.stream()
                        .mapToLong(call -> PER_CALL + text(call.name()) + arguments(call.arguments()))
                        .sum();
    }

    private long arguments(@Nullable String json) {
        if (json == null || json.trim().isEmpty()) {
            return 0;
        }
        Map<?, ?> arguments = parsed(json);
        if (arguments == null) {
            return PER_ARGUMENT + text(json);
        }
        return arguments.entrySet().stream()
                .mapToLong(argument -> PER_ARGUMENT
                        + text(String.valueOf(argument.getKey()))
                        + text(String.valueOf(argument.getValue())))
                .sum();
    }

    /** Returns the arguments by name, or null if the text, which is a model's, is not a JSON object. */
    private static @Nullable Map<?, ?> parsed(String json) {
        try {
            return ARGUMENTS.readValue(json, Map.class);
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    private long text(@Nullable String text) {
        return text == null ? 0 : texts.count(text);
    }

    private static int toInt(long tokens) {
        return (int) Math.min(tokens, Integer.MAX_VALUE);
    }
}
