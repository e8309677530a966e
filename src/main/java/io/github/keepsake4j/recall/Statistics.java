package io.github.keepsake4j.recall;

/** How often terms occur in the messages among which something is looked for. */
interface Statistics {

    /** Returns the number of messages. */
    long messages();

    /** Returns the average number of terms of a message, or 0 if there are no messages. */
    double averageLength();

    /** Returns the number of messages in which a term occurs, 0 or more. */
    long frequency(String term);
}
