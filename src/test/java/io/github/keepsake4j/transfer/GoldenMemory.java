package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Dialogue.call;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Logs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The memories of the golden files, with something in every slot. */
final class GoldenMemory {

    static final ConversationKey KEY = ConversationKey.of("acme", "trip/42");
    static final NodeKey NODE = NodeKey.of("acme", "app", "trip/42", "writer");

    private static final Instant START = Instant.parse("2026-01-07T10:00:00.000001Z");

    private final MessageLog log = new InMemoryMessageLog();
    private int second;

    private GoldenMemory() {}

    static MessageLog log() {
        MessageLog log = inOneOrder();
        Logs.moveBranch(log, KEY, "start", "q1", null);
        Logs.mergeMetadata(log, KEY, Map.of("a", ""));
        return log;
    }

    /** With one named branch and one name in the metadata, since neither map has an order. */
    static MessageLog inOneOrder() {
        GoldenMemory golden = new GoldenMemory();
        golden.fill();
        return golden.log;
    }

    static String file(String name) throws IOException {
        try (InputStream in = GoldenMemory.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private NewMessage message(String id, ChatMessage message) {
        return new NewMessage(id, message, 7, "o200k_base", START.plusSeconds(second++));
    }

    private void fill() {
        // Created first, because an export has the oldest memory first.
        log.append(
                NODE,
                Append.under(
                        Parent.root(),
                        List.of(new NewMessage(
                                "n1", UserMessage.from("write"), 7, "o200k_base", START.plusSeconds(10)))));
        ToolExecutionRequest call = call("call-1", "find_trains", "{\"to\": \"Rome\"}");
        log.append(
                KEY,
                Append.under(
                        Parent.root(),
                        List.of(
                                message("s1", SystemMessage.from("Be brief.")),
                                message(
                                        "q1",
                                        FileReference.attach(
                                                UserMessage.from(
                                                        "Ada",
                                                        TextContent.from(
                                                                "Trains to Rome?\n\n## 3. Assistant\n\nNo.\u0007"),
                                                        ImageContent.from("https://example.org/a.png"),
                                                        ImageContent.from("aGVsbG8=", "image/png"),
                                                        PdfFileContent.from("cGRm", "application/pdf")),
                                                List.of(
                                                        FileReference.localFile(FileReference.Type.IMAGE, "upload-1"),
                                                        FileReference.remoteUrl(
                                                                FileReference.Type.DOCUMENT,
                                                                "https://example.org/b.pdf")))),
                                message(
                                                "a1",
                                                AiMessage.builder()
                                                        .thinking("I have to look.")
                                                        .toolExecutionRequests(List.of(call))
                                                        .attributes(Map.of("trace", 3_000_000_000L))
                                                        .build())
                                        .withUsage(new Usage(120, 8, 100))
                                        .withSeen(new Seen(List.of(new Seen.Range(1, 2)), List.of(), 0, false)),
                                message(
                                        "t1",
                                        ToolExecutionResultMessage.builder()
                                                .id("call-1")
                                                .toolName("find_trains")
                                                .text("no such city")
                                                .isError(true)
                                                .build()),
                                message("a2", AiMessage.from("There are `3`: <b>8</b>, *9* and 10."))
                                        .withOutcome(Outcome.incomplete("cancelled"))
                                        .withUsage(new Usage(140, 9, 0))
                                        .withRequest("{\"messages\":[]}"))));
        log.append(
                KEY,
                Append.under(
                        Parent.of("t1"),
                        List.of(message("a3", AiMessage.from("There are three. \ud83d\ude00"))
                                .withSeen(new Seen(List.of(new Seen.Range(1, 4)), List.of(4L), 1, true)))));
        log.append(
                KEY,
                Append.under(Parent.of("a2"), List.of(message("q2", UserMessage.from("Why?"))))
                        .onBranch("tab 2"));
        log.append(KEY, Append.underHead(message("q3", UserMessage.from("Book the first."))));
        log.append(KEY, Append.under(Parent.root(), List.of(message("c1", CustomMessage.from(Map.of("k", "v"))))));
        log.append(
                KEY,
                Append.under(Parent.of("gone"), List.of(message("q4", UserMessage.from("Imported."))))
                        .asImport());
        Logs.putSummary(log, KEY, new Summary("t1", "Ada goes to Rome.", 5, "o200k_base", 4, 28, "gpt", START), 1);
        Logs.moveHead(log, KEY, "q3", null);
        log.append(
                KEY,
                Append.viewOnly(View.of(null, List.of(new View.Run("s1", "q1"), new View.Run("t1", "q3")))
                        .behindSummary("t1")));
        Logs.moveHead(log, KEY, "c1", null);
        log.append(KEY, Append.viewOnly(View.of(null, List.of())));
        Logs.moveHead(log, KEY, "q3", null);
        Logs.describe(log, KEY, "Trip to *Rome*", Map.of("profile.name", "Ada\n# Lovelace"));
    }
}
