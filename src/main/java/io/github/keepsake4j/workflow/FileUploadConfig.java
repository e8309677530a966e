package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ImageContent.DetailLevel;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Objects;

/**
 * How files of a history are shown to a model.
 *
 * @param imageDetail the detail of images
 * @param maxFileBytes files above this size are not loaded; a placeholder is shown for them
 */
public record FileUploadConfig(DetailLevel imageDetail, long maxFileBytes) {

    /** Images in high detail, files up to 20 MB. */
    public static final FileUploadConfig STANDARD = new FileUploadConfig(DetailLevel.HIGH, 20_000_000);

    /** Checks the parts. */
    public FileUploadConfig {
        Objects.requireNonNull(imageDetail, "imageDetail");
        if (maxFileBytes < 0) {
            throw new InvalidInputException("maxFileBytes", "must be 0 or more, is " + maxFileBytes);
        }
    }

    /**
     * The standard with another detail of images.
     *
     * @param imageDetail the detail
     * @return the configuration
     */
    public static FileUploadConfig withImageDetail(DetailLevel imageDetail) {
        return new FileUploadConfig(imageDetail, STANDARD.maxFileBytes());
    }
}
