package io.github.keepsake4j.workflow;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The author's configuration of how a node uses memory. A node without a configuration has no memory.
 *
 * @param mode which memory the node uses
 * @param rolePrefix the names of the roles in a history that is rendered as text, or null for Human and Assistant
 * @param window the maximum number of rows, or null for 500; a row is a question with its answer
 * @param queryPromptTemplate the template of the user's message, or null to use the query itself
 */
public record MemoryConfig(
        MemoryMode mode,
        @Nullable RolePrefix rolePrefix,
        @Nullable Window window,
        @Nullable String queryPromptTemplate) {

    /** Matches {@code {{#name#}}} or {@code {{name}}}. A name is a word, or words joined by dots. */
    private static final Pattern PLACEHOLDER =
            Pattern.compile("\\{\\{#([\\w.-]+)#\\}\\}|\\{\\{\\s*([\\w.-]+)\\s*\\}\\}");

    /**
     * The names of the roles.
     *
     * @param user the user's name; null or blank for Human
     * @param assistant the assistant's name; null or blank for Assistant
     */
    public record RolePrefix(@Nullable String user, @Nullable String assistant) {

        /** The names Human and Assistant. */
        public static final RolePrefix STANDARD = new RolePrefix(null, null);

        String userName() {
            return user == null || user.isBlank() ? "Human" : user;
        }

        String assistantName() {
            return assistant == null || assistant.isBlank() ? "Assistant" : assistant;
        }
    }

    /**
     * The maximum number of rows, counted as in Dify: a question, its answer, and the tool calls and results between
     * them are one row.
     *
     * @param enabled whether the maximum applies
     * @param size the number of rows; null, 0 or less, and more than 500 mean 500
     */
    public record Window(boolean enabled, @Nullable Integer size) {}

    /** Checks that the mode is not null. */
    public MemoryConfig {
        InvalidInputException.given("mode", mode);
    }

    /**
     * Creates a configuration that has only a mode.
     *
     * @param mode the mode
     * @return the configuration
     */
    public static MemoryConfig of(MemoryMode mode) {
        return new MemoryConfig(mode, null, null, null);
    }

    /**
     * Reads the configuration from plain JSON values, as returned by any JSON library: {@code mode},
     * {@code role_prefix {user, assistant}}, {@code window {enabled, size}}, {@code query_prompt_template}. All values
     * may be missing or null. Other names are ignored.
     *
     * @param json the values by name, or null
     * @return the configuration, or null if the values are null, which means no memory
     * @throws InvalidInputException if a value has the wrong type; the exception names the value
     */
    public static @Nullable MemoryConfig fromJson(@Nullable Map<String, ?> json) {
        if (json == null) {
            return null;
        }
        JsonFields fields = JsonFields.of("", json);
        JsonFields prefix = fields.object("role_prefix");
        JsonFields bound = fields.object("window");
        return new MemoryConfig(
                MemoryMode.of(fields.text("mode")),
                prefix == null ? null : new RolePrefix(prefix.text("user"), prefix.text("assistant")),
                bound == null ? null : new Window(Boolean.TRUE.equals(bound.flag("enabled")), size(bound)),
                fields.text("query_prompt_template"));
    }

    /**
     * Returns the configuration as plain JSON values, from which {@link #fromJson} reads an equal configuration. Values
     * that are null are left out.
     *
     * @return the values by name; any JSON library can write them
     */
    public Map<String, @Nullable Object> toJson() {
        return new JsonObject()
                .with("mode", mode.jsonName())
                .withPresent(
                        "role_prefix",
                        rolePrefix == null
                                ? null
                                : new JsonObject()
                                        .withPresent("user", rolePrefix.user())
                                        .withPresent("assistant", rolePrefix.assistant()))
                .withPresent(
                        "window",
                        window == null
                                ? null
                                : new JsonObject()
                                        .with("enabled", window.enabled())
                                        .withPresent("size", window.size()))
                .withPresent("query_prompt_template", queryPromptTemplate);
    }

    /**
     * Returns the maximum number of rows. A row is a question with its answer and the messages in between.
     *
     * @return the window's size; null if the window is missing, not enabled or without a size
     */
    public @Nullable Integer messageLimit() {
        return window != null && window.enabled() ? window.size() : null;
    }

    /**
     * Renders the user's message.
     *
     * @param query the user's query
     * @return the template with the query in place of {@code {{#sys.query#}}}, {@code {{sys.query}}} and
     *     {@code {{query}}}, or the query itself if the template is missing or blank
     */
    public String renderQuery(String query) {
        return renderQuery(query, Map.of());
    }

    /**
     * Renders the user's message. Values are inserted literally: text in a value that looks like a placeholder is not
     * replaced. A placeholder without a value is not replaced either.
     *
     * @param query the user's query
     * @param variables other values by their names in the template, such as {@code start.language}
     * @return the rendered template, or the query itself if the template is missing or blank
     */
    public String renderQuery(String query, Map<String, String> variables) {
        if (queryPromptTemplate == null || queryPromptTemplate.isBlank()) {
            return query;
        }
        return PLACEHOLDER.matcher(queryPromptTemplate).replaceAll(found -> {
            String name = found.group(1) == null ? found.group(2) : found.group(1);
            boolean isQuery = name.equals("sys.query") || name.equals("query");
            String value = variables.get(name);
            return Matcher.quoteReplacement(value != null ? value : isQuery ? query : found.group());
        });
    }

    /** Returns the names of the roles in a history that is rendered as text. */
    RolePrefix roles() {
        return rolePrefix == null ? RolePrefix.STANDARD : rolePrefix;
    }

    /** Returns the size of a window. A size that is too large for an int becomes the largest int. */
    private static @Nullable Integer size(JsonFields window) {
        Object size = window.values().get("size");
        if (size == null) {
            return null;
        }
        if (!(size instanceof Number number) || number.doubleValue() != Math.rint(number.doubleValue())) {
            throw window.wrong("size", "must be a whole number");
        }
        return (int) number.doubleValue();
    }
}
