package io.github.keepsake4j.tokens;

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
 * Counts tokens as OpenAI's models do, with JTokkit. It gives the same counts as LangChain4j's
 * {@code OpenAiTokenCountEstimator} for the same model, and a count where that one throws:
 *
 * <ul>
 *   <li>An image counts {@value #IMAGE_LOW} tokens at low detail, {@value #IMAGE_ULTRA_HIGH} at ultra high detail, else
 *       {@value #IMAGE_HIGH}: what OpenAI's vision guide states for models that count tiles, for any image, one of
 *       2048 × 4096 and one of 1024 × 1024 pixels. Newer models count 32-pixel patches, at about the same size.
 *   <li>An audio counts {@value #AUDIO} tokens (a minute, at one token per 100 ms), a video {@value #VIDEO} (20 seconds at
 *       about 100 tokens a second, one frame a second in low resolution), a PDF file {@value #PDF} (a page or two of text).
 *       These are flat: neither length nor pages are known without decoding the file, or at all behind a URL.
 *   <li>Contents of a tool result are summed up; tool arguments that are no JSON object count as text; a tool call without
 *       name or arguments counts as one with empty ones; a custom message counts the text of its attributes.
 *   <li>Special tokens such as {@code <|endoftext|>} are text like any other; half a surrogate pair counts as a question
 *       mark.
 * </ul>
 *
 * <p><b>Bounded time.</b> A text of up to 65,536 characters is counted as a whole. A longer one is counted in pieces of at
 * most 2,048 characters. They end between a letter and a space where there is one, which leaves the count the same; where
 * there is none in 1,024 characters, each cut may change it by a token or two. Beyond 4,194,304 characters, 512 evenly
 * spaced pieces are counted, and the rest is estimated from them.
 *
 * <p>Thread-safe. An encoding is loaded when it is first counted with (up to 0.7 s), once in a JVM.
 */
public final class JtokkitTokenCountEstimator implements TokenCountEstimator {

    /** What an image of low detail counts. */
    public static final int IMAGE_LOW = 85;

    /** What an image of medium, high or automatic detail counts. */
    public static final int IMAGE_HIGH = 765;

    /** What an image of ultra high detail counts. */
    public static final int IMAGE_ULTRA_HIGH = 1105;

    /** What an audio counts. */
    public static final int AUDIO = 600;

    /** What a video counts. */
    public static final int VIDEO = 2000;

    /** What a PDF file counts. */
    public static final int PDF = 2000;

    private static final int PER_LIST = 3;
    private static final int PER_MESSAGE = 4;
    private static final int PER_NAME = 1;
    private static final int ONE_CALL = 5;
    private static final int SEVERAL_CALLS = 21;
    private static final int PER_CALL = 7;
    private static final int PER_ARGUMENT = 2;

    private final TextCounter texts;
    private final Family family;

    /** Models of one family have the same overheads; what differs was found out by asking the models. */
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
     * Makes an estimator for a model of OpenAI's.
     *
     * @param modelName the model's name as OpenAI's API knows it, such as {@code gpt-4o-mini}
     * @return an estimator with the model's encoding and overheads
     * @throws InvalidInputException if the model's encoding is not known; take {@link #forEncoding(String)} then
     */
    public static JtokkitTokenCountEstimator forModel(String modelName) {
        EncodingType encoding = encodingOf(modelName)
                .orElseThrow(() -> new InvalidInputException(
                        "modelName",
                        "no encoding is known for \"" + modelName + "\"; name one with forEncoding(\"o200k_base\")"));
        return new JtokkitTokenCountEstimator(encoding, Family.of(modelName));
    }

    /**
     * Makes an estimator for an encoding, with the overheads of the GPT models.
     *
     * @param encodingName the encoding's name, such as {@code o200k_base} or {@code cl100k_base}
     * @return an estimator with this encoding
     * @throws InvalidInputException if JTokkit has no such encoding
     */
    public static JtokkitTokenCountEstimator forEncoding(String encodingName) {
        return forEncoding(EncodingType.fromName(encodingName)
                .orElseThrow(() -> new InvalidInputException(
                        "encodingName",
                        "\"" + encodingName + "\" is none of JTokkit's; o200k_base is that of current models")));
    }

    /**
     * Makes an estimator for an encoding, with the overheads of the GPT models.
     *
     * @param encoding the encoding
     * @return an estimator with this encoding
     */
    public static JtokkitTokenCountEstimator forEncoding(EncodingType encoding) {
        return new JtokkitTokenCountEstimator(encoding, Family.GPT);
    }

    /**
     * Returns the name that is stored with counts. Estimators of the same name give the same counts, so a change to any
     * rule of counting needs a new name.
     *
     * @return the encoding and, for models with overheads of their own, their family: {@code jtokkit:o200k_base},
     *     {@code jtokkit:o200k_base+o4}
     */
    public String name() {
        return "jtokkit:" + texts.encoding().getName() + family.suffix;
    }

    /**
     * Counts the tokens of a text.
     *
     * @param text the text; null counts nothing
     * @return the number of tokens
     */
    @Override
    public int estimateTokenCountInText(@Nullable String text) {
        return toInt(text(text));
    }

    /**
     * Counts the tokens of a message with its overhead.
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
     * @return the sum of the messages' tokens and the overhead of a list
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

    /** JTokkit knows no models after gpt-4o; the first line is how LangChain4j fills the gap. */
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
        long tokens = 0;
        for (Content content : contents) {
            tokens += content(content);
        }
        return tokens;
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
        long tokens = SEVERAL_CALLS;
        for (ToolExecutionRequest call : calls) {
            tokens += PER_CALL + text(call.name()) + arguments(call.arguments());
        }
        return tokens;
    }

    private long arguments(@Nullable String json) {
        if (json == null || json.trim().isEmpty()) {
            return 0;
        }
        Map<?, ?> arguments = ToolArguments.parse(json);
        if (arguments == null) {
            return PER_ARGUMENT + text(json);
        }
        long tokens = 0;
        for (Map.Entry<?, ?> argument : arguments.entrySet()) {
            tokens +=
                    PER_ARGUMENT + text(String.valueOf(argument.getKey())) + text(String.valueOf(argument.getValue()));
        }
        return tokens;
    }

    private long text(@Nullable String text) {
        return text == null ? 0 : texts.count(text);
    }

    private static int toInt(long tokens) {
        return (int) Math.min(tokens, Integer.MAX_VALUE);
    }
}
