package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Long messages among short ones, as a model is shown them. */
@Tag("landing")
class LongMessageRecallTest {

    private static final int DOCUMENTS = Counts.of(20, 40);
    private static final int MESSAGES = 600;
    private static final Instant JANUARY = Instant.parse("2026-01-10T09:00:00Z");
    private static final MemoryKey ALICE = ConversationKey.of("acme", "alice");
    private static final TokenCounter COUNTER = TokenCounter.standard();

    private final GeneratedText generated = new GeneratedText(7, 5_000);
    private final Random random = new Random(7);
    private final MessageLog log = new InMemoryMessageLog();

    @Test
    void a_name_in_a_document_is_shown_with_the_text_around_it() {
        List<String> names = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < DOCUMENTS; i++) {
            int tokens = 500 + i * 19_500 / (DOCUMENTS - 1);
            names.add(name());
            texts.add(document(names.get(i), tokens));
        }
        for (int i = 0; i < MESSAGES - DOCUMENTS; i++) {
            texts.add((i % 10 == 0 ? "The contract is what I think of. " : "") + generated.sentence(4, 24));
        }
        Collections.shuffle(texts, random);
        say(texts);
        for (int budget : new int[] {500, RecallOptions.standard().maxTokens()}) {
            RecallTool tool = tool(RecallOptions.standard().withMaxTokens(budget));
            List<String> missing = new ArrayList<>(names);
            for (String name : names) {
                String shown = tool.recall("What does the contract say about " + name + "?", "alice");
                assertThat(COUNTER.estimateTokenCountInText(shown)).isLessThanOrEqualTo(budget);
                if (shown.contains(name)) {
                    missing.remove(name);
                }
            }
            assertThat(missing).as("of %s tokens", budget).hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    void very_long_messages_are_found_by_what_occurs_at_their_end() {
        List<String> names = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        StringBuilder filling = new StringBuilder();
        while (filling.length() < Words.MAX_LENGTH - 100) {
            filling.append(generated.sentence(4, 24)).append(' ');
        }
        // More than the passages of an answer.
        for (int i = 0; i < Counts.of(12, 40); i++) {
            names.add(name());
            texts.add("The contract. " + filling.substring(0, Words.MAX_LENGTH - 100) + " It is for " + names.get(i));
        }
        say(texts);
        RecallTool tool = tool(RecallOptions.standard());
        for (String name : names.subList(0, 4)) {
            assertThat(tool.recall("Which contract is for " + name + "?", "alice"))
                    .contains(name);
        }
    }

    private String name() {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            name.append("bcdfghjklmnpqrstvwxz".charAt(random.nextInt(20)));
            name.append("aeiouy".charAt(random.nextInt(6)));
        }
        return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    }

    /** Writes a document of about as many tokens with a name at a random place. */
    private String document(String name, int tokens) {
        List<String> sentences = new ArrayList<>(List.of("This is the contract that we made."));
        for (int written = 20; written < tokens; ) {
            String sentence = generated.sentence(6, 20) + (random.nextInt(8) == 0 ? "\n" : "");
            sentences.add(sentence);
            written += COUNTER.estimateTokenCountInText(" " + sentence);
        }
        sentences.add(random.nextInt(sentences.size()), "It is for " + name + " alone.");
        return String.join(" ", sentences);
    }

    private void say(List<String> texts) {
        List<NewMessage> messages = new ArrayList<>();
        for (String text : texts) {
            ChatMessage message = UserMessage.from(text);
            int tokens = COUNTER.estimateTokenCountInMessage(message);
            messages.add(new NewMessage(
                    "m" + messages.size(),
                    message,
                    tokens,
                    COUNTER.name(),
                    JANUARY.plusSeconds(60L * messages.size())));
        }
        log.append(ALICE, Append.under(Parent.head(), messages));
    }

    private RecallTool tool(RecallOptions options) {
        MessageSearch search = MessageRecallContract.indexed(new InMemoryMessageIndex(), log);
        return new RecallTool(
                new MessageRecall(search, key -> MessageRecallContract.seen(log, key, Set.of())),
                id -> ConversationKey.of("acme", (String) id),
                Scope::memory,
                options);
    }
}
