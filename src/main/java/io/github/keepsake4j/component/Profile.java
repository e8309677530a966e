package io.github.keepsake4j.component;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A session's profile. It is kept in the memory's metadata, beside that of the application. Pure functions. */
final class Profile {

    /** Tells the profile's names in the metadata from others. */
    private static final String PREFIX = "profile.";

    /** The id of the system message that tells the profile. It is in no log. */
    private static final String ID = "keepsake.profile";

    private Profile() {}

    /** Returns the changes of the metadata that change the profile. */
    static Map<String, @Nullable String> toMetadata(Map<String, @Nullable String> changes) {
        Map<String, @Nullable String> metadata = new HashMap<>();
        changes.forEach((name, text) -> metadata.put(PREFIX + name, text));
        return metadata;
    }

    /** Returns the profile, in the order of its names. */
    static Map<String, String> fromMetadata(Map<String, String> metadata) {
        Map<String, String> profile = new TreeMap<>();
        metadata.forEach((name, text) -> {
            if (name.startsWith(PREFIX)) {
                profile.put(name.substring(PREFIX.length()), text);
            }
        });
        return profile;
    }

    /** Returns a strategy that tells the profile behind the system message, in the same message, before any limit. */
    static ContextStrategy shown(Map<String, String> profile, TokenCounter counter) {
        String text = profile.entrySet().stream()
                .map(entry -> "- " + oneLine(entry.getKey()) + ": " + oneLine(entry.getValue()))
                .collect(Collectors.joining("\n", "What is known about the user:\n", ""));
        return new Shown(text, counter.forAppends());
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    private record Shown(String text, TokenCounter counter) implements ContextStrategy {

        @Override
        public Context mark(Context context) {
            LoggedMessage system = context.system();
            if (system == null) {
                return context.instructedBy(message(context, text));
            }
            return system.id().equals(ID)
                    ? context
                    : context.instructedBy(message(context, ((SystemMessage) system.message()).text() + "\n\n" + text));
        }

        @Override
        public Context select(Context context) {
            return mark(context);
        }

        private LoggedMessage message(Context context, String whole) {
            SystemMessage message = SystemMessage.from(whole);
            int tokens = (int) context.sizes().of(counter, message);
            return new LoggedMessage(ID, null, 0, message, tokens, counter.name(), Instant.EPOCH);
        }
    }
}
