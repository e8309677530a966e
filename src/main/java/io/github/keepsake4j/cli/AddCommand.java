package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "add", header = "Adds a message, and prints what a model sees then.")
final class AddCommand extends ActionCommand {

    private static final String STDIN = "-";

    @Option(
            names = "--role",
            paramLabel = "<role>",
            order = 20,
            description = "user (default), assistant, system or tool.")
    private @Nullable String role;

    @Option(
            names = "--content",
            paramLabel = "<text>",
            order = 21,
            description = "The message's text; - reads it from the standard input.")
    private @Nullable String content;

    @Option(
            names = "--tool-call-id",
            paramLabel = "<id>",
            order = 22,
            description = "With the role tool: the call that it answers.")
    private @Nullable String toolCallId;

    @Option(
            names = "--message",
            paramLabel = "<json>",
            order = 23,
            description = "The whole message in OpenAI's JSON, instead of the three options above; - reads it too.")
    private @Nullable String message;

    @Option(names = "--make-tables", order = 3, description = "Makes the tables that a PostgreSQL database lacks.")
    private boolean makeTables;

    AddCommand(Host host) {
        super(host, "add", true);
    }

    @Override
    boolean makesTables() {
        return makeTables;
    }

    @Override
    String withOptionNames(String problem) {
        return super.withOptionNames(message == null ? OptionNames.inMessage(problem) : problem);
    }

    @Override
    void addInputs(Map<String, @Nullable Object> input) {
        if (message != null && (content != null || role != null || toolCallId != null)) {
            throw new InvalidInputException("--message", "holds role and content itself, so no option may give them");
        }
        if (message != null) {
            input.put("message", PlainJson.read("--message", message.equals(STDIN) ? standardInput() : message));
        } else if (content != null) {
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("role", role == null ? "user" : role);
            fields.put("content", content.equals(STDIN) ? withoutLineEnd(standardInput()) : content);
            fields.put("tool_call_id", toolCallId);
            input.put("message", fields);
        } else {
            throw new InvalidInputException("--content", "is required; - reads it from the standard input");
        }
    }

    private String standardInput() {
        return Input.text("standard input", host().in());
    }

    /** The end of the last line is that of the file, as in a shell. */
    private static String withoutLineEnd(String text) {
        String unix = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        return unix.endsWith("\r") && unix.length() < text.length() ? unix.substring(0, unix.length() - 1) : unix;
    }
}
