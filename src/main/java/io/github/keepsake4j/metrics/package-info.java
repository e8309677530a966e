/**
 * Measurements. {@link io.github.keepsake4j.metrics.Metrics} receives the events, and
 * {@link io.github.keepsake4j.metrics.MicrometerMetrics} passes them on to Micrometer if that is on the class path.
 */
@NullMarked
package io.github.keepsake4j.metrics;

import org.jspecify.annotations.NullMarked;
