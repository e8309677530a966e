package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The input of a language model node's run.
 *
 * @param tenantId the tenant
 * @param appId the application
 * @param conversationId the conversation, or null if the engine runs without one
 * @param nodeId the node
 * @param turn the turn, which names the conversation's message that the node runs for
 * @param systemPrompt the system message before the history, or null
 * @param query the user's query
 * @param files the user's files
 * @param variables values for the placeholders of the query's template, in addition to the query
 * @param fileUploadConfig the settings for showing files
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

    /** Checks the components and copies the collections. */
    public NodeRun {
        Ids.check("tenant_id", tenantId);
        Ids.check("app_id", appId);
        Ids.check("node_id", nodeId);
        InvalidInputException.given("turn", turn);
        InvalidInputException.given("query", query);
        files = List.copyOf(files);
        variables = Map.copyOf(variables);
        InvalidInputException.given("fileUploadConfig", fileUploadConfig);
    }

    /**
     * Creates a run with a query and nothing else.
     *
     * @param tenantId the tenant
     * @param appId the application
     * @param conversationId the conversation, or null if the engine runs without one
     * @param nodeId the node
     * @param turn the turn, which names the conversation's message that the node runs for
     * @param query the user's query
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
     * Returns a copy with a system prompt.
     *
     * @param prompt the text before the history
     * @return a copy
     */
    public NodeRun withSystemPrompt(String prompt) {
        return with(SystemMessage.from(prompt), files);
    }

    /**
     * Returns a copy with the user's files.
     *
     * @param userFiles the files
     * @return a copy
     */
    public NodeRun withFiles(List<FileReference> userFiles) {
        return with(systemPrompt, userFiles);
    }

    private NodeRun with(@Nullable SystemMessage prompt, List<FileReference> given) {
        return new NodeRun(
                tenantId, appId, conversationId, nodeId, turn, prompt, query, given, variables, fileUploadConfig);
    }

    /** Leaves out the query, the prompt and the variables, so that the result may be logged. */
    @Override
    public String toString() {
        return "NodeRun[tenantId=" + tenantId + ", appId=" + appId + ", conversationId=" + conversationId + ", nodeId="
                + nodeId + ", turn=" + turn + "]";
    }
}
