package io.github.keepsake4j.chat;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What makes the log show a list that somebody set: what is new is appended, and a view is kept only if the list is not
 * simply what is shown and what is new. Pure.
 *
 * @param append the step, a compare-and-set on the head
 * @param change what the list is
 * @param tail what it was compared with
 */
record ViewStep(Append append, ViewChange change, Tail tail) {

    /**
     * Works out the step.
     *
     * @param mayFork whether a list that is a beginning of what is shown and then new may become a branch
     * @param keepsSummary whether the summary that is shown, if there is one, stays
     * @return the step, or null if the list is what is shown
     */
    static @Nullable ViewStep of(ViewChange change, Tail tail, boolean mayFork, boolean keepsSummary) {
        List<NewMessage> added = change.added();
        boolean dropsSummary = tail.summary() != null && !keepsSummary;
        if (!dropsSummary && change.isContinuation()) {
            return added.isEmpty() ? null : step(Append.under(Parent.head(), added), change, tail);
        }
        LoggedMessage fork = mayFork && !dropsSummary ? change.fork(tail.view()) : null;
        return fork != null
                ? step(Append.under(Parent.of(fork.id()), added), change, tail)
                : withView(change, tail, List.of(), keepsSummary);
    }

    /**
     * The step that shows exactly the list, whatever was shown.
     *
     * @param cleared what may still be linked to
     * @param keepsSummary whether a summary stands before the list, if there is one
     */
    static ViewStep withView(ViewChange change, Tail tail, List<View.Run> cleared, boolean keepsSummary) {
        View view = View.of(null, change.runs(tail.head(), tail.missingParent()), cleared)
                .behindSummary(keepsSummary ? summary(tail) : null);
        return step(new Append(Parent.head(), change.added(), null, null, view, false), change, tail);
    }

    /** The view that shows nothing and remembers all that was shown. */
    static View cleared(@Nullable View view, String head) {
        if (view == null) {
            return View.of(head, List.of(), List.of(new View.Run(null, head)));
        }
        List<View.Run> runs = new ArrayList<>(view.runs());
        if (!head.equals(view.anchor())) {
            runs.add(new View.Run(view.anchor(), head));
        }
        return View.of(head, List.of(), runs);
    }

    /**
     * What is left to do after the step: the compare-and-set does not see that somebody changed what is shown and appended
     * nothing, so a list that only continues would follow something else now.
     *
     * @return a view to set, or null if there is nothing to do
     */
    @Nullable
    Append afterwards(AppendResult result) {
        boolean continues = append.view() == null && append.parent() instanceof Parent.Head;
        if (!continues || result.revision() == tail.revision()) {
            return null;
        }
        // Behind our messages, so that what others have added since then stays.
        String anchor = Objects.requireNonNull(result.head(), "head");
        return Append.viewOnly(View.of(anchor, change.runs(tail.head(), tail.missingParent()), List.of())
                .behindSummary(summary(tail)));
    }

    /** What the summary covers that stands before what is shown. */
    private static @Nullable String summary(Tail tail) {
        if (tail.summary() != null) {
            return tail.summary().coversUpTo();
        }
        return tail.view() == null ? null : tail.view().summary();
    }

    private static ViewStep step(Append append, ViewChange change, Tail tail) {
        return new ViewStep(append.expectingHead(tail.head()), change, tail);
    }
}
