package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "add", header = "Adds a message, and prints what a model sees then.")
final class AddCommand extends ActionCommand {

    private static final String STDIN = "-";

    @Option(names = "--role", paramLabel = "<role>", description = "user (default), assistant, system or tool.")
    private @Nullable String role;

    @Option(
            names = "--content",
            paramLabel = "<text>",
            description = "The message's text; - reads it from the standard input.")
    private @Nullable String content;

    @Option(
            names = "--tool-call-id",
            paramLabel = "<id>",
            description = "With the role tool: the call that it answers.")
    private @Nullable String toolCallId;

    @Option(
            names = "--message",
            paramLabel = "<json>",
            description = "The whole message in OpenAI's JSON, instead of the three options above; - reads it too.")
    private @Nullable String message;

    @Option(names = "--make-tables", description = "Makes the tables that a PostgreSQL database lacks.")
    private boolean makeTables;

    @Override
    MessageLog open() {
        return open(true, makeTables);
    }

    @Override
    String withOptionNames(String problem) {
        return super.withOptionNames(message == null ? OptionNames.inMessage(problem) : problem);
    }

    @Override
    void addInputs(JsonObject input) {
        if (message != null && (content != null || role != null || toolCallId != null)) {
            throw new InvalidInputException(
                    "--message", "already contains role and content; leave out the options for them");
        }
        if (message != null) {
            input.put("message", PlainJson.read("--message", message.equals(STDIN) ? standardInput() : message));
        } else if (content != null) {
            // The last line feed ends the file and does not belong to the text, as in a shell.
            String text = content.equals(STDIN) ? standardInput().replaceFirst("\r?\n\\z", "") : content;
            input.put(
                    "message",
                    new JsonObject()
                            .with("role", role == null ? "user" : role)
                            .with("content", text)
                            .with("tool_call_id", toolCallId));
        } else {
            throw new InvalidInputException("--content", "is required; write - to read it from the standard input");
        }
    }

    private String standardInput() {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(host().in().readAllBytes()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new InvalidInputException("standard input", "is not UTF-8; convert it to UTF-8");
        } catch (IOException e) {
            throw new KeepsakeException("standard input cannot be read", e);
        }
    }
}
