package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScriptedModelTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            I am Bob.                               | Noted. You are Bob.
            i'm bob                                 | Noted. You are bob.
            I’m Käthe and my dog's called Rex!      | Noted. You are Käthe. Your dog's called Rex.
            hi, call me Jörg                        | Noted. You are called Jörg.
            I live in St. Gallen , I work at a bank | Noted. You live in St. Gallen. You work at a bank.
            I like tea and coffee                   | Noted. You like tea and coffee.
            Im 34                                   | Noted. You are 34 years old.
            My sister and I share our car.          | Noted. Your sister and you share your car.
            It is raining.                          | All right. Tell me something about yourself, and ask me for it later, also after a restart.
            """)
    void what_a_speaker_says_of_himself_is_repeated_to_him(String said, String answer) {
        assertThat(answer(said)).isEqualTo(answer);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            Who am I?                          | You are Bob.
            whats my name                      | You are Bob.
            Where do I live?                   | You live in Ulm.
            Do I have any pets?                | Your dog is called Rex.
            What is my dog's name?             | Your dog is called Rex.
            What do I do for a living?         | You are a baker.
            Where does my sister live?         | Your sister lives in Köln.
            How old am I, and who is Rex?      | You are 34 years old. Your dog is called Rex.
            What do you know about me?         | You are Bob. You live in Ulm. You are a baker. You are 34 years old. Your dog is called Rex. Your sister lives in Köln.
            Do I have siblings?                | Your sister lives in Köln.
            What is the capital of France?     | I find no answer to that in what the memory shows me. Ask “What do you know about me?” to see all of it.
            """)
    void a_question_is_answered_by_the_words_of_what_was_said(String question, String answer) {
        assertThat(answer(
                        "I am Bob and I live in Ulm.",
                        "I'm a baker, I'm 34",
                        "My dog is called Rex. My sister lives in Köln.",
                        "Where do I live?",
                        question))
                .isEqualTo(answer);
    }

    @Test
    void it_knows_only_what_users_say_in_the_request() {
        assertThat(answer("Who am I?")).isEqualTo("The memory shows me nothing that you said of yourself.");
        List<ChatMessage> messages =
                List.of(UserMessage.from("Hello."), AiMessage.from("I am Rob."), UserMessage.from("Who am I?"));
        assertThat(new ScriptedModel().chat(messages).aiMessage().text()).contains("nothing that you said");
    }

    @Test
    void it_says_that_it_is_a_script() {
        assertThat(answer("I am Bob.", "Who are you?")).isEqualTo(ScriptedModel.ABOUT);
    }

    private static String answer(String... said) {
        List<ChatMessage> messages = new ArrayList<>();
        Arrays.stream(said).forEach(text -> messages.addAll(List.of(UserMessage.from(text), AiMessage.from("Noted."))));
        return new ScriptedModel()
                .chat(messages.subList(0, messages.size() - 1))
                .aiMessage()
                .text();
    }
}
