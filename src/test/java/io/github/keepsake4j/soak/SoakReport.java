package io.github.keepsake4j.soak;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.testing.ProviderRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What is stored after a soak, beside what the processes heard.
 *
 * @param acknowledged turns whose answer the caller has
 * @param lost of these, those of which a message is not stored
 * @param doubled turns of which a message is stored twice
 * @param unreadable damages, and conversations that cannot be read
 * @param invalid lists of messages that a provider would refuse, and those that lack the answer before
 * @param failed calls that threw an exception
 */
record SoakReport(
        int acknowledged,
        List<String> lost,
        List<String> doubled,
        List<String> unreadable,
        List<String> invalid,
        List<String> failed) {

    static SoakReport of(MessageLog log, Heard heard) {
        SoakReport report = new SoakReport(
                heard.acknowledged(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(heard.refused()),
                heard.failed());
        heard.conversations().forEach(name -> report.look(log, heard, name));
        return report;
    }

    private void look(MessageLog log, Heard heard, String name) {
        Keepsake keepsake = SoakProcess.keepsake(log, SoakProcess.hasSummaries(name));
        Conversation conversation = keepsake.conversation(name);
        Map<String, Integer> stored = new HashMap<>();
        try {
            conversation.check().forEach(damage -> unreadable.add(name + " " + damage));
            try (Stream<String> texts =
                    conversation.historyStream(HistoryQuery.oldest(1_000)).map(logged -> text(logged.message()))) {
                texts.forEach(text -> stored.merge(text, 1, Integer::sum));
            }
            ProviderRules.all(conversation.messages()).forEach(wrong -> invalid.add(name + " " + wrong));
        } catch (KeepsakeException e) {
            unreadable.add(name + " " + e);
        }
        for (AskedTurn turn : heard.askedIn(name)) {
            for (String text : turn.texts()) {
                int times = stored.getOrDefault(text, 0);
                if (times == 0 && heard.isAcknowledged(turn)) {
                    lost.add(name + ": " + text);
                } else if (times > 1) {
                    doubled.add(name + ": " + text);
                }
            }
        }
    }

    private static String text(ChatMessage message) {
        if (message instanceof UserMessage question) {
            return question.singleText();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return result.text();
        }
        return message instanceof AiMessage answer && !answer.hasToolExecutionRequests()
                ? answer.text()
                : message.toString();
    }

    @Override
    public String toString() {
        return "%d turns acknowledged, %d lost, %d doubled, %d unreadable, %d invalid, %d failed"
                .formatted(acknowledged, lost.size(), doubled.size(), unreadable.size(), invalid.size(), failed.size());
    }
}
