package io.github.keepsake4j.recall;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/**
 * A conversation and questions about it, read from a file that is no part of this project.
 *
 * @param id the conversation's name
 * @param turns what was said
 * @param questions the questions about it
 */
record AskedConversation(String id, List<Turn> turns, List<Asked> questions) {

    /** What was said at once, by an assistant or by a person. */
    record Turn(String id, String speaker, boolean assistant, Instant time, String text) {}

    /** A question of a kind, and the ids of the turns that answer it. */
    record Asked(String text, String kind, Set<String> evidence) {}

    /**
     * Reads all conversations of a file of {@link Locomo}, of {@link Beam}, or of one with this record's own fields. The
     * file may be packed with gzip.
     */
    static List<AskedConversation> read(Path file) throws IOException {
        List<AskedConversation> conversations = new ArrayList<>();
        try (InputStream bytes = Files.newInputStream(file);
                InputStream text = file.toString().endsWith(".gz") ? new GZIPInputStream(bytes) : bytes) {
            for (JsonNode json : new ObjectMapper().readTree(text)) {
                conversations.add(
                        Locomo.isOne(json)
                                ? Locomo.conversation(json)
                                : Beam.isOne(json) ? Beam.conversation(json) : conversation(json));
            }
        }
        return conversations;
    }

    /** Returns the ids of the turns of people. */
    Set<String> idsOfPeople() {
        return turns.stream().filter(turn -> !turn.assistant()).map(Turn::id).collect(Collectors.toSet());
    }

    private static AskedConversation conversation(JsonNode json) {
        List<Turn> turns = new ArrayList<>();
        for (JsonNode turn : json.get("turns")) {
            turns.add(new Turn(
                    turn.get("id").asText(),
                    turn.get("speaker").asText(),
                    false,
                    Instant.parse(turn.get("time").asText()),
                    turn.get("text").asText()));
        }
        List<Asked> questions = new ArrayList<>();
        for (JsonNode question : json.get("questions")) {
            Set<String> evidence = new LinkedHashSet<>();
            question.get("evidence").forEach(id -> evidence.add(id.asText()));
            questions.add(new Asked(question.get("text").asText(), "", evidence));
        }
        return new AskedConversation(json.get("id").asText(), turns, questions);
    }
}
