package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.recall.words.Words;
import java.time.LocalDate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What pronouns tell of a question. */
class PronounsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Which library did you recommend?",
                "Can you tell me what you said about my car?",
                "Remind me which hotel you named, please",
                "What was your advice for my back?",
                "Welche Bibliothek hast du empfohlen?",
                "Was haben Sie mir zu Lissabon geraten?",
                "Kannst du mir sagen, was du mir geraten hast?",
                "Was war Ihr Vorschlag?",
                "你推荐我用哪个库？",
                "告诉我你说的那家酒店",
                "您建议放几勺醋？"
            })
    void what_the_assistant_said_is_asked_for(String question) {
        assertThat(Pronouns.asksAssistant(question)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "What did I tell you about my car?",
                "Can you help me with my car?",
                "Do you remember the name of my dog?",
                "When does the shop open?",
                "Tell me about my dog",
                "Was habe ich dir erzählt?",
                "Können Sie mir den Namen nennen?",
                "Sie wohnt in Bonn, oder?",
                "我让你买的书叫什么？",
                "你知道我的狗叫什么吗？",
                "请你告诉我密码"
            })
    void what_the_user_said_is_asked_for(String question) {
        assertThat(Pronouns.asksAssistant(question)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "And how much was it?",
                "What about them?",
                "When did she buy it?",
                "She is on a journey. When does she come home?",
                "Why?",
                "Und wie viel hat er gekostet?",
                "Warum war ich bei ihm?",
                "它多少钱？",
                "那她住在哪里？"
            })
    void a_follow_up_says_not_what_it_is_about(String question) {
        assertThat(followsUp(question)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "How much was the bike?",
                "What did Sarah say about her bike?",
                "What time is it in Lisbon?",
                "Is it true that cats sleep all day?",
                "If I find the owner of the wallet, will he reward me?",
                "Wie geht es meinem Hund?",
                "Gibt es Schnee in Bonn?",
                "Wann haben Sie das Rad gesehen?",
                "Was hat Anna über ihr Rad gesagt?",
                "Wo habe ich früher gewohnt?",
                "Welche Stadt ist größer?",
                "Was trinke ich außer Kaffee?",
                "其他的书在哪里？",
                "我的吉他在哪里？",
                "如果我找到失主，他会给我奖励吗？",
                "They laugh at me. I do not like that. What can I do?",
                "他们给我起绰号。我很难过。怎么办？",
                "What did we say on May 3rd?",
                "?!"
            })
    void another_question_stands_alone(String question) {
        assertThat(followsUp(question)).isFalse();
    }

    private static boolean followsUp(String question) {
        return Question.of(question, "", Named.ROLES, Words.standard(), LocalDate.EPOCH)
                .followsUp();
    }
}
