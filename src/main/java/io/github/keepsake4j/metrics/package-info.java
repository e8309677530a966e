/**
 * Measurements. Start with {@link io.github.keepsake4j.metrics.MicrometerMetrics}.
 * {@link io.github.keepsake4j.metrics.Metrics} receives the events.
 */
@NullMarked
package io.github.keepsake4j.metrics;

import org.jspecify.annotations.NullMarked;
