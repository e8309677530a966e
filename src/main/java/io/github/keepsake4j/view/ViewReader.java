package io.github.keepsake4j.view;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the messages that a caller sees. Without a view, these are the messages of the branch. If a view is in force,
 * they are the view's runs and the messages that follow its anchor. A branch without a view, or one that has outgrown
 * its view, costs one read. If the memory does not have a run, for example after a backup was restored, the run is left
 * out and a warning is logged.
 */
public final class ViewReader {

    private static final Logger LOG = LoggerFactory.getLogger(ViewReader.class);

    private final MessageLog log;
    private final MemoryKey key;
    private final ReadQuery query;
    private final long epoch;

    /** Newest first, unlike every list that this class returns. */
    private final List<LoggedMessage> found = new ArrayList<>();

    private long tokens;
    private @Nullable LoggedMessage system;
    private @Nullable LoggedMessage user;
    private @Nullable String missingParent;
    private boolean complete = true;

    /** Whether a summary replaces the runs, so that only their system message is needed. */
    private boolean summarized;

    private ViewReader(MessageLog log, MemoryKey key, ReadQuery query, long epoch) {
        this.log = log;
        this.key = key;
        this.query = query;
        this.epoch = epoch;
    }

    /**
     * Reads the newest part of the messages that a memory shows.
     *
     * <p>If a view is in force, only a summary that covers a message behind the view's anchor counts. The oldest
     * messages, if requested, are those with which the view begins: the messages of its runs in their order, then those
     * that follow its anchor. If the first read does not return them, each run that is needed costs one more read, and
     * so do the messages that follow the anchor.
     *
     * @param log where to read
     * @param key the memory
     * @param query the bounds; they count the view's messages
     * @return a tail whose messages, oldest messages, system message and completeness are the view's
     */
    public static Tail read(MessageLog log, MemoryKey key, ReadQuery query) {
        return inOneEpoch(() -> {
            Tail branch = log.read(key, query);
            return resolve(log, key, query, branch, branch.view());
        });
    }

    /**
     * Reads as {@link #read} does, as if a view were in force.
     *
     * @param log where to read
     * @param key the memory
     * @param query the bounds
     * @param view a view that was in force on the branch, or null for none
     * @return a tail of that view's messages
     */
    public static Tail showing(MessageLog log, MemoryKey key, ReadQuery query, @Nullable View view) {
        return inOneEpoch(() -> {
            Tail branch = log.read(key, query);
            Tail other = part(branch, branch.messages(), view, branch.complete(), branch.missingParent());
            return resolve(log, key, query, other, view);
        });
    }

    private static Tail resolve(MessageLog log, MemoryKey key, ReadQuery query, Tail branch, @Nullable View view) {
        return view == null ? branch : new ViewReader(log, key, query, branch.epoch()).resolve(branch, view);
    }

    /**
     * The largest number of messages of a list that was never set. It is more than a model reads, and fits in a small
     * heap.
     */
    public static final int MOST_UNSET = 10_000;

    /** The largest sum of these messages' stored tokens. */
    public static final int MOST_UNSET_TOKENS = 1_000_000;

    /**
     * Reads all messages that a memory shows. If no view is in force, reads at most the newest {@value #MOST_UNSET}
     * messages of {@value #MOST_UNSET_TOKENS} tokens, from a turn's question on, and the system message in force before
     * them. If one turn is larger, it is its question and its newest rounds. The cost depends on the number of returned
     * messages and on the surplus of the guess, not on the size of the branch.
     *
     * @param log where to read
     * @param key the memory
     * @param guess the number of messages of the first read, 1 or more; if it is too low, more reads follow
     * @param least the number of newest messages that are returned regardless of their number and tokens, 0 or more
     * @return a tail whose messages, system message and completeness are the view's
     */
    public static Tail everything(MessageLog log, MemoryKey key, int guess, int least) {
        return inOneEpoch(() -> everythingOnce(log, key, guess, least));
    }

    private static Tail everythingOnce(MessageLog log, MemoryKey key, int guess, int least) {
        Tail newest = log.read(key, ReadQuery.newest(guess));
        ViewReader reader = new ViewReader(log, key, ReadQuery.wholeBranch(), newest.epoch());
        View view = newest.view();
        if (view == null) {
            return reader.unset(newest, least);
        }
        boolean reachesView = newest.complete()
                || newest.messages().get(0).sequence() <= view.anchorSequence()
                || Objects.equals(newest.messages().get(0).parentId(), view.anchor());
        Tail branch = reachesView
                ? newest
                : reader.readOn(newest, ReadQuery.wholeBranch().after(view.anchor()));
        return reader.resolve(branch, view);
    }

    private Tail unset(Tail newest, int least) {
        int size = newest.messages().size();
        long tokens = MOST_UNSET_TOKENS
                - newest.messages().stream().mapToLong(LoggedMessage::tokens).sum();
        boolean isEnough = newest.complete() || size >= Math.max(MOST_UNSET, least) || tokens <= 0;
        Tail tail = isEnough
                ? newest
                : readOn(newest, ReadQuery.newest(MOST_UNSET - size).upToTokens(tokens));
        int from = tail.messages().size() - newestOf(tail.messages(), least);
        if (from == 0 && tail.complete()) {
            return tail;
        }
        return part(tail, fromQuestion(tail, from), null, false, null);
    }

    /** Returns the number of newest messages that are shown if no list was set. */
    private static int newestOf(List<LoggedMessage> messages, int least) {
        int count = 0;
        long tokens = 0;
        for (int i = messages.size() - 1; i >= 0; i--) {
            tokens += messages.get(i).tokens();
            if (count >= Math.max(1, least) && (count >= MOST_UNSET || tokens > MOST_UNSET_TOKENS)) {
                break;
            }
            count++;
        }
        return count;
    }

    /** Returns a list that a model can read: it begins with a turn, or with the question and a later round of one. */
    private static List<LoggedMessage> fromQuestion(Tail tail, int from) {
        List<LoggedMessage> newest =
                tail.messages().subList(from, tail.messages().size());
        int question = indexOf(newest, UserMessage.class);
        int begin = Math.max(0, question < 0 ? indexOf(newest, AiMessage.class) : question);
        List<LoggedMessage> shown = new ArrayList<>(newest.subList(begin, newest.size()));
        for (LoggedMessage known : Arrays.asList(question < 0 ? tail.user() : null, tail.system())) {
            if (known != null && !shown.contains(known)) {
                shown.add(0, known);
            }
        }
        return shown;
    }

    private static int indexOf(List<LoggedMessage> messages, Class<? extends ChatMessage> type) {
        int at = 0;
        while (at < messages.size() && !type.isInstance(messages.get(at).message())) {
            at++;
        }
        return at < messages.size() ? at : -1;
    }

    /**
     * Reads the messages that a memory shows and that were appended behind a sequence. It may return more messages.
     *
     * @param log where to read
     * @param key the memory
     * @param sequence the sequence, 0 or more
     * @param guess the number of messages of the first read, 1 or more; if it is too low, more reads follow
     * @return a tail whose messages, system message and completeness are the view's
     */
    public static Tail since(MessageLog log, MemoryKey key, long sequence, int guess) {
        for (long most = guess; ; most *= 4) {
            Tail tail = read(log, key, ReadQuery.newest((int) Math.min(most, Integer.MAX_VALUE)));
            View view = tail.view();
            // Runs are in any order, so each run may contain newer messages.
            boolean inRuns = view != null && view.anchorSequence() > sequence;
            boolean reached =
                    !tail.messages().isEmpty() && tail.messages().get(0).sequence() <= sequence;
            if (tail.complete() || most > Integer.MAX_VALUE || (reached && !inRuns)) {
                return tail;
            }
        }
    }

    /** Reads again if the memory is erased between two of the reads. */
    private static Tail inOneEpoch(Supplier<Tail> reads) {
        while (true) {
            try {
                return reads.get();
            } catch (ErasedMeanwhile e) {
                LOG.debug("A memory was erased while it was read; it is read again");
            }
        }
    }

    /** The memory was erased since the first read. */
    private static final class ErasedMeanwhile extends RuntimeException {

        ErasedMeanwhile() {
            super(null, null, false, false);
        }
    }

    /**
     * Reads more after a first read. If the memory was erased and written again since, the ids may name no or other
     * messages.
     */
    private Tail readMore(ReadQuery more) {
        try {
            return checked(log.read(key, more));
        } catch (UnknownMessageException e) {
            checked(log.read(key, ReadQuery.newest(0)));
            throw e;
        }
    }

    private Tail checked(Tail read) {
        if (read.epoch() != epoch) {
            throw new ErasedMeanwhile();
        }
        return read;
    }

    private Tail readOn(Tail newest, ReadQuery more) {
        String next = Objects.requireNonNull(newest.messages().get(0).parentId(), "parent");
        Tail older = readMore(more.endingIn(next));
        List<LoggedMessage> messages = new ArrayList<>(older.messages());
        messages.addAll(newest.messages());
        boolean toRoot = more.after() == null;
        String missing = toRoot ? older.missingParent() : null;
        return part(newest, messages, newest.view(), toRoot && older.complete(), missing);
    }

    /**
     * Returns a read with other messages, or as if another view were in force.
     *
     * @param read the read
     * @param messages a part of its messages, or more of the same branch, oldest first
     * @param view the view, or null
     * @param complete whether no message of the branch is left out
     * @param missingParent the parent that is not in the memory, or null
     * @return a tail with all else that was read
     */
    public static Tail part(
            Tail read,
            List<LoggedMessage> messages,
            @Nullable View view,
            boolean complete,
            @Nullable String missingParent) {
        return new Tail(
                read.position(),
                messages,
                read.oldest(),
                read.system(),
                read.user(),
                view,
                read.summary(),
                complete,
                missingParent);
    }

    private Tail resolve(Tail branch, View view) {
        List<LoggedMessage> messages = branch.messages();
        int i = messages.size();
        while (i > 0 && messages.get(i - 1).sequence() > view.anchorSequence()) {
            take(messages.get(--i));
        }
        int following = found.size();
        system = behind(view, branch.system());
        user = behind(view, branch.user());
        // Otherwise the bounds were reached behind the anchor, and messages that follow the anchor are left out.
        complete = i > 0 || branch.complete() || reachesAnchor(messages, branch, view);
        List<LoggedMessage> pool = messages.subList(0, i);
        Map<String, Integer> places = new HashMap<>();
        for (int at = 0; at < i; at++) {
            places.put(pool.get(at).id(), at);
        }
        Summary newest = branch.summary();
        summarized = newest != null && isBehindAnchor(newest, view);
        Summary summary = summarized || !query.toSummary() ? newest : before(view, newest);
        missingParent = branch.missingParent();
        boolean allBehindAnchor = complete;
        int run = view.runs().size();
        // If the branch has no such message, the runs are not searched for one.
        boolean noSystem = branch.system() == null;
        boolean noUser = branch.user() == null;
        while (run > 0 && !(isFull() && (noSystem || system != null) && (noUser || user != null))) {
            takeRun(view.runs().get(--run), branch, pool, places);
        }
        complete = summarized ? allBehindAnchor : complete && run == 0;
        List<LoggedMessage> oldestFirst = new ArrayList<>(found);
        Collections.reverse(oldestFirst);
        return new Tail(
                branch.position(),
                once(oldestFirst, following),
                oldest(branch, view, oldestFirst),
                system,
                user,
                view,
                summary,
                complete,
                complete ? missingParent : null);
    }

    /**
     * Leaves out of the runs the messages that follow the anchor, which a view may name if the head was moved before or
     * since.
     *
     * @param following the number of messages that follow the anchor
     */
    private static List<LoggedMessage> once(List<LoggedMessage> shown, int following) {
        int ofRuns = shown.size() - following;
        if (ofRuns == 0) {
            return shown;
        }
        List<LoggedMessage> behind = shown.subList(ofRuns, shown.size());
        Set<String> ids = behind.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return Stream.concat(
                        shown.subList(0, ofRuns).stream().filter(message -> !ids.contains(message.id())),
                        behind.stream())
                .toList();
    }

    /** Returns whether all messages that follow the anchor were read, although none before it was. */
    private boolean reachesAnchor(List<LoggedMessage> messages, Tail branch, View view) {
        String next = messages.isEmpty()
                ? (query.from() == null ? branch.head() : query.from())
                : messages.get(0).parentId();
        return Objects.equals(view.anchor(), next);
    }

    private void takeRun(View.Run run, Tail branch, List<LoggedMessage> pool, Map<String, Integer> places) {
        int i = places.getOrDefault(run.last(), -1);
        try {
            if (i < 0) {
                LoggedMessage alone = alone(run, branch);
                if (alone == null) {
                    take(readRun(run.last(), run.after(), 0));
                } else {
                    takeFromBranch(alone);
                }
                return;
            }
            // The pool is a part of a branch, so it holds the run from the later one of their two beginnings.
            int begin = i;
            while (begin >= 0 && !pool.get(begin).id().equals(run.after())) {
                begin--;
            }
            String next = begin < 0 ? pool.get(0).parentId() : run.after();
            Tail rest = null;
            if (!Objects.equals(next, run.after())) {
                boolean isRoot = next == null || next.equals(branch.missingParent());
                if (isRoot && run.after() != null) {
                    throw UnknownMessageException.noAncestor(key, "view");
                }
                rest = isRoot ? null : readRun(Objects.requireNonNull(next), run.after(), i + 1);
            }
            for (int at = i; at > begin; at--) {
                takeFromBranch(pool.get(at));
            }
            if (rest != null) {
                take(rest);
            }
        } catch (UnknownMessageException e) {
            LOG.warn("Memory {}: its view names messages that are not in the memory; they are left out", key);
        }
    }

    /**
     * Returns the run's only message if the read of the branch returned it. A system message may be far back on the
     * branch.
     */
    private static @Nullable LoggedMessage alone(View.Run run, Tail branch) {
        for (LoggedMessage known : Arrays.asList(branch.system(), branch.user())) {
            if (known != null && known.id().equals(run.last()) && Objects.equals(known.parentId(), run.after())) {
                return known;
            }
        }
        return null;
    }

    private void takeFromBranch(LoggedMessage message) {
        if (isFull()) {
            complete = false;
        } else {
            take(message);
        }
        if (system == null && message.message() instanceof SystemMessage) {
            system = message;
        }
        if (user == null && message.message() instanceof UserMessage) {
            user = message;
        }
    }

    /** Reads as much of a run as fits behind the messages that were found in the heap. */
    private Tail readRun(String last, @Nullable String after, int before) {
        int room = isFull() ? 0 : Math.max(0, query.maxMessages() - found.size() - before);
        return readMore(
                ReadQuery.newest(room).endingIn(last).after(after).upToTokens(Math.max(0, query.maxTokens() - tokens)));
    }

    private void take(Tail part) {
        int i = part.messages().size() - 1;
        while (i >= 0 && !isFull()) {
            take(part.messages().get(i--));
        }
        complete &= i < 0 && part.complete();
        missingParent = missingParent == null ? part.missingParent() : missingParent;
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
     * Returns whether a summary covers messages behind the anchor. A summary from before the view was set covers
     * messages that the view hides, so it does not count. A summary of messages that follow the anchor was created from
     * the messages of the view, so it replaces the runs too.
     */
    private boolean isBehindAnchor(Summary summary, View view) {
        String covered = summary.coversUpTo();
        View there = readMore(ReadQuery.newest(0).endingIn(covered)).view();
        return there != null && Objects.equals(there.anchor(), view.anchor()) && !covered.equals(view.anchor());
    }

    /** Returns the summary that is shown before the runs. */
    private @Nullable Summary before(View view, @Nullable Summary newest) {
        String covered = view.summary();
        if (covered == null || (newest != null && newest.coversUpTo().equals(covered))) {
            return covered == null ? null : newest;
        }
        Summary found = null;
        for (Summary summary : Reads.summaries(log, key)) {
            found = summary.coversUpTo().equals(covered) ? summary : found;
        }
        checked(log.read(key, ReadQuery.newest(0)));
        return found;
    }

    private boolean isFull() {
        return summarized || found.size() >= query.maxMessages() || tokens >= query.maxTokens();
    }

    /**
     * Returns the index of a message.
     *
     * @param messages where to look, from the end on
     * @param id its id, or null for none
     * @return the index, or -1 if it is not among the messages
     */
    public static int indexOf(List<LoggedMessage> messages, @Nullable String id) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            if (messages.get(i).id().equals(id)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the messages with which the view begins. Its newest part must be known. */
    private List<LoggedMessage> oldest(Tail branch, View view, List<LoggedMessage> shown) {
        if (complete && !summarized) {
            return shown.subList(0, Math.min(query.oldest(), shown.size()));
        }
        String end = query.from() == null
                ? Objects.requireNonNull(branch.head(), "a view's branch has an end")
                : query.from();
        List<LoggedMessage> oldest = new ArrayList<>();
        for (View.Run run : view.runs()) {
            oldest.addAll(firstOf(branch, end, run.after(), run.last(), query.oldest() - oldest.size()));
        }
        oldest.addAll(firstOf(branch, end, view.anchor(), end, query.oldest() - oldest.size()));
        return oldest;
    }

    /**
     * Returns the messages with which a run begins. They are read only if the parts of the branch that were read do not
     * contain them.
     */
    private List<LoggedMessage> firstOf(Tail branch, String end, @Nullable String after, String last, int room) {
        if (room == 0 || last.equals(after)) {
            return List.of();
        }
        List<List<LoggedMessage>> parts = List.of(branch.oldest(), branch.messages());
        // A run of another branch may begin on this branch but continue elsewhere.
        if (last.equals(end) || parts.stream().anyMatch(part -> indexOf(part, last) >= 0)) {
            for (List<LoggedMessage> part : parts) {
                int begin = behind(part, after);
                int stop = indexOf(part, last) < 0 ? part.size() : indexOf(part, last) + 1;
                if (begin >= 0 && (stop - begin >= room || indexOf(part, last) >= begin)) {
                    return part.subList(begin, begin + Math.min(stop - begin, room));
                }
            }
        }
        try {
            return readMore(ReadQuery.newest(0).endingIn(last).after(after).alsoOldest(room))
                    .oldest();
        } catch (UnknownMessageException e) {
            // The read of the newest part has already logged the missing messages.
            return List.of();
        }
    }

    /**
     * Returns the index in a part of a branch behind a message.
     *
     * @param part the part, oldest first
     * @param id the message's id, or null for the root
     * @return the index; negative if it is not known
     */
    public static int behind(List<LoggedMessage> part, @Nullable String id) {
        int there = indexOf(part, id);
        return there >= 0 || (!part.isEmpty() && Objects.equals(part.get(0).parentId(), id)) ? there + 1 : -1;
    }
}
