package io.github.keepsake4j.recall.words;

import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The data of a language.
 *
 * @param stopWords the words with little meaning, in lower case
 * @param stemmers returns functions from a word in lower case to its stem, each for one thread
 */
record Language(Set<String> stopWords, Supplier<UnaryOperator<String>> stemmers) {}
