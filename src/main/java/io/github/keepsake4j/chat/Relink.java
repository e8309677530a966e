package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * After a clear: what the memory showed, to be linked to when it is added again at once, as a framework does that wants
 * to remove a message. Instances that were handed out are found wherever they stand; equal messages only in order.
 * Immutable, so that a link counts only once it is written.
 *
 * @param anchor the head when the memory was cleared
 * @param linked what was added again
 * @param left what was shown and may still be linked to
 * @param forms what else stands for what was shown
 * @param missingParent the id of a parent that is not there, or null
 * @param summary what the summary covered that was shown, or null
 * @param behindSummary whether it was added again
 */
record Relink(
        String anchor,
        List<LoggedMessage> linked,
        List<LoggedMessage> left,
        Forms forms,
        @Nullable String missingParent,
        @Nullable String summary,
        boolean behindSummary) {

    /** Where no summary was shown. */
    Relink(
            String anchor,
            List<LoggedMessage> linked,
            List<LoggedMessage> left,
            Forms forms,
            @Nullable String missingParent) {
        this(anchor, linked, left, forms, missingParent, null, false);
    }

    /** With one more message linked, or null if it was not shown before. */
    @Nullable
    Relink with(ChatMessage message) {
        if (Summarization.isSummary(message)) {
            return summary == null ? null : new Relink(anchor, linked, left, forms, missingParent, summary, true);
        }
        int found = indexOf(message);
        if (found < 0) {
            return null;
        }
        List<LoggedMessage> more = new ArrayList<>(linked);
        more.add(left.get(found));
        return new Relink(
                anchor, more, left.subList(found + 1, left.size()), forms, missingParent, summary, behindSummary);
    }

    /** What the memory shows now. */
    View view() {
        return View.of(anchor, ViewChange.runsOf(linked, missingParent), ViewChange.runsOf(left, missingParent))
                .behindSummary(behindSummary ? summary : null);
    }

    private int indexOf(ChatMessage message) {
        for (int i = 0; i < left.size(); i++) {
            for (ChatMessage form : forms.of(left.get(i))) {
                if (form == message) {
                    return i;
                }
            }
        }
        return !left.isEmpty() && forms.areEqual(message, left.get(0)) ? 0 : -1;
    }
}
