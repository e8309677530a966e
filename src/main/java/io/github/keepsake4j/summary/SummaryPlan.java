package io.github.keepsake4j.summary;

import java.util.Optional;

/** Decides whether a summary is due and which messages it covers. */
@FunctionalInterface
public interface SummaryPlan {

    /**
     * Reads the current state of the memory and returns the next summary to make. This method is called on a background
     * thread while no other process makes summaries of this memory. It is called again after a summary was stored,
     * until nothing is due. Therefore a task should not be larger than a summarizer can process within its time limit;
     * the rest follows with the next call.
     *
     * @return the next task, or empty if no summary is due
     */
    Optional<SummaryTask> next();
}
