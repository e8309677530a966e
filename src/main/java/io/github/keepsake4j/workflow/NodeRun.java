package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a language model node is run with.
 *
 * @param tenantId the tenant
 * @param appId the application
 * @param conversationId the conversation, or null where the engine runs without one
 * @param nodeId the node
 * @param turn the conversation's message that it runs for
 * @param systemPrompt what goes before the history, or null
 * @param query what the user asked
 * @param files the user's files
 * @param variables values for placeholders of the query's template beside the query
 * @param fileUploadConfig how files are shown
 */
public record NodeRun(
        String tenantId,
        String appId,
        @Nullable String conversationId,
        String nodeId,
        NodeTurn turn,
        @Nullable SystemMessage systemPrompt,
        String query,
        List<FileReference> files,
        Map<String, String> variables,
        FileUploadConfig fileUploadConfig) {

    /** Checks and copies the parts. */
    public NodeRun {
        Ids.check("tenant_id", tenantId);
        Ids.check("app_id", appId);
        Ids.check("node_id", nodeId);
        Objects.requireNonNull(turn, "turn");
        Objects.requireNonNull(query, "query");
        files = List.copyOf(files);
        variables = Map.copyOf(variables);
        Objects.requireNonNull(fileUploadConfig, "fileUploadConfig");
    }

    /**
     * A run with a query and nothing else.
     *
     * @param tenantId the tenant
     * @param appId the application
     * @param conversationId the conversation, or null where the engine runs without one
     * @param nodeId the node
     * @param turn the conversation's message that it runs for
     * @param query what the user asked
     * @return the run
     */
    public static NodeRun of(
            String tenantId,
            String appId,
            @Nullable String conversationId,
            String nodeId,
            NodeTurn turn,
            String query) {
        return new NodeRun(
                tenantId,
                appId,
                conversationId,
                nodeId,
                turn,
                null,
                query,
                List.of(),
                Map.of(),
                FileUploadConfig.STANDARD);
    }

    /**
     * With a system prompt.
     *
     * @param prompt what goes before the history
     * @return a copy
     */
    public NodeRun withSystemPrompt(String prompt) {
        return new NodeRun(
                tenantId,
                appId,
                conversationId,
                nodeId,
                turn,
                SystemMessage.from(prompt),
                query,
                files,
                variables,
                fileUploadConfig);
    }

    /**
     * With files of the user's.
     *
     * @param userFiles the files
     * @return a copy
     */
    public NodeRun withFiles(List<FileReference> userFiles) {
        return new NodeRun(
                tenantId,
                appId,
                conversationId,
                nodeId,
                turn,
                systemPrompt,
                query,
                userFiles,
                variables,
                fileUploadConfig);
    }
}
