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

    private final int maxMessages;
    private final long maxTokens;
    private long tokens;
    private @Nullable LoggedMessage system;
    private @Nullable LoggedMessage user;
    private boolean complete = true;

    private ViewReader(MessageLog log, MemoryKey key, ReadQuery query) {
        this.log = log;
        this.key = key;
        this.maxMessages = query.maxMessages();
        this.maxTokens = query.maxTokens();
    }

    /**
     * Reads the newest part of what a memory shows.
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
        // Nothing older than the anchor was read although there is more: the bounds were reached behind the anchor.
        complete = i > 0 || branch.complete() || Objects.equals(view.anchor(), branch.head());
        List<LoggedMessage> pool = messages.subList(0, i);
        for (int run = view.runs().size() - 1; run >= 0 && !(isFull() && system != null && user != null); run--) {
            takeRun(view.runs().get(run), pool);
        }
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
                branch.summary(),
                complete,
                complete ? branch.missingParent() : null);
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

    private boolean isFull() {
        return found.size() >= maxMessages || tokens >= maxTokens;
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
