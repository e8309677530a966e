package io.github.keepsake4j.recall.words;

import java.util.Set;
import java.util.function.UnaryOperator;

/** What is known of a language. */
interface Language {

    /** Returns the words that say little, in lower case. */
    Set<String> stopWords();

    /** Returns a function from a word in lower case to its stem. The function is for one thread. */
    UnaryOperator<String> stemmer();
}
