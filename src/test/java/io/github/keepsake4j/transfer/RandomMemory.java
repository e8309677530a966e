package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Dialogue.call;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.text.OwnText;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Fills every slot of a memory at random. */
final class RandomMemory {

    private final Random random;
    private final MessageLog log;
    private final MemoryKey key;
    private final List<String> ids = new ArrayList<>();
    private Instant time = Instant.parse("2026-01-07T23:59:00Z");
    private int summaries;

    RandomMemory(long seed, MessageLog log, MemoryKey key) {
        this.random = new Random(seed);
        this.log = log;
        this.key = key;
    }

    void fill(int steps) {
        for (int step = 0; step < steps; step++) {
            step();
        }
    }

    private void step() {
        int kind = ids.isEmpty() ? 0 : random.nextInt(20);
        switch (kind) {
            case 10 -> Logs.setOutcome(log, key, any(), outcome(), null);
            case 11 -> Logs.moveHead(log, key, any(), null);
            case 12 -> Logs.moveBranch(log, key, "tab " + random.nextInt(4), any(), null);
            case 13 -> log.append(key, Append.viewOnly(view()));
            case 14 -> summary();
            case 15 ->
                Logs.describe(
                        log, key, random.nextBoolean() ? null : text("title"), Map.of("a b", text("value"), "=", ""));
            case 16 -> log.append(key, Append.under(Parent.root(), batch()));
            case 17 -> log.append(key, Append.under(Parent.of(any()), batch()));
            case 18 -> log.append(key, Append.under(Parent.head(), batch()).onBranch("tab " + random.nextInt(4)));
            case 19 ->
                log.append(
                        key,
                        Append.under(Parent.of("gone " + ids.size()), batch()).asImport());
            default -> log.append(key, Append.under(Parent.head(), batch()));
        }
    }

    private String any() {
        return ids.get(random.nextInt(ids.size()));
    }

    private Outcome outcome() {
        return random.nextInt(3) == 0 ? null : Outcome.incomplete("cut " + random.nextInt(9));
    }

    private View view() {
        List<View.Run> runs = new ArrayList<>();
        String head =
                log.read(key, io.github.keepsake4j.log.ReadQuery.newest(0)).head();
        if (random.nextBoolean()) {
            runs.add(new View.Run(null, head));
        }
        View view = View.of(null, runs);
        return summaries > 0 && random.nextBoolean()
                ? view.behindSummary(Logs.summaries(log, key).get(0).coversUpTo())
                : view;
    }

    private void summary() {
        summaries++;
        Logs.putSummary(
                log,
                key,
                new Summary(
                        any(),
                        text("summary"),
                        random.nextInt(100),
                        "words",
                        3,
                        30,
                        random.nextBoolean() ? null : "m",
                        time),
                log.read(key, io.github.keepsake4j.log.ReadQuery.newest(0)).epoch());
    }

    private List<NewMessage> batch() {
        List<NewMessage> batch = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            String id = "m" + ids.size() + (random.nextInt(10) == 0 ? " \u00e9\ud83d\ude00/.." : "");
            time = time.plusNanos(random.nextInt(1_000_000) * 1_000L);
            ChatMessage message = message();
            NewMessage added = new NewMessage(
                    id, message, random.nextInt(50), random.nextBoolean() ? "words" : "o200k_base", time);
            if (random.nextBoolean()) {
                added = added.ofTurn(ids.isEmpty() || random.nextBoolean() ? id : ids.get(random.nextInt(ids.size())));
            }
            if (message instanceof UserMessage user && random.nextBoolean()) {
                UserMessage later = random.nextBoolean() ? null : OwnText.with(user, text("later"));
                added = added.withAsked(new Asked(
                        text("own"),
                        later,
                        later == null && random.nextBoolean() ? text("masked") : null,
                        random.nextBoolean(),
                        later == null ? -1 : 7));
            }
            if (random.nextInt(8) == 0) {
                added = added.withOutcome(Outcome.incomplete("limit"));
            }
            if (message instanceof AiMessage && random.nextBoolean()) {
                added = added.withMade(new Made(
                        null,
                        new Usage(random.nextInt(900), 7, 1),
                        random.nextBoolean() ? null : "model*\n" + random.nextInt(9),
                        random.nextBoolean() ? null : "STOP",
                        null));
                if (!ids.isEmpty()) {
                    added = added.withSeen(new Seen(
                            List.of(new Seen.Range(1, 1 + random.nextInt(ids.size()))),
                            random.nextBoolean() ? List.of() : List.of(1L),
                            random.nextInt(summaries + 1),
                            random.nextBoolean(),
                            random.nextBoolean() ? List.of() : List.of("memory, 1", "memory 2"),
                            random.nextBoolean()));
                }
                added = random.nextBoolean() ? added : added.withRequest("{\"q\": \"" + id + "\"}");
            }
            batch.add(added);
            ids.add(id);
        }
        return batch;
    }

    private ChatMessage message() {
        ToolExecutionRequest call = call("call" + ids.size(), "pay", "{\"n\": 1}");
        return switch (random.nextInt(8)) {
            case 0 -> SystemMessage.from(text("rules"));
            case 1 ->
                AiMessage.builder()
                        .text(text("a"))
                        .thinking("hm")
                        .toolExecutionRequests(List.of(call))
                        .attributes(attributes())
                        .build();
            case 2 -> ToolExecutionResultMessage.from(call, text("paid"));
            case 3 ->
                UserMessage.from(
                        TextContent.from(text("look")),
                        ImageContent.from(Image.builder()
                                .base64Data("aGVsbG8=")
                                .mimeType("image/png")
                                .build()));
            case 4 -> CustomMessage.from(Map.of("k", text("v")));
            case 5, 6 -> AiMessage.from(text("a"));
            default -> UserMessage.from(text("q"));
        };
    }

    /** Returns attributes whose names have equal hashes, in any order. */
    private Map<String, Object> attributes() {
        List<String> names = new ArrayList<>(List.of("AaAa", "BBBB", "AaBB", "BBAa", "n"));
        Collections.shuffle(names, random);
        Map<String, Object> attributes = new LinkedHashMap<>();
        names.forEach(name -> attributes.put(name, name.length()));
        attributes.put("set", new LinkedHashSet<>(names));
        attributes.put("map", new LinkedHashMap<>(attributes));
        return attributes;
    }

    private String text(String what) {
        return what + " " + random.nextInt(1_000) + (random.nextInt(5) == 0 ? "\n\u0001\u00fc\ud83d\ude00\"" : "");
    }
}
