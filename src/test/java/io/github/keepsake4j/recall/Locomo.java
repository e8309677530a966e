package io.github.keepsake4j.recall;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
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

/**
 * The conversations of LoCoMo (CC BY-NC 4.0), read from a file that is no part of this project.
 *
 * @param id the conversation's name
 * @param turns what was said
 * @param questions the questions about it
 */
record Locomo(String id, List<Turn> turns, List<Asked> questions) {

    private static final Pattern TURN_ID = Pattern.compile("D\\d+:\\d+");

    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .parseCaseInsensitive()
            .appendPattern("h:mm a 'on' d MMMM, yyyy")
            .toFormatter(Locale.ENGLISH);

    /** What was said at once. The text has the caption of an image on a line of its own. */
    record Turn(String id, String speaker, Instant time, String text) {}

    /** A question, and the ids of the turns that answer it. */
    record Asked(String text, Set<String> evidence, int category) {}

    /** Reads all conversations. */
    static List<Locomo> read(Path file) throws IOException {
        List<Locomo> conversations = new ArrayList<>();
        for (JsonNode json : new ObjectMapper().readTree(file.toFile())) {
            conversations.add(new Locomo(json.get("sample_id").asText(), turns(json), questions(json)));
        }
        return conversations;
    }

    private static List<Turn> turns(JsonNode conversation) {
        List<Turn> turns = new ArrayList<>();
        for (JsonNode session : conversation.get("sessions")) {
            LocalDateTime begin = LocalDateTime.parse(session.get("date_time").asText(), TIME);
            for (JsonNode turn : session.get("turns")) {
                String caption = turn.path("blip_caption").asText("");
                turns.add(new Turn(
                        turn.get("dia_id").asText(),
                        turn.get("speaker").asText(),
                        begin.toInstant(ZoneOffset.UTC),
                        turn.get("text").asText() + (caption.isEmpty() ? "" : "\n" + caption)));
            }
        }
        return turns;
    }

    /** Questions without evidence cannot be measured. */
    private static List<Asked> questions(JsonNode conversation) {
        Set<String> ids = turns(conversation).stream().map(Turn::id).collect(Collectors.toSet());
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
                        evidence,
                        question.get("category").asInt()));
            }
        }
        return questions;
    }
}
