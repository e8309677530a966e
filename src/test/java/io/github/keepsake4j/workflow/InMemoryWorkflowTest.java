package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;

class InMemoryWorkflowTest extends WorkflowContract {

    @Override
    MessageLog open() {
        return new InMemoryMessageLog();
    }
}
