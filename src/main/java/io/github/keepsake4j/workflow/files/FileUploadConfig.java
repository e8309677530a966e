package io.github.keepsake4j.workflow.files;

import dev.langchain4j.data.message.ImageContent.DetailLevel;
import io.github.keepsake4j.message.InvalidInputException;

/**
 * The settings for showing a history's files to a model.
 *
 * @param imageDetail the detail level of images
 * @param maxFileBytes the maximum size in bytes; larger files are not loaded and are shown as placeholders
 */
public record FileUploadConfig(DetailLevel imageDetail, long maxFileBytes) {

    /** The standard settings: images in high detail, files up to 20 MB. */
    public static final FileUploadConfig STANDARD = new FileUploadConfig(DetailLevel.HIGH, 20_000_000);

    /** Checks the components. */
    public FileUploadConfig {
        InvalidInputException.given("imageDetail", imageDetail);
        InvalidInputException.checkAtLeast("maxFileBytes", 0, maxFileBytes);
    }

    /**
     * Creates the standard settings with another detail level of images.
     *
     * @param imageDetail the detail level
     * @return the settings
     */
    public static FileUploadConfig withImageDetail(DetailLevel imageDetail) {
        return new FileUploadConfig(imageDetail, STANDARD.maxFileBytes());
    }
}
