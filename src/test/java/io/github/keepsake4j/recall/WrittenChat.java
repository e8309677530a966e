package io.github.keepsake4j.recall;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A chat of some months that was written for the tests, and questions about it.
 *
 * @param lines the messages
 * @param questions questions that a message answers
 * @param typos questions with the words of the message that answers them, the most telling one mistyped
 * @param ofAssistant questions for what the model said
 * @param followUps questions that only what the user said before them makes clear
 * @param unanswered greetings, and questions about what is not in the chat
 */
record WrittenChat(
        List<Line> lines,
        List<Asked> questions,
        List<Asked> typos,
        List<Asked> ofAssistant,
        List<FollowUp> followUps,
        List<String> unanswered) {

    /** A message of the user, or of the model. */
    record Line(int number, boolean user, Instant time, String text) {}

    /** A question, and the number of the message that answers it. */
    record Asked(int answer, String text) {}

    /** A question, and what the user said before it. */
    record FollowUp(String before, Asked asked) {}

    static WrittenChat read(String language) {
        List<Line> lines = new ArrayList<>();
        List<Asked> questions = new ArrayList<>();
        List<Asked> typos = new ArrayList<>();
        List<Asked> ofAssistant = new ArrayList<>();
        List<FollowUp> followUps = new ArrayList<>();
        List<String> unanswered = new ArrayList<>();
        Instant time = Instant.EPOCH;
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(WrittenChat.class.getResourceAsStream(language + ".txt")),
                StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String[] parts = line.split(" ", 3);
                switch (parts[0]) {
                    case "@" -> time = LocalDateTime.parse(parts[1]).toInstant(ZoneOffset.UTC);
                    case "?" -> questions.add(new Asked(Integer.parseInt(parts[1]), parts[2]));
                    case "~" -> typos.add(new Asked(Integer.parseInt(parts[1]), parts[2]));
                    case "!" -> ofAssistant.add(new Asked(Integer.parseInt(parts[1]), parts[2]));
                    case "+" -> {
                        String[] texts = parts[2].split(" \\| ");
                        followUps.add(new FollowUp(texts[0], new Asked(Integer.parseInt(parts[1]), texts[1])));
                    }
                    case "-" -> unanswered.add(line.substring(2));
                    default -> {
                        time = time.plusSeconds(30);
                        lines.add(new Line(Integer.parseInt(parts[0]), parts[1].equals("u:"), time, parts[2]));
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return new WrittenChat(lines, questions, typos, ofAssistant, followUps, unanswered);
    }
}
