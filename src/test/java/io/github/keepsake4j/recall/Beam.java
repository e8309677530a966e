package io.github.keepsake4j.recall;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.keepsake4j.recall.AskedConversation.Asked;
import io.github.keepsake4j.recall.AskedConversation.Turn;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The form of BEAM, chats of a user and an assistant, with the ids of the messages that answer each question. */
final class Beam {

    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("MMMM-dd-uuuu", Locale.ENGLISH);

    private Beam() {}

    static boolean isOne(JsonNode conversation) {
        return conversation.has("chat");
    }

    static AskedConversation conversation(JsonNode conversation) {
        List<Turn> turns = new ArrayList<>();
        for (JsonNode message : conversation.get("messages")) {
            String speaker = message.get("role").asText();
            LocalDate day = LocalDate.parse(message.get("time").asText(), DAY);
            turns.add(new Turn(
                    message.get("id").asText(),
                    speaker,
                    speaker.equals("assistant"),
                    day.atStartOfDay().toInstant(ZoneOffset.UTC),
                    message.get("text").asText()));
        }
        List<Asked> questions = new ArrayList<>();
        for (JsonNode question : conversation.get("questions")) {
            Set<String> evidence = new LinkedHashSet<>();
            question.get("ev").forEach(id -> evidence.add(id.asText()));
            questions.add(new Asked(
                    question.get("q").asText(), question.get("type").asText().replace('_', ' '), evidence));
        }
        return new AskedConversation("beam-" + conversation.get("chat").asText(), turns, questions);
    }
}
