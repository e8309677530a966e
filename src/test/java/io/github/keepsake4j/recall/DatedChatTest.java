package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Recalled.Passage;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Questions that name a time, asked on Wednesday, 20 May 2026, about messages of 300 days. Other days have the words of
 * the questions too.
 */
@Tag("landing")
class DatedChatTest {

    private static final MemoryKey KEY = ConversationKey.of("acme", "alice");
    private static final LocalDateTime NOW = LocalDateTime.parse("2026-05-20T22:00:00");

    private static final List<String> WORDS = List.of(
            "I told you of May and the 13th",
            "what did we talk about yesterday or last week",
            "we met on Monday, two weeks ago",
            "summarize the chat of December",
            "gestern haben wir am Montag gesprochen",
            "was war im Oktober letzten Monat",
            "我们昨天聊了什么",
            "上周一你说了什么",
            "5月13日的内容",
            "nothing of it");

    /** Each question, and the first and the last day that it means. */
    private static final String QUESTIONS =
            """
            What did I tell you on May 13th?|2026-05-13|2026-05-13
            Summarize our chat of 2026-03-02|2026-03-02|2026-03-02
            What did we talk about on 3 Oct. 2025?|2025-10-03|2025-10-03
            What happened on the 8th of January?|2026-01-08|2026-01-08
            December 24|2025-12-24|2025-12-24
            What did we discuss in November?|2025-11-01|2025-11-30
            In September 2025, what did I say?|2025-09-01|2025-09-30
            What were we discussing in the week of March 9?|2026-03-09|2026-03-15
            A recap of the week of 15 January 2026, please|2026-01-12|2026-01-18
            What did I tell you today?|2026-05-20|2026-05-20
            What have we talked about yesterday?|2026-05-19|2026-05-19
            And the day before yesterday?|2026-05-18|2026-05-18
            Please summarize last week|2026-05-11|2026-05-17
            What did we talk about this week?|2026-05-18|2026-05-20
            What did I say last month?|2026-04-01|2026-04-30
            Give me a summary of this month|2026-05-01|2026-05-20
            What was said three days ago?|2026-05-17|2026-05-17
            What did we discuss 2 weeks ago?|2026-05-04|2026-05-10
            What did I write four months ago?|2026-01-01|2026-01-31
            What did you tell me on Friday?|2026-05-15|2026-05-15
            Was habe ich dir am 13. Mai erzählt?|2026-05-13|2026-05-13
            Was war am 2.3.2026?|2026-03-02|2026-03-02
            Worüber haben wir am 3.10. gesprochen?|2025-10-03|2025-10-03
            Was ist am 08.01.2026 passiert?|2026-01-08|2026-01-08
            24. Dezember|2025-12-24|2025-12-24
            Worüber haben wir im November geredet?|2025-11-01|2025-11-30
            Was habe ich im September 2025 gesagt?|2025-09-01|2025-09-30
            Was haben wir in der Woche vom 9. März besprochen?|2026-03-09|2026-03-15
            Fasse die Woche vom 15.1.2026 zusammen|2026-01-12|2026-01-18
            Was habe ich dir heute gesagt?|2026-05-20|2026-05-20
            Worüber haben wir gestern gesprochen?|2026-05-19|2026-05-19
            Und vorgestern?|2026-05-18|2026-05-18
            Fass bitte letzte Woche zusammen|2026-05-11|2026-05-17
            Was haben wir in dieser Woche besprochen?|2026-05-18|2026-05-20
            Was habe ich letzten Monat gesagt?|2026-04-01|2026-04-30
            Eine Zusammenfassung von diesem Monat|2026-05-01|2026-05-20
            Was war vor drei Tagen?|2026-05-17|2026-05-17
            Worüber haben wir vor 2 Wochen gesprochen?|2026-05-04|2026-05-10
            Was habe ich vor vier Monaten geschrieben?|2026-01-01|2026-01-31
            Was hast du mir letzten Freitag erzählt?|2026-05-15|2026-05-15
            5月13日我们聊了什么？|2026-05-13|2026-05-13
            2026年3月2日我说了什么？|2026-03-02|2026-03-02
            总结一下2025年10月3号的聊天|2025-10-03|2025-10-03
            一月八日我们谈了什么|2026-01-08|2026-01-08
            十二月二十四号|2025-12-24|2025-12-24
            11月我们聊了些什么？|2025-11-01|2025-11-30
            2025年9月我说过什么|2025-09-01|2025-09-30
            3月9日那周我们聊了什么？|2026-03-09|2026-03-15
            2026年1月15日那一周的对话|2026-01-12|2026-01-18
            今天我告诉你什么了？|2026-05-20|2026-05-20
            昨天我们聊了什么？|2026-05-19|2026-05-19
            前天呢？|2026-05-18|2026-05-18
            请总结一下上周的聊天|2026-05-11|2026-05-17
            这周我们聊了什么|2026-05-18|2026-05-20
            上个月我说了什么？|2026-04-01|2026-04-30
            这个月我们都聊了什么|2026-05-01|2026-05-20
            三天前我们聊了什么？|2026-05-17|2026-05-17
            两周前我说了什么？|2026-05-04|2026-05-10
            4个月前我们聊了什么|2026-01-01|2026-01-31
            上周五你告诉我什么了？|2026-05-15|2026-05-15""";

    @TempDir
    Path directory;

    private record Asked(String text, Days days) {}

    @Test
    void the_first_five_passages_are_of_the_time_that_is_named() throws Exception {
        List<Asked> questions = QUESTIONS
                .lines()
                .map(line -> line.split("\\|"))
                .map(parts -> new Asked(parts[0], new Days(LocalDate.parse(parts[1]), LocalDate.parse(parts[2]))))
                .toList();
        assertThat(questions).hasSize(60);
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"));
                MessageIndex index = JdbcMessageIndex.sqlite(directory.resolve("index.db"))) {
            assertThat(missed(log, index, 10_000, ZoneId.of("Europe/Berlin"), questions))
                    .isEmpty();
        }
        for (String zone : List.of("UTC", "Pacific/Kiritimati", "America/Los_Angeles")) {
            try (MessageLog log = new InMemoryMessageLog();
                    MessageIndex index = new InMemoryMessageIndex()) {
                assertThat(missed(log, index, Counts.of(3_000, 10_000), ZoneId.of(zone), questions))
                        .as(zone)
                        .isEmpty();
            }
        }
    }

    private static List<String> missed(
            MessageLog log, MessageIndex index, int messages, ZoneId zone, List<Asked> questions) {
        Instant now = NOW.atZone(zone).toInstant();
        append(log, messages, now);
        AtomicInteger requests = new AtomicInteger();
        MessageLog countedLog = counted(MessageLog.class, log, requests);
        MessageIndex countedIndex = counted(MessageIndex.class, index, requests);
        MessageRecall recall = new MessageRecall(
                MessageRecallContract.indexed(countedIndex, countedLog),
                key -> MessageRecallContract.seen(countedLog, key, Set.of()),
                TokenCounter.standard(),
                () -> now);
        RecallOptions options = RecallOptions.standard().in(zone);
        List<String> missed = new ArrayList<>();
        for (Asked asked : questions) {
            requests.set(0);
            List<Passage> passages =
                    recall.recall(Scope.memory(KEY), asked.text(), options).passages();
            assertThat(requests).hasValueLessThanOrEqualTo(9);
            boolean found = passages.size() >= 5
                    && passages.stream()
                            .limit(5)
                            .map(passage ->
                                    LocalDate.ofInstant(passage.message().createdAt(), zone))
                            .allMatch(asked.days()::has);
            if (!found) {
                missed.add(asked.text() + " "
                        + passages.stream()
                                .map(passage -> passage.message().createdAt())
                                .toList());
            }
        }
        return missed;
    }

    private static void append(MessageLog log, int messages, Instant now) {
        Duration between = Duration.ofDays(300).dividedBy(messages);
        List<NewMessage> batch = new ArrayList<>();
        for (int i = messages; i > 0; i--) {
            String text = WORDS.get(i * 7 % WORDS.size()) + ", and " + WORDS.get(i / 3 % WORDS.size()) + " " + i;
            batch.add(new NewMessage(
                    "m" + i,
                    i % 2 == 0 ? UserMessage.from(text) : AiMessage.from(text),
                    20,
                    "test",
                    now.minus(between.multipliedBy(i))));
        }
        for (int from = 0; from < messages; from += 1_000) {
            log.append(KEY, Append.under(Parent.head(), batch.subList(from, from + 1_000)));
        }
    }

    private static <T> T counted(Class<T> type, T counted, AtomicInteger requests) {
        return Watched.of(type, counted, call -> {
            requests.incrementAndGet();
            return call.proceed();
        });
    }
}
