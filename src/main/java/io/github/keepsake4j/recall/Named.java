package io.github.keepsake4j.recall;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Hears which speakers a question names. */
final class Named {

    /** The speaker of messages of a user without a name. */
    static final String USER = "user";

    /** The speaker of the model's messages. */
    static final String ASSISTANT = "assistant";

    private static final Set<String> FIRST_PERSON = Set.of(
            "i", "me", "my", "mine", "myself", "ich", "mich", "mir", "mein", "meine", "meinem", "meinen", "meiner", "我",
            "私", "僕", "俺");

    private static final Set<String> SECOND_PERSON = Set.of(
            "you", "your", "yours", "du", "dich", "dir", "dein", "deine", "deinem", "deinen", "deiner", "你", "您");

    private static final Pattern NOT_IN_NAMES = Pattern.compile("[^\\p{L}\\p{M}\\p{N}]+");

    private final Map<String, List<String>> speakersByWord = new HashMap<>();
    private final Set<String> heard = new HashSet<>();

    Named(Collection<String> speakers) {
        for (String speaker : speakers) {
            if (speaker.equals(USER)) {
                FIRST_PERSON.forEach(word -> add(word, speaker));
            } else if (speaker.equals(ASSISTANT)) {
                SECOND_PERSON.forEach(word -> add(word, speaker));
            } else {
                NOT_IN_NAMES.splitAsStream(speaker).forEach(word -> add(word.toLowerCase(Locale.ROOT), speaker));
            }
        }
    }

    private void add(String word, String speaker) {
        if (!word.isEmpty()) {
            speakersByWord.computeIfAbsent(word, w -> new ArrayList<>()).add(speaker);
        }
    }

    /** Records a word, and returns whether it names a speaker. */
    boolean heard(String word) {
        List<String> speakers = speakersByWord.getOrDefault(word.toLowerCase(Locale.ROOT), List.of());
        heard.addAll(speakers);
        return !speakers.isEmpty();
    }

    /** Returns the only speaker that was named, or null if none or several were named. */
    @Nullable
    String only() {
        return heard.size() == 1 ? heard.iterator().next() : null;
    }
}
