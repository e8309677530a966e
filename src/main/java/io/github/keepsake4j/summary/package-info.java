/**
 * Summaries of messages that no longer fit a model's view. Start with {@link io.github.keepsake4j.summary.Summarizer},
 * which writes a summary. The {@link io.github.keepsake4j.summary.SummaryWorker} ensures that each summary is made
 * once, in the background, by one process at a time, and is stored with the log.
 */
@NullMarked
package io.github.keepsake4j.summary;

import org.jspecify.annotations.NullMarked;
