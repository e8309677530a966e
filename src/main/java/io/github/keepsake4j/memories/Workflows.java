package io.github.keepsake4j.memories;

import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The workflows that configurations name: functions first, then files.
 *
 * @param functions the registered ones
 * @param directory where files are, or null
 * @param model runs files, or null
 */
record Workflows(Map<String, LongTermMemoryWorkflow> functions, @Nullable Path directory, @Nullable ChatModel model) {

    /** A name that is one file's in the directory. */
    private static final Pattern FILE_NAME = Pattern.compile("[^/\\\\:\\x00]{1,200}");

    /**
     * Finds a workflow.
     *
     * @param field the field of the configuration that names it
     */
    NamedWorkflow find(String field, String name) {
        LongTermMemoryWorkflow function = functions.get(name);
        if (function != null) {
            return new NamedWorkflow("workflow:" + name, function);
        }
        if (directory != null && FILE_NAME.matcher(name).matches() && !name.startsWith(".")) {
            Path file = directory.resolve(name + ".json");
            if (Files.isRegularFile(file)) {
                if (model == null) {
                    throw new InvalidInputException(
                            "chatModel", "is required to run workflow " + name + "; set a model");
                }
                return new NamedWorkflow("workflow:" + name, PromptWorkflow.read(name, read(file), model));
            }
        }
        throw new InvalidInputException(
                field,
                "names the workflow " + name + ", which is neither registered nor a file"
                        + (directory == null ? "" : " in the directory of workflows") + "; registered are "
                        + new TreeSet<>(functions.keySet()));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new KeepsakeException("workflow file " + file.getFileName() + " cannot be read", e);
        }
    }
}
