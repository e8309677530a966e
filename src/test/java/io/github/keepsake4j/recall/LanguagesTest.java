package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.WrittenChat.Asked;
import io.github.keepsake4j.recall.WrittenChat.Line;
import io.github.keepsake4j.recall.words.Words;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chats of 40 messages in several languages, and 30 questions that use other forms of their words. */
class LanguagesTest {

    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{M}\\p{N}]+");

    @ParameterizedTest
    @ValueSource(strings = {"english", "german", "chinese", "japanese", "mixed"})
    void the_first_message_that_is_found_answers_the_question(String language) throws Exception {
        WrittenChat chat = WrittenChat.read(language);
        assertThat(chat.lines()).hasSize(40);
        assertThat(chat.questions()).hasSize(30);

        List<String> missed = new ArrayList<>();
        for (Asked asked : chat.questions()) {
            long first = first(chat, asked.text(), Words.standard());
            if (first != asked.answer()) {
                missed.add(asked + " found " + first);
            }
        }
        int plain = unicode61(chat);
        assertThat(missed).hasSizeLessThanOrEqualTo(3);
        assertThat(plain).as("questions that unicode61 of FTS5 answers").isLessThanOrEqualTo(18);
    }

    private static long first(WrittenChat chat, String text, Words words) {
        List<Utterance> utterances = chat.lines().stream()
                .map(line -> CountedTerms.said(
                        line.number(), line.user() ? Named.USER : Named.ASSISTANT, line.time(), line.text(), words))
                .toList();
        Question question = Question.of(text, "", Set.of(Named.USER, Named.ASSISTANT), words, LocalDate.EPOCH);
        return new Ranking(question, CountedTerms.of(utterances), Meaning.NONE, ZoneOffset.UTC)
                .rank(ConversationKey.of("tenant", "chat"), ChatSession.cut(utterances, Duration.ofHours(4)))
                .get(0)
                .utterance()
                .sequence();
    }

    /** Asks SQLite's FTS5 for any of the question's words, best first. */
    private static int unicode61(WrittenChat chat) throws SQLException {
        int hits = 0;
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE VIRTUAL TABLE chat USING fts5(text, tokenize = 'unicode61')");
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO chat(rowid, text) VALUES (?, ?)")) {
                for (Line line : chat.lines()) {
                    insert.setInt(1, line.number());
                    insert.setString(2, line.text());
                    insert.execute();
                }
            }
            try (PreparedStatement select =
                    connection.prepareStatement("SELECT rowid FROM chat WHERE chat MATCH ? ORDER BY rank LIMIT 1")) {
                for (Asked asked : chat.questions()) {
                    select.setString(
                            1,
                            WORD.matcher(asked.text())
                                    .results()
                                    .map(MatchResult::group)
                                    .map(word -> '"' + word + '"')
                                    .collect(Collectors.joining(" OR ")));
                    try (ResultSet found = select.executeQuery()) {
                        hits += found.next() && found.getInt(1) == asked.answer() ? 1 : 0;
                    }
                }
            }
        }
        return hits;
    }
}
