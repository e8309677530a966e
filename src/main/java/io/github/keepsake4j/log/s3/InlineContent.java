package io.github.keepsake4j.log.s3;

import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.VideoContent;
import dev.langchain4j.data.pdf.PdfFile;
import dev.langchain4j.data.video.Video;
import java.net.URI;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The common form of images, sounds, videos and PDF files.
 *
 * @param url where it is, or null
 * @param base64 its bytes, or null
 * @param with creates the same content with other bytes
 */
record InlineContent(@Nullable URI url, @Nullable String base64, Function<String, Content> with) {

    /** Returns the inline data of a content, or null for a text. */
    static @Nullable InlineContent of(Content content) {
        if (content instanceof ImageContent of) {
            Image image = of.image();
            return new InlineContent(
                    image.url(),
                    image.base64Data(),
                    base64 -> ImageContent.from(
                            Image.builder()
                                    .url(image.url())
                                    .base64Data(base64)
                                    .mimeType(image.mimeType())
                                    .revisedPrompt(image.revisedPrompt())
                                    .build(),
                            of.detailLevel()));
        }
        if (content instanceof AudioContent of) {
            Audio audio = of.audio();
            return new InlineContent(
                    audio.url(),
                    audio.base64Data(),
                    base64 -> AudioContent.from(Audio.builder()
                            .url(audio.url())
                            .binaryData(audio.binaryData())
                            .base64Data(base64)
                            .mimeType(audio.mimeType())
                            .build()));
        }
        if (content instanceof VideoContent of) {
            Video video = of.video();
            return new InlineContent(
                    video.url(),
                    video.base64Data(),
                    base64 -> VideoContent.from(Video.builder()
                            .url(video.url())
                            .base64Data(base64)
                            .mimeType(video.mimeType())
                            .build()));
        }
        if (content instanceof PdfFileContent of) {
            PdfFile pdf = of.pdfFile();
            return new InlineContent(
                    pdf.url(),
                    pdf.base64Data(),
                    base64 -> PdfFileContent.from(PdfFile.builder()
                            .url(pdf.url())
                            .base64Data(base64)
                            .mimeType(pdf.mimeType())
                            .build()));
        }
        return null;
    }
}
