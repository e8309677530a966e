package io.github.keepsake4j.recall.words;

import java.util.List;

/**
 * Some of the terms of a text.
 *
 * @param tokens the terms that were wanted, in the order in which they begin in the text
 * @param total the number of all terms of the text
 */
public record SomeTokens(List<Token> tokens, int total) {}
