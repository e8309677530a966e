package io.github.keepsake4j.memories;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A workflow and its name in errors and memories.
 *
 * @param name the name
 */
record NamedWorkflow(String name, LongTermMemoryWorkflow workflow) {

    /** Returns the answer, or null if it is blank. */
    @Nullable
    String run(List<String> inputs) {
        String answer = workflow.run(inputs);
        return answer == null || answer.isBlank() ? null : answer;
    }

    /** Returns the text that is stored with each memory. */
    String version() {
        String version = workflow.version();
        return version.isEmpty() ? name : version;
    }
}
