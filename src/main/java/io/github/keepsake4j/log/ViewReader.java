package io.github.keepsake4j.log;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a caller sees: the branch, or, where a view is in force, the view's runs and what follows its anchor. The
 * algorithm once, above the port: a branch without a view, or one that has outgrown its view, costs one read.
 */
public final class ViewReader {

    private final MessageLog log;
    private final MemoryKey key;

    /** Newest first, unlike everything that leaves this class. */
    private final List<LoggedMessage> found = new ArrayList<>();

    private final @Nullable String from;
    private final int maxMessages;
    private final long maxTokens;
    private long tokens;
    private @Nullable LoggedMessage system;
    private @Nullable LoggedMessage user;
    private boolean complete = true;

    /** Whether a summary stands for the runs, so that only their system message is looked for. */
    private boolean summarized;

    private ViewReader(MessageLog log, MemoryKey key, ReadQuery query) {
        this.log = log;
        this.key = key;
        this.from = query.from();
        this.maxMessages = query.maxMessages();
        this.maxTokens = query.maxTokens();
    }

    /**
     * Reads the newest part of what a memory shows. Where a view is in force, only a summary that covers something behind
     * its anchor counts.
     *
     * @param log where to read
     * @param key the memory
     * @param query the bounds; they count the view's messages
     * @return a tail whose messages, system message and completeness are the view's
     */
    public static Tail read(MessageLog log, MemoryKey key, ReadQuery query) {
        Tail branch = log.read(key, query);
        View view = branch.view();
        return view == null ? branch : new ViewReader(log, key, query).resolve(branch, view);
    }

    private Tail resolve(Tail branch, View view) {
        List<LoggedMessage> messages = branch.messages();
        int i = messages.size();
        while (i > 0 && messages.get(i - 1).sequence() > view.anchorSequence()) {
            take(messages.get(--i));
        }
        system = behind(view, branch.system());
        user = behind(view, branch.user());
        // Else the bounds were reached behind the anchor, and what is left out follows it.
        complete = i > 0 || branch.complete() || reachesAnchor(messages, branch, view);
        List<LoggedMessage> pool = messages.subList(0, i);
        Summary summary = branch.summary();
        summarized = summary != null && isBehindAnchor(summary, view);
        boolean allBehindAnchor = complete;
        int run = view.runs().size();
        // Where the branch has none at all, none is looked for in run after run.
        boolean noSystem = branch.system() == null;
        boolean noUser = branch.user() == null;
        while (run > 0 && !(isFull() && (noSystem || system != null) && (noUser || user != null))) {
            takeRun(view.runs().get(--run), pool);
        }
        complete = summarized ? allBehindAnchor : complete && run == 0;
        List<LoggedMessage> oldestFirst = new ArrayList<>(found);
        Collections.reverse(oldestFirst);
        return new Tail(
                branch.head(),
                branch.epoch(),
                branch.revision(),
                oldestFirst,
                system,
                user,
                view,
                summarized ? summary : null,
                complete,
                complete ? branch.missingParent() : null);
    }

    /** Whether all that follows the anchor was read, though nothing before it. */
    private boolean reachesAnchor(List<LoggedMessage> messages, Tail branch, View view) {
        String next = messages.isEmpty()
                ? (from == null ? branch.head() : from)
                : messages.get(0).parentId();
        return Objects.equals(view.anchor(), next);
    }

    private void takeRun(View.Run run, List<LoggedMessage> pool) {
        int last = indexOf(pool, run.last());
        int after = run.after() == null ? -1 : indexOf(pool, run.after());
        if (last >= 0 && after >= 0) {
            for (int i = last; i > after; i--) {
                if (isFull()) {
                    complete = false;
                } else {
                    take(pool.get(i));
                }
                if (system == null && pool.get(i).message() instanceof SystemMessage) {
                    system = pool.get(i);
                }
                if (user == null && pool.get(i).message() instanceof UserMessage) {
                    user = pool.get(i);
                }
            }
            return;
        }
        int room = isFull() ? 0 : maxMessages - found.size();
        Tail part = log.read(
                key,
                ReadQuery.newest(room)
                        .endingIn(run.last())
                        .after(run.after())
                        .upToTokens(Math.max(0, maxTokens - tokens)));
        for (int i = part.messages().size() - 1; i >= 0; i--) {
            take(part.messages().get(i));
        }
        complete &= part.complete();
        system = system == null ? part.system() : system;
        user = user == null ? part.user() : user;
    }

    private static @Nullable LoggedMessage behind(View view, @Nullable LoggedMessage message) {
        return message != null && message.sequence() > view.anchorSequence() ? message : null;
    }

    private void take(LoggedMessage message) {
        found.add(message);
        tokens += message.tokens();
    }

    /**
     * A summary from before the view was set tells of what the view hides, so it does not count. One of what followed the
     * anchor was made of what the view showed, and stands for the runs too.
     */
    private boolean isBehindAnchor(Summary summary, View view) {
        String covered = summary.coversUpTo();
        View there = log.read(key, ReadQuery.newest(0).endingIn(covered)).view();
        return there != null && Objects.equals(there.anchor(), view.anchor()) && !covered.equals(view.anchor());
    }

    private boolean isFull() {
        return summarized || found.size() >= maxMessages || tokens >= maxTokens;
    }

    private static int indexOf(List<LoggedMessage> messages, String id) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            if (messages.get(i).id().equals(id)) {
                return i;
            }
        }
        return -1;
    }
}
