/**
 * What a model sees of a memory. A {@link io.github.keepsake4j.context.ContextStrategy} is a pure function from the
 * newest part of a branch, cut into turns ({@link io.github.keepsake4j.context.Context}), to what is shown of it;
 * strategies never see a store.
 */
@NullMarked
package io.github.keepsake4j.context;

import org.jspecify.annotations.NullMarked;
