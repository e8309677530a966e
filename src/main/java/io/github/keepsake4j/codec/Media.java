package io.github.keepsake4j.codec;

import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.pdf.PdfFile;
import dev.langchain4j.data.video.Video;
import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes images, audio, video and PDF files, which are given by URL or base64. */
final class Media {

    private Media() {}

    static Map<String, @Nullable Object> json(Image image, JsonPath path) {
        Map<String, @Nullable Object> json = json(image.url(), image.base64Data(), image.mimeType(), path);
        Json.put(json, "revisedPrompt", image.revisedPrompt());
        return json;
    }

    static Map<String, @Nullable Object> json(Audio audio, JsonPath path) {
        Map<String, @Nullable Object> json = json(audio.url(), audio.base64Data(), audio.mimeType(), path);
        byte[] bytes = audio.binaryData();
        Json.put(json, "binaryData", bytes == null ? null : Base64.getEncoder().encodeToString(bytes));
        return json;
    }

    static Map<String, @Nullable Object> json(Video video, JsonPath path) {
        return json(video.url(), video.base64Data(), video.mimeType(), path);
    }

    static Map<String, @Nullable Object> json(PdfFile file, JsonPath path) {
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
     * Returns a URI's text. Some URIs that {@code relativize} or {@code normalize} made cannot be parsed again; they
     * are refused.
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

    private static Map<String, @Nullable Object> json(
            @Nullable URI url, @Nullable String base64Data, @Nullable String mimeType, JsonPath path) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        Json.put(json, "url", url == null ? null : checked(url, path.field("url")));
        Json.put(json, "base64Data", base64Data);
        Json.put(json, "mimeType", mimeType);
        return json;
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
