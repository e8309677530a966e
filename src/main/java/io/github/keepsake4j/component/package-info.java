/**
 * A memory component for low-code hosts: four actions on the memory of a session, with records or with JSON. Start with
 * {@link io.github.keepsake4j.component.MemoryComponent}.
 */
@NullMarked
package io.github.keepsake4j.component;

import org.jspecify.annotations.NullMarked;
