package io.github.keepsake4j.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Messages;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a log keeps, LangChain4j's JSON can hold. */
class LangChain4jExportTest {

    private static final BigInteger LONG = BigInteger.TEN.pow(5_000);

    @Test
    void every_type_of_attribute_that_is_kept_is_exported_as_json_can_say_it() {
        Map<String, Object> kept = new LinkedHashMap<>();
        Map<String, Object> exported = new LinkedHashMap<>();
        Instant time = Instant.parse("2026-01-02T03:04:05.123456789Z");
        UUID id = UUID.fromString("0191f6a0-0000-7000-8000-000000000001");
        List<Object[]> values = List.of(
                new Object[] {"text", "text"},
                new Object[] {true, true},
                new Object[] {5, 5},
                new Object[] {1.5, 1.5},
                new Object[] {Long.MAX_VALUE, Long.MAX_VALUE},
                new Object[] {(short) 5, 5},
                new Object[] {(byte) 5, 5},
                new Object[] {1.5f, 1.5},
                new Object[] {Double.NaN, "NaN"},
                new Object[] {Float.NEGATIVE_INFINITY, "-Infinity"},
                new Object[] {BigInteger.TEN.pow(50), BigInteger.TEN.pow(50)},
                new Object[] {LONG, LONG.toString()},
                new Object[] {new BigDecimal("0.5"), 0.5},
                new Object[] {new BigDecimal("1E+400"), "1E+400"},
                new Object[] {new BigDecimal("0.1000000000000000000000001"), "0.1000000000000000000000001"},
                new Object[] {'c', "c"},
                new Object[] {time, time.toString()},
                new Object[] {id, id.toString()},
                new Object[] {URI.create("https://example.org/"), "https://example.org/"},
                new Object[] {Set.of(time), List.of(time.toString())},
                new Object[] {Arrays.asList(1, null, time), Arrays.asList(1, null, time.toString())},
                new Object[] {
                    Map.of("in", Map.of("a map", List.of(time))),
                    Map.of("in", Map.of("a map", List.of(time.toString())))
                },
                new Object[] {
                    Image.builder().url("https://example.org/a").build(), Map.of("url", "https://example.org/a")
                });
        for (Object[] value : values) {
            kept.put("a" + kept.size(), value[0]);
            exported.put("a" + exported.size(), value[1]);
        }
        List<ChatMessage> messages = List.of(
                UserMessage.builder()
                        .name("Ann")
                        .addContent(TextContent.from("hello"))
                        .attributes(kept)
                        .build(),
                AiMessage.builder()
                        .text("hello")
                        .thinking("hm")
                        .attributes(kept)
                        .build(),
                ToolExecutionResultMessage.builder()
                        .id("1")
                        .toolName("tool")
                        .text("result")
                        .isError(true)
                        .attributes(kept)
                        .build(),
                CustomMessage.from(kept));

        List<ChatMessage> read =
                ChatMessageDeserializer.messagesFromJson(LangChain4jExport.toJson(throughLog(messages)));

        assertThat(read)
                .containsExactly(
                        ((UserMessage) messages.get(0))
                                .toBuilder().attributes(exported).build(),
                        ((AiMessage) messages.get(1))
                                .toBuilder().attributes(exported).build(),
                        ((ToolExecutionResultMessage) messages.get(2))
                                .toBuilder().attributes(exported).build(),
                        CustomMessage.from(exported));
    }

    @Test
    void any_message_is_exported_and_what_langchain4j_reads_of_it_is_read_equal_once_more() {
        long seed = System.nanoTime();
        List<ChatMessage> messages = Messages.sample(Messages.anyMessage(), Counts.of(500, 5_000), seed);

        String json = LangChain4jExport.toJson(throughLog(messages));
        List<ChatMessage> read = ChatMessageDeserializer.messagesFromJson(json);

        assertThat(read).as("seed %s", seed).hasSameSizeAs(messages);
        assertThat(ChatMessageDeserializer.messagesFromJson(LangChain4jExport.toJson(read)))
                .as("seed %s", seed)
                .isEqualTo(read);
        assertThat(new String(json.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .as("seed %s", seed)
                .isEqualTo(json);
        for (int i = 0; i < messages.size(); i++) {
            assertThat(read.get(i).type())
                    .as("seed %s", seed)
                    .isEqualTo(messages.get(i).type());
        }
    }

    private static List<ChatMessage> throughLog(List<ChatMessage> messages) {
        ConversationKey key = ConversationKey.of("acme", "42");
        List<NewMessage> batch = new ArrayList<>();
        messages.forEach(message -> batch.add(new NewMessage("m" + batch.size(), message, 1, "test", null)));
        try (MessageLog log = new InMemoryMessageLog()) {
            log.append(key, Append.under(Parent.head(), batch));
            List<ChatMessage> found = new ArrayList<>();
            Optional<HistoryQuery> next = Optional.of(HistoryQuery.oldest(500));
            while (next.isPresent()) {
                HistoryPage page = log.history(key, next.get());
                page.messages().stream().map(LoggedMessage::message).forEach(found::add);
                next = page.next();
            }
            return found;
        }
    }
}
