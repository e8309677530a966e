package io.github.keepsake4j.codec;

import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.pdf.PdfFile;
import dev.langchain4j.data.video.Video;
import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Reads and writes images, audio, video and PDF files, which are given by URL or base64. */
final class Media {

    private Media() {}

    static JsonObject json(Image image, JsonPath path) {
        return json(image.url(), image.base64Data(), image.mimeType(), path)
                .withPresent("revisedPrompt", image.revisedPrompt());
    }

    static JsonObject json(Audio audio, JsonPath path) {
        byte[] bytes = audio.binaryData();
        return json(audio.url(), audio.base64Data(), audio.mimeType(), path)
                .withPresent(
                        "binaryData", bytes == null ? null : Base64.getEncoder().encodeToString(bytes));
    }

    static JsonObject json(Video video, JsonPath path) {
        return json(video.url(), video.base64Data(), video.mimeType(), path);
    }

    static JsonObject json(PdfFile file, JsonPath path) {
        return json(file.url(), file.base64Data(), file.mimeType(), path);
    }

    static Image readImage(JsonFields json) {
        return Image.builder()
                .url(url(json))
                .base64Data(json.text("base64Data"))
                .mimeType(json.text("mimeType"))
                .revisedPrompt(json.text("revisedPrompt"))
                .build();
    }

    static Audio readAudio(JsonFields json) {
        return Audio.builder()
                .url(url(json))
                .binaryData(bytes(json))
                .base64Data(json.text("base64Data"))
                .mimeType(json.text("mimeType"))
                .build();
    }

    static Video readVideo(JsonFields json) {
        return Video.builder()
                .url(url(json))
                .base64Data(json.text("base64Data"))
                .mimeType(json.text("mimeType"))
                .build();
    }

    static PdfFile readPdfFile(JsonFields json) {
        return PdfFile.builder()
                .url(url(json))
                .base64Data(json.text("base64Data"))
                .mimeType(json.text("mimeType"))
                .build();
    }

    /**
     * Returns a URI's text. Some results of {@code relativize} and {@code normalize} cannot be parsed again; they are
     * refused.
     */
    static String checked(URI uri, JsonPath path) {
        String text = uri.toString();
        try {
            if (URI.create(text).equals(uri)) {
                return text;
            }
        } catch (IllegalArgumentException e) {
            // The error is the same as for a text that gives another URI. The exception is dropped because it quotes
            // the text.
        }
        throw new InvalidInputException(path.toString(), "is a URI whose text cannot be parsed to the same URI");
    }

    static URI uri(String text, JsonPath path) {
        try {
            return URI.create(text);
        } catch (IllegalArgumentException e) {
            throw Json.unreadable(path, "it is not a URI");
        }
    }

    private static JsonObject json(
            @Nullable URI url, @Nullable String base64Data, @Nullable String mimeType, JsonPath path) {
        return new JsonObject()
                .withPresent("url", url == null ? null : checked(url, path.field("url")))
                .withPresent("base64Data", base64Data)
                .withPresent("mimeType", mimeType);
    }

    private static @Nullable URI url(JsonFields json) {
        String url = json.text("url");
        return url == null ? null : uri(url, json.at("url"));
    }

    private static byte @Nullable [] bytes(JsonFields json) {
        String base64 = json.text("binaryData");
        try {
            return base64 == null ? null : Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw json.wrong("binaryData", "is not valid base64");
        }
    }
}
