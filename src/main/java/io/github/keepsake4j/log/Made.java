package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * What is kept beside an answer about how it was made.
 *
 * @param seen what the answer was made from, or null if that is not known
 * @param usage the tokens that were used for it, or null if they are not known
 */
public record Made(@Nullable Seen seen, @Nullable Usage usage) {}
