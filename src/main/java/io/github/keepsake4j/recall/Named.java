package io.github.keepsake4j.recall;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Hears which speakers a question names. */
final class Named {

    /** The speaker of messages of a user without a name. */
    static final String USER = "user";

    /** The speaker of the model's messages. */
    static final String ASSISTANT = "assistant";

    /** The speakers without a name. */
    static final Set<String> ROLES = Set.of(USER, ASSISTANT);

    private static final Pattern NOT_IN_NAMES = Pattern.compile("[^\\p{L}\\p{M}\\p{N}]+");

    /** The longest part of a name that is looked for, in UTF-16 units: each word of a question is compared with it. */
    private static final int MAX_NAME = 100;

    private final Map<String, Pattern> speakers = new HashMap<>();
    private final Set<String> heard = new HashSet<>();

    Named(Collection<String> speakers) {
        for (String speaker : speakers) {
            this.speakers.put(
                    speaker,
                    speaker.equals(USER)
                            ? Pronouns.FIRST
                            : speaker.equals(ASSISTANT) ? Pronouns.SECOND : Pattern.compile("(?iU)" + names(speaker)));
        }
    }

    /** Returns a pattern of the words of a name. */
    private static String names(String speaker) {
        String words = NOT_IN_NAMES
                .splitAsStream(speaker.substring(0, Math.min(MAX_NAME, speaker.length())))
                .filter(word -> !word.isEmpty())
                .collect(Collectors.joining("|"));
        return words.isEmpty() ? "(?!)" : "\\b(" + words + ")\\b";
    }

    /** Records a word, and returns whether it names a speaker. */
    boolean heard(String word) {
        List<String> named = speakers.entrySet().stream()
                .filter(speaker -> speaker.getValue().matcher(word).matches())
                .map(Map.Entry::getKey)
                .toList();
        heard.addAll(named);
        return !named.isEmpty();
    }

    /** Returns the only speaker that was named, or null if none or several were named. */
    @Nullable
    String only() {
        return heard.size() == 1 ? heard.iterator().next() : null;
    }

    /**
     * Returns a question as its speaker would ask it: without names, which hardly any message has that answers it.
     *
     * @param question the question
     * @param speakers the names of the speakers, and the roles
     */
    static String unnamed(String question, Collection<String> speakers) {
        String unnamed = question;
        for (String speaker : speakers) {
            if (!ROLES.contains(speaker)) {
                unnamed = unnamed.replaceAll("(?U)" + names(speaker) + "['’]s\\b", "my")
                        .replaceAll("(?U)" + names(speaker), "I");
            }
        }
        return unnamed;
    }
}
