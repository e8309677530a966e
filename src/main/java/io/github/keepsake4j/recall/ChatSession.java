package io.github.keepsake4j.recall;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Consecutive messages without a long pause between them.
 *
 * @param utterances the known messages of the session, in order of sequence
 */
record ChatSession(List<Utterance> utterances) {

    ChatSession {
        utterances = List.copyOf(utterances);
    }

    /**
     * Cuts messages into sessions.
     *
     * @param utterances messages in order of sequence
     * @param gap the pause that begins a new session
     * @return the sessions, in the same order
     */
    static List<ChatSession> cut(List<Utterance> utterances, Duration gap) {
        List<ChatSession> sessions = new ArrayList<>();
        int start = 0;
        for (int i = 1; i <= utterances.size(); i++) {
            if (i == utterances.size()
                    || isGap(utterances.get(i - 1).time(), utterances.get(i).time(), gap)) {
                sessions.add(new ChatSession(utterances.subList(start, i)));
                start = i;
            }
        }
        return sessions;
    }

    /** Returns whether a new session begins with the second of two messages. */
    static boolean isGap(Instant before, Instant after, Duration gap) {
        return Duration.between(before, after).compareTo(gap) > 0;
    }
}
