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
 * Detects an older LangChain4j when a {@link Keepsake} is built. Maven uses the nearest version, so a starter that is
 * declared before this library brings its own. Without this check, the first call of a tool would fail.
 */
final class LangChain4j {

    /** The version with which this library is compiled. */
    private static final String NEEDED = "1.19.0";

    private LangChain4j() {}

    /**
     * Checks that the types on the class path have the methods that this library calls, regardless of version numbers.
     *
     * @throws KeepsakeException if they do not. It names the versions and what to do
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

    /** Links references to methods. A missing method causes an error without a call and without reflection. */
    private static List<Object> linkCore() {
        Function<ToolExecutionResultMessage, Object> contents = ToolExecutionResultMessage::contents;
        Function<ToolExecutionResultMessage, Object> builder = ToolExecutionResultMessage::toBuilder;
        return List.of(contents, builder, ChatRequestOptions.class);
    }

    private static List<Object> linkServices() {
        Function<ToolExecution, Object> contents = ToolExecution::resultContents;
        Function<ToolExecution, Object> invocation = ToolExecution::invocationContext;
        Function<ToolExecution, Object> attributes = ToolExecution::attributes;
        return List.of(contents, invocation, attributes);
    }

    private static KeepsakeException older(String artifact, Class<?> type, LinkageError cause) {
        String found = version(artifact, type);
        // Without the cause, because Spring Boot would report only the cause.
        return new KeepsakeException(
                "Keepsake4j needs " + artifact + " " + NEEDED.substring(0, NEEDED.lastIndexOf('.')) + ", found "
                        + (found == null ? "another version" : found) + "; import langchain4j-bom " + NEEDED
                        + " in dependencyManagement (in Gradle as a platform), so that all of LangChain4j has one version."
                        + " The version on the class path lacks " + cause.getMessage());
    }

    /** Returns the version that Maven wrote into the jar, or null if the jar was repackaged. */
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
