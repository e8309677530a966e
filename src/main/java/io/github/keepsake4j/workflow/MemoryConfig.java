package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a node uses memory, as its author configured it. A node without such a configuration has no memory.
 *
 * @param mode which memory
 * @param rolePrefix names of the roles where the history becomes text, or null for Human and Assistant
 * @param window how many messages, or null for the most there are
 * @param queryPromptTemplate what the user's message is made of, or null for the query itself
 */
public record MemoryConfig(
        MemoryMode mode,
        @Nullable RolePrefix rolePrefix,
        @Nullable Window window,
        @Nullable String queryPromptTemplate) {

    /** {@code {{#name#}}} or {@code {{name}}}; a name is a word or words joined by dots. */
    private static final Pattern PLACEHOLDER =
            Pattern.compile("\\{\\{#([\\w.-]+)#\\}\\}|\\{\\{\\s*([\\w.-]+)\\s*\\}\\}");

    /**
     * Names of the roles.
     *
     * @param user the user's; null or blank for Human
     * @param assistant the assistant's; null or blank for Assistant
     */
    public record RolePrefix(@Nullable String user, @Nullable String assistant) {

        /** Human and Assistant. */
        public static final RolePrefix STANDARD = new RolePrefix(null, null);

        String userName() {
            return user == null || user.isBlank() ? "Human" : user;
        }

        String assistantName() {
            return assistant == null || assistant.isBlank() ? "Assistant" : assistant;
        }
    }

    /**
     * A bound of messages.
     *
     * @param enabled whether it counts
     * @param size how many messages; null, 0 and less for the most there are
     */
    public record Window(boolean enabled, @Nullable Integer size) {}

    /** Checks the mode. */
    public MemoryConfig {
        Objects.requireNonNull(mode, "mode");
    }

    /**
     * A configuration with a mode and nothing else.
     *
     * @param mode the mode
     * @return the configuration
     */
    public static MemoryConfig of(MemoryMode mode) {
        return new MemoryConfig(mode, null, null, null);
    }

    /**
     * Reads the configuration from plain JSON values, as any JSON library gives them: {@code mode},
     * {@code role_prefix {user, assistant}}, {@code window {enabled, size}}, {@code query_prompt_template}. All may be
     * missing or null; other names are ignored.
     *
     * @param json the values by name, or null
     * @return the configuration, or null if there is none, which means no memory
     * @throws InvalidInputException if a value is of another type; the error names it
     */
    public static @Nullable MemoryConfig fromJson(@Nullable Map<String, ?> json) {
        if (json == null) {
            return null;
        }
        Map<?, ?> prefix = value(json, "role_prefix", "role_prefix", Map.class);
        Map<?, ?> bound = value(json, "window", "window", Map.class);
        return new MemoryConfig(
                MemoryMode.of(value(json, "mode", "mode", String.class)),
                prefix == null
                        ? null
                        : new RolePrefix(
                                value(prefix, "user", "role_prefix.user", String.class),
                                value(prefix, "assistant", "role_prefix.assistant", String.class)),
                bound == null ? null : window(bound),
                value(json, "query_prompt_template", "query_prompt_template", String.class));
    }

    /**
     * Returns the bound of messages.
     *
     * @return the window's size, or null if there is none or it is not enabled
     */
    public @Nullable Integer messageLimit() {
        return window != null && window.enabled() ? window.size() : null;
    }

    /**
     * Returns the names of the roles.
     *
     * @return the names
     */
    public RolePrefix rolePrefixOrStandard() {
        return rolePrefix == null ? RolePrefix.STANDARD : rolePrefix;
    }

    /**
     * Renders the user's message.
     *
     * @param query what the user asked
     * @return the template with the query in place of {@code {{#sys.query#}}}, {@code {{sys.query}}} and {@code {{query}}}
     */
    public String renderQuery(String query) {
        return renderQuery(query, Map.of());
    }

    /**
     * Renders the user's message. Values are put in literally: what looks like a placeholder in them stays as it is. So
     * does a placeholder without a value.
     *
     * @param query what the user asked
     * @param variables other values by their names in the template, such as {@code start.language}
     * @return the template, filled; the query itself if there is no template or it is blank
     */
    public String renderQuery(String query, Map<String, String> variables) {
        if (queryPromptTemplate == null || queryPromptTemplate.isBlank()) {
            return query;
        }
        return PLACEHOLDER
                .matcher(queryPromptTemplate)
                .replaceAll(found -> Matcher.quoteReplacement(fill(found.group(), name(found), query, variables)));
    }

    private static String name(java.util.regex.MatchResult found) {
        String inner = found.group(1);
        return inner != null ? inner : Objects.requireNonNull(found.group(2));
    }

    private static String fill(String placeholder, String name, String query, Map<String, String> variables) {
        String value = variables.get(name);
        if (value != null) {
            return value;
        }
        return name.equals("sys.query") || name.equals("query") ? query : placeholder;
    }

    private static Window window(Map<?, ?> json) {
        Boolean enabled = value(json, "enabled", "window.enabled", Boolean.class);
        Number size = value(json, "size", "window.size", Number.class);
        if (size != null && size.doubleValue() != Math.rint(size.doubleValue())) {
            throw new InvalidInputException("window.size", "must be a whole number");
        }
        return new Window(enabled != null && enabled, size == null ? null : (int) size.doubleValue());
    }

    private static <T> @Nullable T value(Map<?, ?> json, String name, String path, Class<T> type) {
        Object value = json.get(name);
        if (value != null && !type.isInstance(value)) {
            throw new InvalidInputException(path, "is of the wrong type");
        }
        return type.cast(value);
    }
}
