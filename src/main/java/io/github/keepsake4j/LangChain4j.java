package io.github.keepsake4j;

import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatRequestOptions;
import dev.langchain4j.service.tool.ToolExecution;
import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Properties;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells an older LangChain4j when a {@link Keepsake} is built. Maven takes the version that is nearest, so a starter that is named
 * before this library brings its own. The first call of a tool would be the first to fail.
 */
final class LangChain4j {

    /** The version that this library is compiled with. */
    private static final String NEEDED = "1.19.0";

    private LangChain4j() {}

    /**
     * Checks that the types on the class path have what this library calls, whatever they are numbered.
     *
     * @throws KeepsakeException if they have not. It names the versions and what to do
     */
    static void check() {
        try {
            linkCore();
        } catch (LinkageError e) {
            throw older("langchain4j-core", ToolExecutionResultMessage.class, e);
        }
        try {
            linkServices();
        } catch (LinkageError e) {
            throw older("langchain4j", ToolExecution.class, e);
        }
    }

    /** A method that is absent is an error when its reference is linked, without a call of it and without reflection. */
    private static List<Object> linkCore() {
        Function<ToolExecutionResultMessage, Object> contents = ToolExecutionResultMessage::contents;
        Function<ToolExecutionResultMessage, Object> builder = ToolExecutionResultMessage::toBuilder;
        return List.of(contents, builder, ChatRequestOptions.class);
    }

    private static List<Object> linkServices() {
        Function<ToolExecution, Object> contents = ToolExecution::resultContents;
        Function<ToolExecution, Object> invocation = ToolExecution::invocationContext;
        return List.of(contents, invocation);
    }

    private static KeepsakeException older(String artifact, Class<?> type, LinkageError cause) {
        String found = version(artifact, type);
        // Without the cause: Spring Boot would tell of that alone.
        return new KeepsakeException(
                "Keepsake4j needs " + artifact + " " + NEEDED.substring(0, NEEDED.lastIndexOf('.')) + ", found "
                        + (found == null ? "another version" : found) + "; import langchain4j-bom " + NEEDED
                        + " in dependencyManagement (in Gradle as a platform), so that all of LangChain4j has one version."
                        + " What is found lacks " + cause.getMessage(),
                null);
    }

    /** Returns the version that Maven wrote into the jar, or null where the jar was packed anew. */
    private static @Nullable String version(String artifact, Class<?> type) {
        try (InputStream written =
                type.getResourceAsStream("/META-INF/maven/dev.langchain4j/" + artifact + "/pom.properties")) {
            Properties properties = new Properties();
            if (written != null) {
                properties.load(written);
            }
            return properties.getProperty("version");
        } catch (IOException e) {
            return null;
        }
    }
}
