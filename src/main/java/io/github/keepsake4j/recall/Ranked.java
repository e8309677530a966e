package io.github.keepsake4j.recall;

/**
 * A message with its rank.
 *
 * @param utterance the message
 * @param score the score; only scores of one question can be compared
 * @param features why it has this score
 */
record Ranked(Utterance utterance, double score, Recalled.Features features) {}
