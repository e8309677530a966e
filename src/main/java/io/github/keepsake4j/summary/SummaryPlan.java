package io.github.keepsake4j.summary;

import java.util.Optional;

/** Says whether a summary is due and what it is made from. */
@FunctionalInterface
public interface SummaryPlan {

    /**
     * Reads the memory as it is now and decides. Called on a background thread while no other process makes summaries of
     * this memory; after a summary was kept it is called again, until nothing is due. So a task should be no larger than
     * what a summarizer does within its time limit: the rest comes with the next call.
     *
     * @return the next task, or empty if no summary is due
     */
    Optional<SummaryTask> next();
}
