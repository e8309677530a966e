package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file of a stored message.
 *
 * @param reference the reference, or null if it is malformed
 */
record AttachedFile(@Nullable FileReference reference) {

    static List<AttachedFile> of(ChatMessage message) {
        return FileReference.entries(message).stream().map(AttachedFile::of).toList();
    }

    private static AttachedFile of(Map<?, ?> entry) {
        try {
            return new AttachedFile(FileReference.fromMap(entry));
        } catch (InvalidInputException e) {
            return new AttachedFile(null);
        }
    }

    boolean isAssistants() {
        return reference != null && reference.belongsTo() == FileReference.Owner.ASSISTANT;
    }

    /** Returns the text that represents the file where only text is possible. */
    String marker() {
        return FileRebuilder.marker(reference);
    }
}
