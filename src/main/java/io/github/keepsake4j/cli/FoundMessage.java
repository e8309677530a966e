package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/** Writes messages that were found. Pure functions. */
final class FoundMessage {

    private FoundMessage() {}

    /** Returns a message's place and time in front of its fields. */
    static JsonObject fields(LoggedMessage message) {
        return new JsonObject()
                .with("id", message.id())
                .with("sequence", message.sequence())
                .with("created_at", message.createdAt().toString())
                .with("message", content(message).values());
    }

    static JsonFields content(LoggedMessage message) {
        return TerminalText.fields(List.of(message.message())).get(0);
    }

    /** Returns the line above a message. */
    static String heading(MemoryKey key, LoggedMessage message) {
        return Printable.memory(key) + "  " + message.sequence() + "  " + Printable.time(message.createdAt()) + "  "
                + Printable.line(message.id());
    }
}
