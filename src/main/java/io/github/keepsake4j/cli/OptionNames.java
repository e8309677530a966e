package io.github.keepsake4j.cli;

import java.util.Map;

/** The options for fields that the library's errors name, if the options have other names. */
final class OptionNames {

    private static final Map<String, String> OPTIONS = Map.ofEntries(
            Map.entry("session_id", "--session"),
            Map.entry("conversationId", "--session"),
            Map.entry("appId", "--app"),
            Map.entry("nodeId", "--node"),
            Map.entry("tenant", "--tenant"),
            Map.entry("max_messages", "--max-messages"),
            Map.entry("max_tokens", "--max-tokens"),
            Map.entry("strategy", "--strategy"),
            Map.entry("idleFor", "--idle"),
            Map.entry("tombstonesFor", "--tombstones"),
            Map.entry("pageSize", "--max-hits"),
            Map.entry("maxPassages", "--max-passages"),
            Map.entry("maxTokens", "--max-tokens"),
            // The start of a read of a branch.
            Map.entry("messageId", "--branch"));

    private static final Map<String, String> MESSAGE_OPTIONS =
            Map.of("message.role", "--role", "message.content", "--content", "message.tool_call_id", "--tool-call-id");

    private static final String MAKE_TABLES = "--make-tables, an option of add, import, copy and index";

    private OptionNames() {}

    /** Returns the text of an error with the options and commands in place of what the library's errors name. */
    static String in(String problem) {
        return in(problem, OPTIONS)
                .replace("schema(SchemaMode.ALWAYS)", MAKE_TABLES)
                .replace(
                        "all check() to list the damage and repair() to repair it",
                        "all the command check to list the damage and repair to repair it")
                .replace(
                        "call clear() on the index to start a new file; it is rebuilt from the log",
                        "keepsake index --rebuild starts a new file, and makes the index again from the log")
                .replace(
                        "Call clear() to rebuild it, or use another index",
                        "The command line has the standard words: use another index for it");
    }

    /** Returns the text of an error about an input whose message was given by options and not as JSON. */
    static String inMessage(String problem) {
        return in(problem, MESSAGE_OPTIONS);
    }

    private static String in(String problem, Map<String, String> options) {
        int colon = problem.indexOf(": ");
        String option = colon < 0 ? null : options.get(problem.substring(0, colon));
        return option == null ? problem : option + problem.substring(colon);
    }
}
