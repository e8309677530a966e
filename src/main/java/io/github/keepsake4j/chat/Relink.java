package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * After a clear: what the memory showed, to be linked to when it is added again, as a framework does that wants to
 * remove a message. Instances that were handed out are found wherever they stand; equal messages only in order.
 */
final class Relink {

    private final String anchor;
    private final List<LoggedMessage> shown;
    private final List<View.Run> runs = new ArrayList<>();
    private int next;

    Relink(String anchor, List<LoggedMessage> shown) {
        this.anchor = anchor;
        this.shown = shown;
    }

    /** Takes a message that was shown before. */
    boolean takes(ChatMessage message) {
        int found = indexOf(message);
        if (found < 0) {
            return false;
        }
        LoggedMessage known = shown.get(found);
        ViewChange.extend(runs, known.parentId(), known.id());
        next = found + 1;
        return true;
    }

    /** What the memory shows now. */
    View view() {
        return View.of(anchor, runs, ViewChange.runsOf(shown.subList(next, shown.size())));
    }

    private int indexOf(ChatMessage message) {
        for (int i = next; i < shown.size(); i++) {
            if (shown.get(i).message() == message) {
                return i;
            }
        }
        return next < shown.size() && shown.get(next).message().equals(message) ? next : -1;
    }
}
