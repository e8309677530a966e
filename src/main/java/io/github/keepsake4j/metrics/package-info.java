/**
 * What can be measured: {@link io.github.keepsake4j.metrics.Metrics} hears of it, and
 * {@link io.github.keepsake4j.metrics.MicrometerMetrics} passes it on to Micrometer, where that is on the class path.
 */
@NullMarked
package io.github.keepsake4j.metrics;

import org.jspecify.annotations.NullMarked;
