package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.samples.scripted.ScriptedModel;
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
            i'm mary jane                           | Noted. You are mary jane.
            I’m Käthe and my dog's called Rex!      | Noted. You are Käthe. Your dog's called Rex.
            hi, call me Jörg                        | Noted. You are called Jörg.
            I live in St. Gallen , I work at a bank | Noted. You live in St. Gallen. You work at a bank.
            I like tea and coffee                   | Noted. You like tea and coffee.
            Im 34                                   | Noted. You are 34 years old.
            My sister and I share our car.          | Noted. Your sister and you share your car.
            The cats are called Tom and Ada.        | Noted. The cats are called Tom and Ada.
            Tom is 3. She likes him.                | Noted. Tom is 3. She likes him.
            Hi, Marta here, from Ghent              | Noted. You are called Marta. You are from Ghent.
            This is Marta speaking                  | Noted. You are called Marta.
            Ida has a cat and she likes fish.       | Noted. Ida has a cat. She likes fish.
            My mum is Rosa, she lives in Rome.      | Noted. Your mum is Rosa. Your mum lives in Rome.
            I love you.                             | Noted. You love me.
            my email is me@my.example.com           | Noted. Your email is me@my.example.com.
            It starts at 9 a.m. in my office.       | Noted. It starts at 9 a.m. in your office.
            Can you remember that I like tea?       | Noted. You like tea.
            Start of my new job is in May.          | Noted. Start of your new job is in May.
            Tom moved to York.                      | Noted. Tom moved to York.
            I owe Tom 3.50 euros. I use example.com | Noted. You owe Tom 3.50 euros. You use example.com.
            Don't forget that I like tea.           | Noted. You like tea.
            My cat is Pi; she's 11.                 | Noted. Your cat is Pi. Your cat is 11.
            I have a dog, Rex, he's 4.              | Noted. You have a dog, Rex. Your dog is 4.
            Tom's birthday is 3 March.              | Noted. Tom's birthday is 3 March.
            They're vegan.                          | Noted. They are vegan.
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
            Where does Bob live?               | You live in Ulm.
            Can you help me?                   | Tell me something, such as “My sister lives in Ulm.”, and ask for it later, such as “Where does my sister live?”.
            What did I just say?               | You said: “Where do I live?”
            What did I tell you first?         | The first one that the memory shows me is: “I am Bob and I live in Ulm.”
            Do I have siblings?                | Your sister lives in Köln.
            What is the capital of France?     | I have nothing about that in what the memory showed me. Ask “What do you know about me?” to see all of it.
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            How old am I?                | I love old French films. My dog is three years old. | NONE
            How many cats do I have?     | I've got two cats. My name is Priya Nair.           | You have got two cats.
            How old am I?                | I love old French films. I turned 30 in May.        | You turned 30 in May.
            Where do I live?             | I used to live in Rome.                             | NONE
            Where does Ida live?         | My sister is Ida. My sister lives in Ulm.           | Your sister lives in Ulm.
            Where does Anna live?        | Anna is my best friend, she lives in Oslo.          | Your best friend lives in Oslo.
            What do I study?             | I am a student of law. I am tall.                   | You are a student of law.
            What is my email address?    | My address is in Ulm. My email is a@example.com.    | Your email is a@example.com.
            What did I buy?              | I went to Ulm. I bought a bike.                     | You bought a bike.
            How old is Tom?              | Ada is 5. Tom is 3.                                 | Tom is 3.
            How old is my sister?        | My sister lives in Ulm. I am 30.                    | NONE
            Which old films do I like?   | I love old French films. I like my old car.         | You love old French films.
            What is my favourite colour? | My favourite food is pizza.                         | NONE
            When is my sister's birthday? | My birthday is in May. My sister is called Ida.    | NONE
            Where do I live?             | My sister lives in Ulm.                             | NONE
            Do I like cheese?            | I like tea.                                         | NONE
            When is my birthday?         | I am 30.                                            | NONE
            What do I like?              | I don't like tea.                                   | NONE
            What do I dislike?           | I like rice. I don't like tea.                      | You don't like tea.
            Do I like tea?               | I don't like tea.                                   | You don't like tea.
            Is Tom my brother or my cousin? | Tom is my cousin. Ida is my sister.              | Tom is your cousin.
            Do I play guitar or violin?  | I play the violin. I like cheese.                   | You play the violin.
            Do I play guitar or violin?  | I like cheese.                                      | NONE
            What do I do for a living?   | I'm a payroll accountant. My sister works as a nurse. | You are a payroll accountant.
            what's my name?              | i'm mary jane. we have a dog called Bruno. | You are mary jane.
            What does my sister do?      | My sister lives in Ulm. My sister is a nurse.       | Your sister is a nurse.
            What do I do?                | I live in Ulm. I am a cook.                         | You are a cook.
            What don't I like?           | I hate flying. I can't stand tea. I don't eat meat. | You hate flying. You can't stand tea.
            What do I dislike?           | I hate flying. I don't eat meat.                    | You hate flying.
            What does Ida hate?          | My sister is Ida. I hate flying.                    | NONE
            What do I dislike?           | I like rice. I don't really like tea.               | You don't really like tea.
            What do I like?              | I don't really like tea.                            | NONE
            Do I like tea?               | I can't stand tea.                                  | You can't stand tea.
            Do I hate tea?               | I love tea.                                         | You love tea.
            Where did I use to live?     | I used to live in Rome. I live in York.             | You used to live in Rome.
            Where did I live before?     | I live in York. I lived in Rome.                    | You lived in Rome.
            Where do I live?             | I lived in Rome. I live in York.                    | You live in York.
            Where did I live before?     | I live in York.                                     | NONE
            How old am I?                | We have a daughter who is six years old.            | NONE
            How old is my cat?           | My cat is 11 and deaf.                              | Your cat is 11 and deaf.
            Does my cat hear well?       | My cat is 11 and deaf.                              | Your cat is 11 and deaf.
            When is Tom's birthday?      | Tom's birthday is 3 March. Tom's birthday is 4 March. | Tom's birthday is 4 March.
            """)
    void a_common_word_is_no_answer(String question, String said, String answer) {
        assertThat(answer(said, question)).startsWith(answer.replace("NONE", "I have nothing about that"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            What is my favourite colour? | My favourite colour is blue. My favorite colour is now red. | Your favorite colour is red.
            Where do I live?             | I live in Ulm. I live in Bonn.                  | You live in Bonn.
            How old am I?                | I am 34. I am now 35.                           | You are 35 years old.
            What is my dog called?       | My dog is called Rex. My dog is called Max.     | Your dog is called Max.
            What is my cat called?       | My cat's called Pi. My cat's name is Bo, not Pi. | Your cat's name is Bo, not Pi.
            What is my job?              | I'm a nurse from Ulm. My son is a nurse. Actually, I'm a doctor, not a nurse. | You are a doctor, not a nurse.
            What is my sister called?    | I've got a sister called Ida May. Actually it is Mary Jane. | You have got a sister called Mary Jane.
            What is my sister called?    | My sister's name is Ida. No, her name is Ada.   | Your sister's name is Ada.
            What colour do I like?       | My favourite colour is red. No wait, it's blue. | Your favourite colour is blue.
            When was I born?             | I was born in 1988 in Porto. Sorry, I meant 1989. | You were born in 1989 in Porto.
            Where did I move?            | I moved to Rome. Sorry, I meant $x.             | You moved to $x.
            How many cats do I have?     | I have two cats. No, I have three cats.         | You have three cats.
            Who am I?                    | My name is Alice. I am tired. I am German. I am Bob. | You are Bob.
            Who am I?                    | I am Bob. My name is Alice. I am called Al.     | You are called Al.
            Where does Tom live?         | Tom is my brother. He lives in Ulm. He does not live in Ulm anymore, he moved to York. | Your brother moved to York.
            Where do I live now?         | I live in Paris. I have moved to Rome.          | You have moved to Rome.
            Where do I live?             | I moved to Rome. I do not live in Paris anymore. | You moved to Rome.
            Where do I live?             | I live in Paris. I do not live in Paris anymore. | You do not live in Paris anymore.
            Do I like tea?               | I like tea. I no longer like tea.               | You no longer like tea.
            What is my job?              | I am a baker. I am not a baker anymore. I am a cook. | You are a cook.
            How am I feeling?            | I am tired. I am good at chess.                 | You are tired.
            How am I today?              | I am tired. I feel very happy.                  | You feel very happy.
            What do you know about me?   | My dog is Rex. My dog is brown. My dog is Max.  | Your dog is brown. Your dog is Max.
            """)
    void the_newest_value_is_the_answer(String question, String said, String answer) {
        assertThat(answer(said, question)).isEqualTo(answer);
    }

    @Test
    void what_is_called_by_a_name_can_be_asked_for() {
        String cats = "The cats are called Tom and Ada.";
        assertThat(answer("My name is Bob.", cats, "What are the cats called?")).isEqualTo(cats);
        assertThat(answer("My name is Bob.", cats, "What are my cats' names?")).isEqualTo(cats);
        assertThat(answer("My name is Bob.", cats, "What is my name?")).isEqualTo("Your name is Bob.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            hello              | Hello.
            Hi!                | Hello.
            thanks             | You are welcome.
            Thank you, really. | You are welcome.
            bye                | Goodbye.
            Thanks, bye!       | Goodbye.
            Hi, I am Bob.      | Noted. You are Bob.
            """)
    void small_talk_has_lines_of_its_own(String said, String answer) {
        assertThat(answer(said)).startsWith(answer);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            Forget my name.             | I only repeat what you tell me. `conversation.erase()` deletes a conversation.
            Please delete everything!   | I only repeat
            Can you delete my data?     | I only repeat
            How do I erase this chat?   | I only repeat
            delete                      | I only repeat
            Summarize our conversation. | I am a script and cannot do that.
            Please tell me a joke.      | I am a script and cannot do that.
            Hello! Write me a poem.     | I am a script and cannot do that.
            Remind me tomorrow.         | I am a script and cannot do that.
            Please tell me my name.     | You are Bob.
            Show me what you know about me. | You are Bob.
            Tell me about yourself.     | I am a script.
            """)
    void what_a_script_cannot_do_is_said(String said, String answer) {
        assertThat(answer("I am Bob.", said)).startsWith(answer);
        assertThat(answer("I am Bob.", said, "What do you know about me?")).isEqualTo("You are Bob.");
    }

    @Test
    void its_notes_keep_what_users_told() {
        String notes = ScriptedModel.notes(
                "I live in Ulm.\nI live in Bonn.",
                List.of(
                        UserMessage.from("I keep bees."),
                        AiMessage.from("I see."),
                        UserMessage.from("Who am I?"),
                        UserMessage.from("It is raining."),
                        UserMessage.from("I live in Ulm.")));
        assertThat(notes).isEqualTo("I live in Bonn.\nI keep bees.\nI live in Ulm.");
        assertThat(ScriptedModel.notes(null, List.of())).isEqualTo("Small talk.");
    }

    @Test
    void its_facts_are_in_the_users_words_and_the_newest_replaces_what_was_before() {
        List<UserMessage> said = List.of(
                UserMessage.from("I am Bob, I live in Ulm, and my dog loves me. Where do I live?"),
                UserMessage.from("I love you. I have moved to Bonn."));
        assertThat(ScriptedModel.facts(said).toString())
                .isEqualTo("{Name=I am Bob., My dog loves me.=My dog loves me., I love you.=I love you.,"
                        + " I live=I have moved to Bonn.}");
    }

    @Test
    void it_knows_only_what_users_say_in_the_request() {
        assertThat(answer("Who am I?"))
                .isEqualTo(
                        "I have nothing about that in what the memory showed me. Tell me something about yourself first.");
        List<ChatMessage> messages =
                List.of(UserMessage.from("Hello."), AiMessage.from("I am Rob."), UserMessage.from("Who am I?"));
        assertThat(new ScriptedModel().chat(messages).aiMessage().text()).contains("I have nothing about that");
    }

    @Test
    void it_says_that_it_understands_english_only() {
        assertThat(answer("Ich heiße Karen und wohne in Köln.")).startsWith("I understand English only.");
        assertThat(answer("I am Bob.", "Wie heiße ich?")).startsWith("I understand English only.");
    }

    @Test
    void what_tells_nothing_is_only_read_once_it_knows_something() {
        assertThat(answer("I am Bob.", "It is raining.")).isEqualTo("All right, I have read that.");
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
