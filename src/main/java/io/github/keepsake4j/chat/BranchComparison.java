package io.github.keepsake4j.chat;

import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * The common part and the differences of two branches. All lists are in order, oldest first, as the messages were
 * logged, regardless of views and limits. Immutable.
 *
 * @param common the messages that both branches have, from the root; empty if they have different roots
 * @param first the messages that only the first branch has; empty if the second one continues it
 * @param second the messages that only the second branch has; empty if the first one continues it
 */
public record BranchComparison(List<LoggedMessage> common, List<LoggedMessage> first, List<LoggedMessage> second) {

    /** How many messages the first reads return. */
    private static final int FIRST_READ = 64;

    private static final int WIDER = 4;

    /** Copies the lists. */
    public BranchComparison {
        common = List.copyOf(common);
        first = List.copyOf(first);
        second = List.copyOf(second);
    }

    /**
     * Compares two branches. The reads become wider until they meet, so that the part in common is read once.
     *
     * @param read reads the newest messages up to the given one
     */
    static BranchComparison of(String first, String second, BiFunction<String, Integer, Tail> read) {
        for (int most = FIRST_READ; ; most = most > Integer.MAX_VALUE / WIDER ? Integer.MAX_VALUE : most * WIDER) {
            Tail one = read.apply(first, most);
            Tail other = read.apply(second, most);
            Map<String, Integer> places = new HashMap<>();
            one.messages().forEach(message -> places.put(message.id(), places.size()));
            List<LoggedMessage> others = other.messages();
            int at = others.size() - 1;
            while (at >= 0 && !places.containsKey(others.get(at).id())) {
                at--;
            }
            boolean all = one.complete() && other.complete();
            if (at >= 0 || all || most == Integer.MAX_VALUE) {
                String meeting = at < 0 ? "" : others.get(at).id();
                int begin = places.getOrDefault(meeting, -1) + 1;
                List<LoggedMessage> common = at < 0 || one.complete()
                        ? one.messages().subList(0, begin)
                        : other.complete()
                                ? others.subList(0, at + 1)
                                : read.apply(meeting, Integer.MAX_VALUE).messages();
                return new BranchComparison(
                        common,
                        one.messages().subList(begin, one.messages().size()),
                        others.subList(at + 1, others.size()));
            }
        }
    }
}
