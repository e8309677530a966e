package io.github.keepsake4j.memories;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of the given messages that was processed. It ends before the first message that was edited, deleted or is on
 * another branch.
 *
 * @param head the number of the last step that fits, or 0
 * @param covered the number of messages that are covered
 */
record Alignment(long head, int covered) {

    /**
     * Finds the step that covers most of the messages. If there are several, takes the head, or else the newest.
     *
     * @param messages the messages, oldest first
     * @param chain their chained hashes
     */
    static Alignment of(Progress progress, List<SourceMessage> messages, List<String> chain) {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < chain.size(); i++) {
            places.put(chain.get(i), i + 1);
        }
        Map<Long, Integer> covered = new HashMap<>(Map.of(0L, 0));
        Alignment best = new Alignment(0, 0);
        for (Progress.Step step : progress.steps()) {
            if (step.failures() > 0 && !step.isPassedBy()) {
                continue;
            }
            Integer from = covered.get(step.parent());
            int to = from == null ? 0 : end(step.passage(), from, messages, chain, places);
            if (from == null || to <= from) {
                continue;
            }
            covered.put(step.number(), to);
            boolean isMore = to > best.covered();
            boolean isAsMuch = to == best.covered() && best.head() != progress.head();
            if (isMore || isAsMuch) {
                best = new Alignment(step.number(), to);
            }
        }
        return best;
    }

    /** Returns whether a message is known by its id as the first one of the conversation, even if it was edited. */
    static boolean isBeginning(Progress progress, SourceMessage first) {
        List<Progress.Step> path = progress.path();
        List<String> begin = path.isEmpty() ? List.of() : path.get(0).passage().messageIds();
        return first.id() != null && begin.indexOf(first.id()) == 0;
    }

    /**
     * Returns how many messages are covered up to the end of a passage, or 0 if the passage does not belong to these
     * messages.
     */
    private static int end(
            Passage passage, int from, List<SourceMessage> messages, List<String> chain, Map<String, Integer> places) {
        if (!passage.upTo().isEmpty()) {
            String before = from == 0 ? "" : chain.get(from - 1);
            return passage.after().equals(before) || passage.after().isEmpty()
                    ? places.getOrDefault(passage.upTo(), 0)
                    : 0;
        }
        // Another program wrote it. It identifies only the text of the last message.
        for (int i = from; i < messages.size(); i++) {
            if (MessageHashes.of(messages.get(i).message()).equals(passage.messageHash())) {
                return i + 1;
            }
        }
        return 0;
    }
}
