package io.github.keepsake4j.soak;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the processes of a soak told, on several threads. */
final class Heard {

    private final Map<String, AskedTurn> asked = new LinkedHashMap<>();
    private final Map<String, String> conversations = new LinkedHashMap<>();
    private final Set<String> acknowledged = new LinkedHashSet<>();
    private final Map<String, String> lastOwn = new LinkedHashMap<>();
    private final List<String> refused = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();

    /** Takes a line of a {@link SoakProcess}, and returns whether it acknowledges a turn. */
    synchronized boolean line(String line) {
        if (!line.endsWith(".")) {
            return false;
        }
        String[] words = line.substring(0, line.length() - 1).split(" ", 3);
        switch (words[0]) {
            case "asked" -> {
                AskedTurn turn = AskedTurn.of(words[2]);
                asked.put(turn.id(), turn);
                conversations.put(turn.id(), words[1]);
            }
            case "acknowledged" -> {
                acknowledged.add(words[1]);
                if (conversations.get(words[1]).startsWith("own-")) {
                    lastOwn.put(conversations.get(words[1]), words[1]);
                }
                return true;
            }
            case "refused" -> refused.add(line);
            case "failed" -> failed.add(line);
            default -> {}
        }
        return false;
    }

    /** Returns the id of the last turn that was acknowledged in a thread's own conversation, or "-". */
    synchronized String lastOf(String thread) {
        return lastOwn.getOrDefault("own-" + thread, "-");
    }

    synchronized Set<String> conversations() {
        return new LinkedHashSet<>(conversations.values());
    }

    synchronized List<AskedTurn> askedIn(String conversation) {
        return asked.values().stream()
                .filter(turn -> conversations.get(turn.id()).equals(conversation))
                .toList();
    }

    synchronized boolean isAcknowledged(AskedTurn turn) {
        return acknowledged.contains(turn.id());
    }

    synchronized int acknowledged() {
        return acknowledged.size();
    }

    synchronized List<String> refused() {
        return List.copyOf(refused);
    }

    synchronized List<String> failed() {
        return List.copyOf(failed);
    }
}
