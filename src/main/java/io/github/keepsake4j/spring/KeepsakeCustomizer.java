package io.github.keepsake4j.spring;

import io.github.keepsake4j.Keepsake;

/**
 * Sets options that have no property. Beans of this type are called in their order, after the properties were applied,
 * before the {@link Keepsake} is built.
 *
 * <pre>
 * &#64;Bean
 * KeepsakeCustomizer turns() {
 *     return builder -&gt; builder.turnLimit(Duration.ofMinutes(5));
 * }
 * </pre>
 */
@FunctionalInterface
public interface KeepsakeCustomizer {

    /**
     * Changes the settings.
     *
     * @param builder the builder, with the log and the settings of the properties
     */
    void customize(Keepsake.Builder builder);
}
