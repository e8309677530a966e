package io.github.keepsake4j.recall;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.keepsake4j.recall.AskedConversation.Asked;
import io.github.keepsake4j.recall.AskedConversation.Turn;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The form of LoCoMo (CC BY-NC 4.0). */
final class Locomo {

    private static final Pattern TURN_ID = Pattern.compile("D\\d+:\\d+");

    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .parseCaseInsensitive()
            .appendPattern("h:mm a 'on' d MMMM, yyyy")
            .toFormatter(Locale.ENGLISH);

    /** What the paper calls the categories 1 to 5. */
    private static final List<String> KINDS =
            List.of("multi-hop", "temporal", "open-domain", "single-hop", "adversarial");

    private Locomo() {}

    static boolean isOne(JsonNode conversation) {
        return conversation.has("sample_id");
    }

    static AskedConversation conversation(JsonNode conversation) {
        List<Turn> turns = turns(conversation);
        return new AskedConversation(conversation.get("sample_id").asText(), turns, questions(conversation, turns));
    }

    /** The text of a turn has the caption of an image on a line of its own. */
    private static List<Turn> turns(JsonNode conversation) {
        List<Turn> turns = new ArrayList<>();
        for (JsonNode session : conversation.get("sessions")) {
            LocalDateTime begin = LocalDateTime.parse(session.get("date_time").asText(), TIME);
            for (JsonNode turn : session.get("turns")) {
                String caption = turn.path("blip_caption").asText("");
                turns.add(new Turn(
                        turn.get("dia_id").asText(),
                        turn.get("speaker").asText(),
                        false,
                        begin.toInstant(ZoneOffset.UTC),
                        turn.get("text").asText() + (caption.isEmpty() ? "" : "\n" + caption)));
            }
        }
        return turns;
    }

    /** Questions without evidence cannot be measured. */
    private static List<Asked> questions(JsonNode conversation, List<Turn> turns) {
        Set<String> ids = turns.stream().map(Turn::id).collect(Collectors.toSet());
        List<Asked> questions = new ArrayList<>();
        for (JsonNode question : conversation.get("qa")) {
            Set<String> evidence = new LinkedHashSet<>();
            for (JsonNode id : question.get("evidence")) {
                TURN_ID.matcher(id.asText()).results().map(MatchResult::group).forEach(evidence::add);
            }
            evidence.retainAll(ids);
            if (!evidence.isEmpty()) {
                questions.add(new Asked(
                        question.get("question").asText(),
                        KINDS.get(question.get("category").asInt() - 1),
                        evidence));
            }
        }
        return questions;
    }
}
