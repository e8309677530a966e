package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.component.MemoryComponent;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.component.MemoryOutput;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.summary.Summarizer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** An action of the memory component. Its inputs have the component's names, with hyphens. */
abstract class ActionCommand extends TenantCommand {

    /** The log's name in the component. */
    private static final String BACKEND = "log";

    /** No command calls a model. A summary that an application made is read. */
    private static final Summarizer ONLY_READ = (previous, messages) -> {
        throw new IllegalStateException("this action calls no model");
    };

    @Option(names = "--session", paramLabel = "<id>", required = true, description = "The conversation.")
    private String session = "";

    @Option(
            names = "--max-messages",
            paramLabel = "<n>",
            order = 30,
            description = "The most messages that are printed. Default: " + MemoryInput.DEFAULT_MAX_MESSAGES + ".")
    private @Nullable Integer maxMessages;

    @Option(
            names = "--max-tokens",
            paramLabel = "<n>",
            order = 31,
            description = "The most tokens of these messages. Default: " + MemoryInput.DEFAULT_MAX_TOKENS + ".")
    private @Nullable Integer maxTokens;

    /** Adds the inputs that only this action has. */
    void addInputs(JsonObject input) {}

    @Override
    final int run() {
        JsonObject input = new JsonObject()
                .with("action", name())
                .with("session_id", session)
                .with("max_messages", maxMessages)
                .with("max_tokens", maxTokens)
                .with("backend", BACKEND);
        addInputs(input);
        MemoryInput checked = MemoryInput.fromJson(PlainJson.write(input));
        try (MessageLog log = open();
                MemoryComponent component = MemoryComponent.builder()
                        .backend(BACKEND, () -> log)
                        .tenant(tenant())
                        .summarizer(ONLY_READ)
                        .build()) {
            print(component.run(checked));
        }
        return ExitCodes.OK;
    }

    private void print(MemoryOutput output) {
        if (json()) {
            out().line(output.toJson());
            return;
        }
        TerminalText.fields(output.messages()).forEach(message -> out().line(text().of(message)));
        if (output.summary() != null) {
            out().line(text().labelled("summary", output.summary()));
        }
        out().line(text().quiet(Printable.count(output.messageCount(), "message") + ", "
                + Printable.count(output.tokenCount(), "token")));
    }
}
