package io.github.keepsake4j.codec;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.pdf.PdfFile;
import dev.langchain4j.data.video.Video;
import io.github.keepsake4j.message.InvalidInputException;
import java.io.IOException;
import java.net.URI;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Reads and writes images, audio, video and PDF files, which are given by URL or base64. */
final class Media {

    private Media() {}

    static void write(JsonGenerator out, Image image, JsonPath path) throws IOException {
        out.writeStartObject();
        common(out, image.url(), image.base64Data(), image.mimeType(), path);
        string(out, "revisedPrompt", image.revisedPrompt());
        out.writeEndObject();
    }

    static void write(JsonGenerator out, Audio audio, JsonPath path) throws IOException {
        out.writeStartObject();
        common(out, audio.url(), audio.base64Data(), audio.mimeType(), path);
        if (audio.binaryData() != null) {
            out.writeBinaryField("binaryData", audio.binaryData());
        }
        out.writeEndObject();
    }

    static void write(JsonGenerator out, Video video, JsonPath path) throws IOException {
        out.writeStartObject();
        common(out, video.url(), video.base64Data(), video.mimeType(), path);
        out.writeEndObject();
    }

    static void write(JsonGenerator out, PdfFile file, JsonPath path) throws IOException {
        out.writeStartObject();
        common(out, file.url(), file.base64Data(), file.mimeType(), path);
        out.writeEndObject();
    }

    static Image readImage(JsonObject json) {
        return Image.builder()
                .url(url(json))
                .base64Data(json.string("base64Data"))
                .mimeType(json.string("mimeType"))
                .revisedPrompt(json.string("revisedPrompt"))
                .build();
    }

    static Audio readAudio(JsonObject json) {
        return Audio.builder()
                .url(url(json))
                .binaryData(bytes(json))
                .base64Data(json.string("base64Data"))
                .mimeType(json.string("mimeType"))
                .build();
    }

    static Video readVideo(JsonObject json) {
        return Video.builder()
                .url(url(json))
                .base64Data(json.string("base64Data"))
                .mimeType(json.string("mimeType"))
                .build();
    }

    static PdfFile readPdfFile(JsonObject json) {
        return PdfFile.builder()
                .url(url(json))
                .base64Data(json.string("base64Data"))
                .mimeType(json.string("mimeType"))
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

    static void string(JsonGenerator out, String name, @Nullable String value) throws IOException {
        if (value != null) {
            out.writeStringField(name, value);
        }
    }

    private static void common(
            JsonGenerator out, @Nullable URI url, @Nullable String base64Data, @Nullable String mimeType, JsonPath path)
            throws IOException {
        string(out, "url", url == null ? null : checked(url, path.field("url")));
        string(out, "base64Data", base64Data);
        string(out, "mimeType", mimeType);
    }

    private static @Nullable URI url(JsonObject json) {
        String url = json.string("url");
        return url == null ? null : uri(url, json.at("url"));
    }

    private static byte @Nullable [] bytes(JsonObject json) {
        String base64 = json.string("binaryData");
        try {
            return base64 == null ? null : Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw Json.unreadable(json.at("binaryData"), "it is not valid base64");
        }
    }
}
