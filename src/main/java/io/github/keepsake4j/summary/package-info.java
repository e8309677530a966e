/**
 * Summaries of what no longer fits a model's view: {@link io.github.keepsake4j.summary.Summarizer} writes one, and
 * {@link io.github.keepsake4j.summary.SummaryWorker} sees to it that each is made once, in the background, by one process
 * at a time, and kept beside the log. When one is due and what it covers is said by a
 * {@link io.github.keepsake4j.summary.SummaryPlan}.
 */
@NullMarked
package io.github.keepsake4j.summary;

import org.jspecify.annotations.NullMarked;
