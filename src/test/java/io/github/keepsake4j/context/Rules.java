package io.github.keepsake4j.context;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.context.ContextTurn.Round;
import io.github.keepsake4j.context.ContextTurn.Standing;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.Promise.Most;
import io.github.keepsake4j.context.Promise.Unit;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.RandomOutcomes;
import io.github.keepsake4j.text.TextShortener;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The properties that every view must have, judged by the log and by the strategy's promise. The division of a branch
 * into turns, and the repairs, are taken from {@link Context} without any limit. Whether the repairs' reasons are true
 * is checked here ({@link Rule#REASONS_ARE_TRUE}), and so is everything that limits do.
 */
final class Rules {

    /** The rules. */
    enum Rule {
        /**
         * A view has no more messages, turns, or tokens (by the estimator's own count of the list) than the limit
         * allows.
         */
        LIMITS_HOLD,
        /**
         * The newest turn is missing only if it does not fit: its user message with its last round, or with an answer
         * that once closed it. If the turn is open, this is an overflow; if it is closed, the turn is just removed.
         */
        OVERFLOW_IS_REAL,
        /** The current system message is first, and it is the only one. */
        SYSTEM_FIRST,
        /** Calls and all their results are shown together or not at all. Each result directly follows its calls. */
        ROUNDS_STAY_WHOLE,
        /** Except for results, messages are in the order of the log. */
        ORDER_OF_THE_LOG,
        /**
         * Whole turns are removed, oldest first, except for pinned ones. Only then are the newest turn's oldest rounds
         * removed.
         */
        OLDEST_TURNS_GO,
        /**
         * The removed messages were too many. The excess is at most the step plus the turn or round at which the limit
         * was reached.
         */
        NO_MORE_THAN_NEEDED,
        /** The newest user message is shown as long as an older one is shown that is not pinned. */
        NEWEST_USER_STAYS,
        /** Every message is from the log, or is the marker in place of a result of the same call. */
        NOTHING_INVENTED,
        /** A tool result is whole or cut to its share, by its size and its round alone. */
        RESULTS_HAVE_THEIR_SHARE,
        /** A result that was shortened is shortened in the same way while the system message stays the same. */
        SHORTENED_THE_SAME,
        /** Old tool results are cleared, and the newest are not. */
        OLD_RESULTS_ARE_CLEARED,
        /** Every message that was read is either shown or omitted, and the reason for omitting it is true. */
        REASONS_ARE_TRUE,
        /** The same input gives the same output, however a combination is put together. */
        SAME_AGAIN,
        /** A message that a limit removed never comes back while the system message stays the same. */
        NEVER_BACK,
        /** A result that was cleared never becomes whole again. */
        CLEARED_FOR_GOOD,
        /** If nothing was removed and nothing was repaired, the previous bytes are a prefix of the current ones. */
        PREFIX_STAYS,
        /** With a step, the window's start rarely moves. */
        MOVES_RARELY,
        /** OpenAI, Anthropic and Gemini would accept the view. */
        PROVIDERS_TAKE_IT
    }

    /** A rule that does not hold, and the place. */
    record Broken(Rule rule, String where) {}

    private static final MessageCodec CODEC = new MessageCodec();

    private final Promise promise;
    private final TokenCountEstimator estimator;
    private final Part log;
    private final View view;
    private final List<Broken> broken = new ArrayList<>();

    /** The branch in turns, before any limit. */
    private Context all;

    /** The turns without what is passed by. */
    private List<ContextTurn> turns;

    private final Map<String, Integer> places = new HashMap<>();
    private final Set<String> shown;

    /** The branch's first messages that are pinned, whether these are shown or not. */
    private final Set<String> pinnedFirst;

    private Map<String, String> callsOfResults;

    private Rules(Promise promise, TokenCountEstimator estimator, Part whole, Part log, View view) {
        this.promise = promise;
        this.estimator = estimator;
        this.log = log;
        this.view = view;
        this.all = whole(log);
        this.turns = all.turns();
        log.messages().forEach(message -> places.put(message.id(), places.size()));
        this.pinnedFirst = whole.messages().stream()
                .limit(promise.pinnedFirst())
                .map(LoggedMessage::id)
                .collect(Collectors.toSet());
        this.shown = view.shown().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        this.all = all.withTurns(inOrder(all.turns()), all.over());
        this.turns = all.turns();
        this.turns = turns.stream().map(this::passedBy).filter(Objects::nonNull).toList();
    }

    /** Returns a branch that was read from its beginning, even if what was first is left out. */
    private static Context whole(Part log) {
        return Context.of(View.ID, log.system(), log.user(), log.messages(), log.messages(), null);
    }

    private static Set<String> endedBadly(Part log) {
        Set<String> ids = log.messages().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        RandomOutcomes.without(log.messages()).forEach(message -> ids.remove(message.id()));
        return ids;
    }

    /** Returns which turns are passed by, by the ids of their user messages, and what is left of them. */
    static Map<String, List<Round>> passed(Promise promise, TokenCountEstimator estimator, Part log) {
        Rules rules = new Rules(promise, estimator, log, log, new View(List.of(), List.of(), false));
        Map<String, List<Round>> left = new HashMap<>();
        rules.turns.forEach(turn -> left.put(turn.user().id(), turn.rounds()));
        Map<String, List<Round>> passed = new HashMap<>();
        for (ContextTurn turn : rules.all.turns()) {
            List<Round> rest = left.getOrDefault(turn.user().id(), List.of());
            if (!rest.equals(turn.rounds()) || !left.containsKey(turn.user().id())) {
                passed.put(turn.user().id(), rest);
            }
        }
        return passed;
    }

    /** Returns the turn, or its question and answer if it is passed by, or null if nothing of it is shown. */
    private ContextTurn passedBy(ContextTurn turn) {
        boolean newest = turn == turns.get(turns.size() - 1);
        boolean over = !newest || turn.closed() || turn.rounds().isEmpty();
        boolean isPinned = has(turn).anyMatch(message -> isPinned(turn, message));
        List<Most> exceeded = promise.bounds().stream()
                .filter(most -> weight(most, turn) > room(most))
                .toList();
        if (!over || isPinned || exceeded.isEmpty()) {
            return turn;
        }
        List<Round> answer = last(turn.rounds());
        boolean isShort = turn.closed()
                && answer.get(0).hidden() == null
                && exceeded.stream()
                        .allMatch(most -> weight(most, turn, turn.user()) + weight(most, turn, answer.get(0))
                                <= Math.min(
                                        most.unit() == Unit.TOKENS ? most.limit() / 4 : Math.max(most.limit() / 4, 2),
                                        room(most)));
        return isShort
                ? new ContextTurn(
                        turn.user(), answer, turn.standing(), turn.place(), turn.pinned(), turn.form(), turn.cut())
                : null;
    }

    /**
     * Judges one view.
     *
     * @param promise the properties that it should have
     * @param estimator the estimator that counts tokens
     * @param log the whole branch
     * @param view the view
     * @param wholeRead whether the whole branch was read for it
     */
    static List<Broken> ofView(
            Promise promise, TokenCountEstimator estimator, Part whole, View wholeView, boolean wholeRead) {
        // A view that leaves out what has no answer is the view of the branch without it.
        List<LoggedMessage> unanswered = omitted(wholeView, Reason.UNANSWERED_QUESTION);
        Part log = without(whole, unanswered);
        View view = new View(
                wholeView.shown(),
                wholeView.omitted().stream()
                        .filter(omission -> omission.reason() != Reason.UNANSWERED_QUESTION)
                        .toList(),
                wholeView.overflow());
        Rules rules = new Rules(promise, estimator, whole, log, view);
        rules.unanswered(endedBadly(whole), unanswered);
        rules.nothingInvented();
        if (!rules.broken.isEmpty()) {
            return rules.broken;
        }
        rules.limits();
        rules.shares();
        rules.system();
        rules.order();
        rules.rounds();
        rules.oldestGo();
        rules.newestStays();
        rules.cleared(wholeRead);
        if (wholeRead) {
            rules.noMoreThanNeeded();
            rules.reasons();
        }
        ProviderRules.all(view.shown().stream().map(LoggedMessage::message).toList())
                .forEach(violation -> rules.breaks(Rule.PROVIDERS_TAKE_IT, violation.toString()));
        return rules.broken;
    }

    /**
     * Judges the views of a branch as it grows.
     *
     * @param promise the properties that they should have
     * @param estimator the estimator that counts tokens
     * @param growth the branch after each message
     * @param viewer returns the view of a branch
     * @param wholeRead whether the viewer reads the whole branch
     * @return for each broken rule, the first place where it is broken; empty if all rules hold
     */
    static List<Broken> ofGrowth(
            Promise promise, TokenCountEstimator estimator, List<Part> growth, View.Viewer viewer, boolean wholeRead) {
        History history = new History(promise, estimator);
        Map<Rule, Broken> first = new EnumMap<>(Rule.class);
        for (Part part : growth) {
            if (!wholeRead && (isUnclearBehindPins(promise, part) || isGuessed(part))) {
                break;
            }
            View view = viewer.of(part);
            List<Broken> broken = new ArrayList<>(ofView(promise, estimator, part, view, wholeRead));
            if (!wholeRead && isBeginningLost(part)) {
                broken.removeIf(one -> one.rule() == Rule.OVERFLOW_IS_REAL);
            }
            if (!view.equals(viewer.of(part))) {
                broken.add(new Broken(Rule.SAME_AGAIN, "asked twice"));
            }
            broken.addAll(history.next(part, view, wholeRead));
            broken.forEach(one -> first.putIfAbsent(
                    one.rule(),
                    new Broken(
                            one.rule(),
                            one.where() + " after " + part.messages().size() + " messages, of " + part)));
        }
        history.moves().forEach(one -> first.putIfAbsent(one.rule(), one));
        return List.copyOf(first.values());
    }

    private static List<LoggedMessage> omitted(View view, Reason reason) {
        return view.omitted().stream()
                .filter(omission -> omission.reason() == reason)
                .map(Omission::message)
                .toList();
    }

    private static Part without(Part log, List<LoggedMessage> left) {
        List<LoggedMessage> messages = log.messages().stream()
                .filter(message -> !left.contains(message))
                .toList();
        LoggedMessage user = log.user();
        if (left.contains(user)) {
            user = messages.stream()
                    .filter(message -> message.message() instanceof UserMessage)
                    .reduce((older, newer) -> newer)
                    .orElse(null);
        }
        return new Part(log.system(), user, messages);
    }

    /** Checks that questions without an answer are left out, and what belongs to them, and nothing else for this reason. */
    private void unanswered(Set<String> bad, List<LoggedMessage> left) {
        left.stream()
                .filter(message -> !bad.contains(message.id()))
                .forEach(message -> breaks(Rule.REASONS_ARE_TRUE, message.id() + " is not unanswered"));
        bad.stream().filter(shown::contains).forEach(id -> breaks(Rule.REASONS_ARE_TRUE, id + " is shown unanswered"));
    }

    /**
     * Returns whether the read messages may contain no round of the newest turn. This happens if the newest user
     * message has no text (the log knows no other one), or if all later messages belong to no turn or to earlier calls.
     */
    private static boolean isBeginningLost(Part part) {
        if (part.user() == null || (part.user().message() instanceof UserMessage user && isBlank(user))) {
            return true;
        }
        List<ContextTurn> turns = whole(part).turns();
        LoggedMessage last = part.messages().get(part.messages().size() - 1);
        List<Round> rounds = turns.get(turns.size() - 1).rounds();
        return last != part.user()
                && (rounds.isEmpty()
                        || !rounds.get(rounds.size() - 1).messages().contains(last));
    }

    /**
     * Returns whether it cannot be determined how the last pinned turn continues. This happens if the pinned turn was
     * retried after the part of the beginning that was read, or if it is followed by messages that are never shown.
     */
    private static boolean isUnclearBehindPins(Promise promise, Part part) {
        List<ContextTurn> turns = whole(part).turns();
        int first = Math.min(promise.pinnedFirst(), part.messages().size());
        Set<String> pinned = part.messages().subList(0, first).stream()
                .map(LoggedMessage::id)
                .collect(Collectors.toSet());
        boolean repeated = turns.stream()
                .anyMatch(turn -> turn.standing() == Standing.REPEATED
                        && pinned.contains(turn.user().id()));
        boolean unclear = first > 0
                && first < part.messages().size()
                && turns.stream().noneMatch(turn -> has(turn, part.messages().get(first)));
        // Whether an oldest question has an answer among what was not read is not known either.
        int oldest = Math.min(
                promise.strategy().bounds(View.ID).oldest(), part.messages().size());
        Set<String> bad = endedBadly(part);
        boolean unanswered =
                part.messages().subList(0, oldest).stream().anyMatch(message -> bad.contains(message.id()));
        return repeated || unclear || unanswered;
    }

    /**
     * Returns whether an older turn goes on behind the newest user message, and does not name its question. A bounded read
     * takes its messages for those of the newest turn.
     */
    private static boolean isGuessed(Part part) {
        Map<String, String> questions = RandomOutcomes.questionIds(part.messages());
        return part.user() != null
                && part.messages().stream()
                        .filter(message -> message.sequence() > part.user().sequence() && message.question() == null)
                        .anyMatch(message -> !part.user()
                                .id()
                                .equals(questions.getOrDefault(
                                        message.id(), part.user().id())));
    }

    private static boolean has(ContextTurn turn, LoggedMessage message) {
        return turn.user() == message
                || turn.rounds().stream().anyMatch(round -> round.messages().contains(message));
    }

    private void limits() {
        List<ChatMessage> messages =
                view.shown().stream().map(LoggedMessage::message).toList();
        boolean onlySystem = messages.stream().allMatch(SystemMessage.class::isInstance);
        for (Most most : promise.bounds()) {
            long size =
                    switch (most.unit()) {
                        case MESSAGES -> messages.size();
                        case TURNS ->
                            messages.stream()
                                    .filter(UserMessage.class::isInstance)
                                    .count();
                        case TOKENS -> estimator.estimateTokenCountInMessages(messages);
                    };
            if (size > most.limit() && !(view.overflow() && onlySystem)) {
                breaks(Rule.LIMITS_HOLD, size + " of " + most);
            }
        }
        ContextTurn newest = all.turns().isEmpty() ? null : last(all.turns()).get(0);
        if (view.overflow() && !isSystemOver() && !(newest != null && !newest.closed() && isOver(newest))) {
            breaks(Rule.OVERFLOW_IS_REAL, "overflow though it fits");
        }
        boolean counts = newest != null && turns.contains(newest);
        boolean gone = counts && promise.wanted().test(newest.user()) && !shown(newest.user());
        if (gone && !view.overflow() && !(newest.closed() && isOver(newest))) {
            breaks(Rule.OVERFLOW_IS_REAL, "the newest turn is not shown");
        }
    }

    private void shares() {
        for (LoggedMessage message : view.shown()) {
            if (!(message.message() instanceof ToolExecutionResultMessage result) || isMarker(result)) {
                continue;
            }
            LoggedMessage whole = log.messages().get(places.get(message.id()));
            ContextTurn turn =
                    turns.stream().filter(one -> has(one, whole)).findFirst().orElse(null);
            if (turn == null) {
                breaks(Rule.OLDEST_TURNS_GO, "passed by and shown: " + whole.id());
                continue;
            }
            List<Most> shortening = promise.bounds().stream()
                    .filter(most -> most.unit() == Unit.TOKENS && tokens(whole) > share(most, turn, whole))
                    .toList();
            boolean isWhole = message.message() == whole.message();
            if (isWhole != shortening.isEmpty()) {
                breaks(Rule.RESULTS_HAVE_THEIR_SHARE, whole.id() + (isWhole ? " is whole" : " is shortened"));
            }
            for (Most most : shortening) {
                if (estimator.estimateTokenCountInMessage(result) > weight(most, turn, whole)) {
                    breaks(Rule.RESULTS_HAVE_THEIR_SHARE, whole.id() + " takes more than its share");
                }
            }
        }
    }

    /**
     * Returns the share of a result: a quarter of the limit, or less if it is one of many, or if its turn leaves less.
     * Half of the room is left for pinned turns before its own, and for its own if only the turn's beginning is
     * pinned.
     */
    private long share(Most most, ContextTurn turn, LoggedMessage result) {
        LoggedMessage asked = log.messages().get(places.get(callsOfResults().get(result.id())));
        int calls = ((AiMessage) asked.message()).toolExecutionRequests().size();
        boolean pins =
                turns.stream().takeWhile(one -> one != turn).anyMatch(one -> isPinned(one) || isPinnedAtFirst(one));
        boolean onlyBeginning = isPinnedAtFirst(turn) && !isPinned(turn);
        long room = pins || onlyBeginning ? room(most) - room(most) / 2 : room(most);
        long left = (room - tokens(turn.user()) - tokens(asked)) / calls;
        return Math.max(1, Math.min(left, Math.min(most.limit() / 4, most.limit() / 2 / calls)));
    }

    private static Stream<LoggedMessage> has(ContextTurn turn) {
        return Stream.concat(
                Stream.of(turn.user()), turn.rounds().stream().flatMap(round -> round.messages().stream()));
    }

    private boolean isSystemOver() {
        return promise.bounds().stream().anyMatch(most -> room(most) < 0);
    }

    private boolean isOver(ContextTurn turn) {
        List<Round> needed = last(
                turn.rounds().stream().filter(round -> round.hidden() == null).toList());
        return promise.bounds().stream().anyMatch(most -> {
            long round =
                    needed.stream().mapToLong(one -> weight(most, turn, one)).sum();
            return weight(most, turn, turn.user()) + round > room(most) - pins(most);
        });
    }

    private static <T> List<T> last(List<T> list) {
        return list.subList(Math.max(0, list.size() - 1), list.size());
    }

    private void system() {
        LoggedMessage first = view.shown().isEmpty() ? null : view.shown().get(0);
        if (log.system() != null
                && (first == null || first.message() != log.system().message())) {
            breaks(Rule.SYSTEM_FIRST, "it is not first");
        }
        long many = view.shown().stream()
                .filter(message -> message.message() instanceof SystemMessage)
                .count();
        if (many > (log.system() == null ? 0 : 1)) {
            breaks(Rule.SYSTEM_FIRST, many + " of them");
        }
    }

    /** Checks that turns are whole, one behind the other: bound ones as they ended, others as they began. */
    private void order() {
        List<String> order = all.turns().stream().map(turn -> turn.user().id()).toList();
        int last = -1;
        int lastTurn = -1;
        for (LoggedMessage message : view.shown()) {
            if (message.message() instanceof UserMessage) {
                int turn = order.indexOf(message.id());
                if (turn <= lastTurn) {
                    breaks(Rule.ORDER_OF_THE_LOG, message.id());
                }
                lastTurn = turn;
                last = -1;
            }
            if (!(message.message() instanceof ToolExecutionResultMessage)
                    && !(message.message() instanceof SystemMessage)) {
                if (places.get(message.id()) <= last) {
                    breaks(Rule.ORDER_OF_THE_LOG, message.id());
                }
                last = places.get(message.id());
            }
        }
        if (shown.size() < view.shown().size()) {
            breaks(Rule.NOTHING_INVENTED, "a message twice");
        }
    }

    /** Sorts turns as they ended. A pinned turn stays behind those that had ended when it began. */
    private List<ContextTurn> inOrder(List<ContextTurn> read) {
        Map<String, Integer> ended = new HashMap<>();
        read.forEach(turn -> ended.put(turn.user().id(), end(turn.user())));
        Map<String, Integer> shownAt = new HashMap<>();
        int behind = 0;
        for (ContextTurn turn : sorted(read, ended)) {
            String id = turn.user().id();
            shownAt.put(
                    id, isPinned(turn) || isPinnedAtFirst(turn) ? places.get(id) : Math.max(behind, places.get(id)));
            behind = Math.max(behind, ended.get(id) + 1);
        }
        return sorted(sorted(read, ended), shownAt);
    }

    private static List<ContextTurn> sorted(List<ContextTurn> turns, Map<String, Integer> by) {
        return turns.stream()
                .sorted(Comparator.comparing(turn -> by.get(turn.user().id())))
                .toList();
    }

    /** Returns the place of a bound turn's answer or, until then, of its first complete round; else its question's. */
    private int end(LoggedMessage user) {
        if (!user.id().equals(user.question())) {
            return places.get(user.id());
        }
        int answered = -1;
        int first = -1;
        Map<String, Integer> waiting = new HashMap<>();
        Map<String, String> questions = RandomOutcomes.questionIds(log.messages());
        for (LoggedMessage message : log.messages()) {
            if (message == user || !user.id().equals(questions.get(message.id()))) {
                continue;
            }
            String calls = callsOfResults().get(message.id());
            if (message.message() instanceof AiMessage ai && ai.hasToolExecutionRequests()) {
                waiting.put(message.id(), ai.toolExecutionRequests().size());
            } else if (calls != null && waiting.merge(calls, -1, Integer::sum) == 0) {
                first = first < 0 ? places.get(message.id()) : first;
                answered = -1;
            } else if (message.message() instanceof AiMessage ai
                    && ai.text() != null
                    && !ai.text().isBlank()) {
                answered = places.get(message.id());
            }
        }
        return answered >= 0 ? answered : first >= 0 ? first : places.get(user.id());
    }

    /**
     * Checks that each result belongs to the newest calls that waited for it, and that they are shown together, with
     * the results in the log's order.
     */
    private void rounds() {
        Map<String, String> callsOf = callsOfResults();
        LoggedMessage calls = null;
        int waiting = 0;
        int last = -1;
        for (LoggedMessage message : view.shown()) {
            if (message.message() instanceof ToolExecutionResultMessage) {
                waiting--;
                if (calls == null || !calls.id().equals(callsOf.get(message.id()))) {
                    breaks(Rule.ROUNDS_STAY_WHOLE, message.id() + " belongs to " + callsOf.get(message.id()));
                }
                if (places.get(message.id()) < last) {
                    breaks(Rule.ORDER_OF_THE_LOG, message.id());
                }
                last = places.get(message.id());
                continue;
            }
            if (waiting != 0) {
                breaks(Rule.ROUNDS_STAY_WHOLE, "results are missing before " + message.id());
            }
            calls = message;
            last = places.get(message.id());
            waiting = message.message() instanceof AiMessage ai
                    ? ai.toolExecutionRequests().size()
                    : 0;
        }
        if (waiting != 0) {
            breaks(Rule.ROUNDS_STAY_WHOLE, "results are missing at the end");
        }
    }

    private Map<String, String> callsOfResults() {
        if (callsOfResults == null) {
            callsOfResults = match();
        }
        return callsOfResults;
    }

    private Map<String, String> match() {
        List<ContextTurn> read = all.turns();
        // The calls of a turn that was retried do not wait any longer.
        Map<String, Integer> diedAt = new HashMap<>();
        for (int t = 0; t < read.size() - 1; t++) {
            int next = places.get(read.get(t + 1).user().id());
            if (read.get(t).standing() == Standing.REPEATED) {
                read.get(t)
                        .rounds()
                        .forEach(round -> diedAt.put(round.messages().get(0).id(), next));
            }
        }
        Map<String, List<ToolExecutionRequest>> open = new HashMap<>();
        Map<String, String> callsOf = new HashMap<>();
        for (int i = 0; i < log.messages().size(); i++) {
            LoggedMessage message = log.messages().get(i);
            if (message.message() instanceof AiMessage ai) {
                open.put(message.id(), new ArrayList<>(ai.toolExecutionRequests()));
            } else if (message.message() instanceof ToolExecutionResultMessage result) {
                for (int c = i - 1; c >= 0 && !callsOf.containsKey(message.id()); c--) {
                    String id = log.messages().get(c).id();
                    if (OpenRound.isOfOtherTurn(log.messages().get(c), message)) {
                        continue;
                    }
                    List<ToolExecutionRequest> calls = open.getOrDefault(id, List.of());
                    ToolExecutionRequest call = calls.stream()
                            .filter(one -> Objects.equals(one.id(), result.id())
                                    && (one.id() != null || Objects.equals(one.name(), result.toolName())))
                            .findFirst()
                            .orElse(null);
                    if (call != null && i < diedAt.getOrDefault(id, Integer.MAX_VALUE)) {
                        calls.remove(call);
                        callsOf.put(message.id(), id);
                    }
                }
            }
        }
        return callsOf;
    }

    private void oldestGo() {
        boolean gone = false;
        Set<String> counted =
                turns.stream().flatMap(Rules::has).map(LoggedMessage::id).collect(Collectors.toSet());
        all.turns().stream()
                .flatMap(Rules::has)
                .filter(message -> shown(message) && !counted.contains(message.id()))
                .forEach(message -> breaks(Rule.OLDEST_TURNS_GO, "passed by and shown: " + message.id()));
        for (int t = turns.size() - 1; t >= 0; t--) {
            ContextTurn turn = turns.get(t);
            if (!isWanted(turn)) {
                if (turn.messages().stream().anyMatch(this::shown)) {
                    breaks(Rule.OLDEST_TURNS_GO, "a turn that the custom strategy excludes is shown");
                }
                continue;
            }
            List<LoggedMessage> in =
                    turn.messages().stream().filter(this::shown).toList();
            boolean whole = in.size() == turn.messages().size();
            boolean loose = in.stream().anyMatch(message -> !isPinned(turn, message));
            if (t == turns.size() - 1) {
                newestLosesOldestRounds(turn, in);
            } else if (loose && !whole) {
                breaks(Rule.OLDEST_TURNS_GO, "a part of a turn went");
            } else if (loose && gone) {
                breaks(Rule.OLDEST_TURNS_GO, "a newer turn went before an older one");
            }
            gone |= !whole;
            if (!in.isEmpty() && !shown(turn.user())) {
                breaks(Rule.OLDEST_TURNS_GO, "a turn without its user message");
            }
        }
    }

    private void newestLosesOldestRounds(ContextTurn turn, List<LoggedMessage> in) {
        boolean gone = in.isEmpty();
        for (int r = turn.rounds().size() - 1; r >= 0; r--) {
            Round round = turn.rounds().get(r);
            if (round.hidden() != null) {
                continue;
            }
            boolean here = shown(round.messages().get(0));
            if (here && gone && !isPinned(turn, round.messages().get(0))) {
                breaks(Rule.OLDEST_TURNS_GO, "a newer round went before an older one");
            }
            gone |= !here;
        }
    }

    private void newestStays() {
        for (int t = turns.size() - 1; t >= 0; t--) {
            if (isWanted(turns.get(t))) {
                if (shown(turns.get(t).user())) {
                    return;
                }
                break;
            }
        }
        for (ContextTurn turn : turns) {
            if (isWanted(turn)
                    && turn.messages().stream().anyMatch(message -> shown(message) && !isPinned(turn, message))) {
                breaks(
                        Rule.NEWEST_USER_STAYS,
                        "an older turn is shown: " + turn.user().id());
            }
        }
    }

    private void noMoreThanNeeded() {
        for (int t = turns.size() - 1; t >= 0; t--) {
            ContextTurn turn = turns.get(t);
            if (!isWanted(turn) || turn.messages().stream().allMatch(this::shown)) {
                continue;
            }
            if (t < turns.size() - 1) {
                int from = t;
                tight("turn " + turn.user().id(), most -> IntStream.range(from, turns.size())
                        .mapToLong(i -> weight(most, turns.get(i)))
                        .sum());
            } else if (shown(turn.user()) && !isGoneButForPins(turn)) {
                int round = turn.rounds().size() - 1;
                while (round >= 0 && !isLost(turn, turn.rounds().get(round))) {
                    round--;
                }
                if (round < 0) {
                    return;
                }
                List<Round> rest = turn.rounds().subList(round, turn.rounds().size());
                tight(
                        "round of " + turn.user().id(),
                        most -> weight(most, turn, turn.user())
                                + rest.stream()
                                        .mapToLong(one -> weight(most, turn, one))
                                        .sum());
            }
            return;
        }
    }

    /**
     * Returns whether the turn was removed as a whole because its closing answer or its last round exceeds the limit.
     */
    private boolean isGoneButForPins(ContextTurn turn) {
        return isOver(turn)
                && turn.messages().stream().noneMatch(message -> shown(message) && !isPinned(turn, message));
    }

    /** Returns whether a round is not shown although it is neither hidden nor pinned. */
    private boolean isLost(ContextTurn turn, Round round) {
        LoggedMessage first = round.messages().get(0);
        return round.hidden() == null && !shown(first) && !isPinned(turn, first);
    }

    private void tight(String what, java.util.function.ToLongFunction<Most> size) {
        if (promise.bounds().stream()
                .noneMatch(most ->
                        size.applyAsLong(most) + pins(most) >= room(most) - most.step() + (most.step() == 0 ? 1 : 0))) {
            breaks(Rule.NO_MORE_THAN_NEEDED, what + " fits with room to spare");
        }
    }

    private void nothingInvented() {
        Map<String, LoggedMessage> known =
                log.messages().stream().collect(Collectors.toMap(LoggedMessage::id, message -> message));
        for (LoggedMessage message : view.shown()) {
            LoggedMessage logged = known.get(message.id());
            if (logged == null
                    || (logged.message() != message.message()
                            && !isMarkerFor(logged, message)
                            && !isShortened(logged, message)
                            && !isWithoutBlanks(logged, message))) {
                breaks(Rule.NOTHING_INVENTED, message.id());
            }
        }
    }

    private boolean isMarkerFor(LoggedMessage logged, LoggedMessage message) {
        return promise.clears()
                && logged.message() instanceof ToolExecutionResultMessage result
                && message.message() instanceof ToolExecutionResultMessage marker
                && Objects.equals(result.id(), marker.id())
                && Objects.equals(result.toolName(), marker.toolName())
                && marker.text().equals(ClearToolResults.MARKER);
    }

    private boolean isShortened(LoggedMessage logged, LoggedMessage message) {
        return promise.bounds().stream().anyMatch(most -> most.unit() == Unit.TOKENS)
                && logged.message() instanceof ToolExecutionResultMessage result
                && message.message() instanceof ToolExecutionResultMessage shortened
                && Objects.equals(result.id(), shortened.id())
                && Objects.equals(result.toolName(), shortened.toolName())
                && TextShortener.isShortened(shortened.text(), result.text());
    }

    private static boolean isWithoutBlanks(LoggedMessage logged, LoggedMessage message) {
        return logged.message() instanceof UserMessage user
                && message.message() instanceof UserMessage rest
                && rest.contents().size() < user.contents().size()
                && rest.contents()
                        .equals(user.contents().stream()
                                .filter(content -> !(content instanceof TextContent text
                                        && text.text().isBlank()))
                                .toList());
    }

    private void cleared(boolean wholeRead) {
        Map<LoggedMessage, Long> calledAt = new HashMap<>();
        for (ContextTurn turn : turns) {
            // A turn that others overtook counts from where it is shown, and a pinned one from where it began.
            long from = isPinned(turn) || isPinnedAtFirst(turn) ? 0 : turn.place();
            for (Round round : turn.rounds()) {
                if (round.hidden() == null) {
                    round.messages().forEach(message -> calledAt.put(message, Math.max(from, round.sequence())));
                }
            }
        }
        List<LoggedMessage> newestFirst = calledAt.keySet().stream()
                .filter(message -> message.message() instanceof ToolExecutionResultMessage
                        && message.tokens() >= ClearToolResults.MIN_TOKENS_OF_ONE)
                .sorted(Comparator.comparing((LoggedMessage message) -> calledAt.get(message))
                        .thenComparing(LoggedMessage::sequence)
                        .reversed())
                .toList();
        Set<String> marked = view.shown().stream()
                .filter(message -> isMarker(message.message()))
                .map(LoggedMessage::id)
                .collect(Collectors.toSet());
        long left = 0;
        for (int i = 0; i < newestFirst.size(); i++) {
            LoggedMessage result = newestFirst.get(i);
            // A pinned result counts as old as soon as a later message was not read.
            boolean mayBeNew = !pinnedFirst.contains(result.id());
            if (mayBeNew && i < promise.keptResults() && marked.contains(result.id())) {
                breaks(Rule.OLD_RESULTS_ARE_CLEARED, "a new one is: " + result.id());
            } else if (i >= promise.keptResults() && shown(result) && !marked.contains(result.id())) {
                left += result.tokens();
            }
        }
        if (wholeRead && promise.clears() && left > 0 && left >= promise.clearedTogether()) {
            breaks(Rule.OLD_RESULTS_ARE_CLEARED, left + " tokens of old ones are whole");
        }
    }

    private void reasons() {
        Set<String> seen = new HashSet<>(shown);
        for (Omission omission : view.omitted()) {
            if (!seen.add(omission.message().id())) {
                breaks(Rule.REASONS_ARE_TRUE, omission.message().id() + " is told of twice");
            } else if (!isTrue(omission)) {
                breaks(Rule.REASONS_ARE_TRUE, omission.message().id() + " " + omission.reason());
            }
        }
        if (seen.size() != log.messages().size()) {
            breaks(Rule.REASONS_ARE_TRUE, log.messages().size() - seen.size() + " messages are not told of");
        }
    }

    private boolean isTrue(Omission omission) {
        LoggedMessage message = omission.message();
        int place = places.get(message.id());
        return switch (omission.reason()) {
            case MESSAGE_LIMIT -> promise.bounds().stream().anyMatch(most -> most.unit() != Unit.TOKENS);
            case TOKEN_LIMIT -> promise.bounds().stream().anyMatch(most -> most.unit() == Unit.TOKENS);
            case STRATEGY ->
                turns.stream()
                        .filter(turn -> !promise.wanted().test(turn.user()))
                        .anyMatch(turn -> turn.messages().contains(message));
            case ORPHAN_RESULT ->
                message.message() instanceof ToolExecutionResultMessage
                        && all.turns().stream()
                                .flatMap(turn -> turn.rounds().stream())
                                .noneMatch(round -> round.messages()
                                        .get(0)
                                        .id()
                                        .equals(callsOfResults().get(message.id())));
            case UNANSWERED_CALL -> hasOpenCalls(message);
            case ANSWER_BEFORE_CALL -> message.message() instanceof AiMessage ai && !ai.hasToolExecutionRequests();
            case REPEATED_USER_MESSAGE ->
                log.messages().subList(place + 1, log.messages().size()).stream()
                        .filter(next -> next.message() instanceof UserMessage user && !isBlank(user))
                        .findFirst()
                        .filter(next -> next.message().equals(message.message()))
                        .isPresent();
            case EMPTY_TEXT ->
                message.message() instanceof UserMessage user
                        ? isBlank(user)
                        : message.message() instanceof AiMessage ai
                                && !ai.hasToolExecutionRequests()
                                && (ai.text() == null || ai.text().isBlank());
            case NO_USER_MESSAGE ->
                log.messages().subList(0, places.getOrDefault(callsOfResults().get(message.id()), place)).stream()
                                .noneMatch(before -> before.message() instanceof UserMessage user && !isBlank(user))
                        // A message that is not bound may go on with the turn of a blank one.
                        || (message.question() == null
                                && log.messages().subList(0, place).stream()
                                        .anyMatch(before ->
                                                before.message() instanceof UserMessage user && isBlank(user)));
            case OLD_SYSTEM_MESSAGE -> message.message() instanceof SystemMessage && !message.equals(log.system());
            case UNKNOWN_TYPE -> message.message() instanceof UnknownMessage;
            case NO_QUESTION ->
                message.question() != null
                        && log.messages().stream()
                                .noneMatch(before -> before.id().equals(message.question())
                                        && before.message() instanceof UserMessage user
                                        && !isBlank(user));
            case FAILED, UNANSWERED_QUESTION, REJECTED, TOO_FAR_BACK, ANSWERED_BEFORE, UNREADABLE -> false;
        };
    }

    /** Returns whether the calls of the message, or the calls that it answers, lack a result. */
    private boolean hasOpenCalls(LoggedMessage message) {
        Map<String, String> callsOf = callsOfResults();
        String calls = message.message() instanceof AiMessage ? message.id() : callsOf.get(message.id());
        return calls != null
                && log.messages().get(places.get(calls)).message() instanceof AiMessage ai
                && callsOf.values().stream().filter(calls::equals).count()
                        < ai.toolExecutionRequests().size();
    }

    private static boolean isBlank(UserMessage user) {
        return user.contents().stream()
                .allMatch(content ->
                        content instanceof TextContent text && text.text().isBlank());
    }

    private static boolean isMarker(ChatMessage message) {
        return message instanceof ToolExecutionResultMessage result
                && result.text().equals(ClearToolResults.MARKER);
    }

    private boolean isWanted(ContextTurn turn) {
        return turn.standing() == Standing.WHOLE && promise.wanted().test(turn.user());
    }

    private boolean shown(LoggedMessage message) {
        return shown.contains(message.id());
    }

    private boolean isPinned(ContextTurn turn, LoggedMessage message) {
        return pinnedFirst.contains(message.id()) || isPinned(turn);
    }

    private boolean isPinnedAtFirst(ContextTurn turn) {
        return pinnedFirst.contains(turn.user().id());
    }

    private boolean isPinned(ContextTurn turn) {
        return has(turn).anyMatch(promise.pinned());
    }

    /** Returns the room of a limit beside the system message. */
    private long room(Most most) {
        LoggedMessage system = log.system();
        return most.limit()
                - switch (most.unit()) {
                    case MESSAGES -> system == null ? 0 : 1;
                    case TURNS -> 0;
                    case TOKENS ->
                        estimator.estimateTokenCountInMessages(List.of()) + (system == null ? 0 : tokens(system));
                };
    }

    /** Returns the maximum part of the room that pinned turns take. */
    private long pins(Most most) {
        long pins = 0;
        for (ContextTurn turn : turns) {
            // A turn that was retried keeps its room, because otherwise an older turn would come back.
            List<LoggedMessage> in = new ArrayList<>(List.of(turn.user()));
            turn.rounds().forEach(round -> in.addAll(round.messages()));
            pins += in.stream()
                    .filter(message -> isPinned(turn, message))
                    .mapToLong(message -> weight(most, turn, message))
                    .sum();
        }
        return Math.min(pins, Math.max(0, room(most) / 2));
    }

    private long weight(Most most, ContextTurn turn) {
        return weight(most, turn, turn.user())
                + turn.rounds().stream()
                        .mapToLong(round -> weight(most, turn, round))
                        .sum();
    }

    private long weight(Most most, ContextTurn turn, Round round) {
        return round.messages().stream()
                .mapToLong(message -> weight(most, turn, message))
                .sum();
    }

    private long weight(Most most, ContextTurn turn, LoggedMessage message) {
        return switch (most.unit()) {
            case MESSAGES -> 1;
            case TURNS -> message == turn.user() && turn.standing() == Standing.WHOLE ? 1 : 0;
            case TOKENS -> tokens(most, turn, message);
        };
    }

    private long tokens(Most most, ContextTurn turn, LoggedMessage message) {
        if (!(message.message() instanceof ToolExecutionResultMessage result)
                || !callsOfResults().containsKey(message.id())) {
            return tokens(message);
        }
        long share = share(most, turn, message);
        ChatMessage mark = result.toBuilder()
                .contents(TextContent.from(TextShortener.ofChars(result.text(), 0)))
                .build();
        return tokens(message) <= share
                ? tokens(message)
                : Math.max(share, estimator.estimateTokenCountInMessage(mark));
    }

    /** Returns what the limit's own counter counts, whatever counted the message when it was appended. */
    private long tokens(LoggedMessage message) {
        return estimator.estimateTokenCountInMessage(message.message());
    }

    private void breaks(Rule rule, String where) {
        broken.add(new Broken(rule, where));
    }

    /** The views of a branch so far. */
    private static final class History {

        private final Promise promise;
        private final TokenCountEstimator estimator;
        private final Set<String> gone = new HashSet<>();
        private final Set<String> cleared = new HashSet<>();
        private final Map<String, ChatMessage> results = new HashMap<>();
        private List<LoggedMessage> before = List.of();
        private List<LoggedMessage> unlimitedBefore = List.of();
        private ChatMessage system;
        private Map<String, List<Round>> passed = Map.of();
        private Set<String> bad = Set.of();
        private List<String> order = List.of();
        private int moves;
        private int returns;
        private long dropped;

        History(Promise promise, TokenCountEstimator estimator) {
            this.promise = promise;
            this.estimator = estimator;
        }

        List<Broken> next(Part log, View view, boolean wholeRead) {
            if (view.overflow()) {
                // Nothing was shown, because of an error.
                return List.of();
            }
            List<Broken> broken = new ArrayList<>();
            ChatMessage now = log.system() == null ? null : log.system().message();
            List<LoggedMessage> turns = view.shown().stream()
                    .filter(message -> !(message.message() instanceof SystemMessage))
                    .toList();
            List<LoggedMessage> unlimited = whole(log).turns().stream()
                    .flatMap(turn -> turn.messages().stream())
                    .toList();
            if (!Objects.equals(system, now)) {
                gone.clear();
                results.clear();
                before = List.of();
            }
            Map<String, List<Round>> passedNow = Rules.passed(promise, estimator, log);
            Set<String> badNow = Rules.endedBadly(log);
            List<String> orderNow =
                    whole(log).turns().stream().map(turn -> turn.user().id()).toList();
            boolean isMoved = !orderNow.subList(0, Math.min(order.size(), orderNow.size()))
                    .equals(order);
            order = orderNow;
            if (isMoved || !passedNow.equals(passed) || !badNow.equals(bad)) {
                // Older turns come back when a turn that is passed by ends, and when a question is left out as
                // unanswered. A turn that was open between others moves behind them when it ends.
                boolean isBack = turns.stream().anyMatch(message -> gone.contains(message.id()));
                returns += isBack && (isMoved || !passedNow.equals(passed)) ? 1 : 0;
                gone.clear();
                cleared.clear();
                results.clear();
                before = List.of();
                passed = passedNow;
                bad = badNow;
            }
            boolean left = log.user() != null
                    && turns.stream()
                            .noneMatch(message -> message.id().equals(log.user().id()));
            if (left && !wholeRead) {
                // The turn was removed when it was closed. If it continues nevertheless, the part that made it too long
                // may be unread.
                before = List.of();
                return List.of();
            }
            // If it is pinned, it is not passed by, but returns if it goes on with less.
            Set<String> own = left ? newest(log) : Set.of();
            Set<String> ids = turns.stream().map(LoggedMessage::id).collect(Collectors.toSet());
            ids.stream().filter(gone::contains).forEach(id -> broken.add(new Broken(Rule.NEVER_BACK, id)));
            before.stream()
                    .map(LoggedMessage::id)
                    .filter(id -> !ids.contains(id) && !own.contains(id))
                    .forEach(gone::add);
            view.omitted().stream()
                    .filter(omission ->
                            omission.reason() == Reason.MESSAGE_LIMIT || omission.reason() == Reason.TOKEN_LIMIT)
                    .filter(omission -> !own.contains(omission.message().id()))
                    .forEach(omission -> gone.add(omission.message().id()));
            boolean clearing = false;
            for (LoggedMessage message : turns) {
                if (isMarker(message.message())) {
                    clearing |= cleared.add(message.id());
                } else if (cleared.contains(message.id())) {
                    broken.add(new Broken(Rule.CLEARED_FOR_GOOD, message.id()));
                } else if (message.message() instanceof ToolExecutionResultMessage
                        && !isSame(message.message(), results.merge(message.id(), message.message(), (a, b) -> a))) {
                    broken.add(new Broken(Rule.SHORTENED_THE_SAME, message.id()));
                }
            }
            boolean repaired = !startsWith(unlimited, unlimitedBefore) || isWithin(log, turns);
            boolean moved = before.stream().anyMatch(message -> !ids.contains(message.id()));
            if (!repaired && !moved && !clearing && !startsWith(turns, before)) {
                broken.add(new Broken(Rule.PREFIX_STAYS, "nothing went"));
            }
            if (!repaired && moved) {
                moves++;
                dropped += before.stream()
                        .filter(message -> !ids.contains(message.id()))
                        .mapToLong(this::size)
                        .sum();
            }
            system = now;
            before = turns;
            unlimitedBefore = unlimited;
            return broken;
        }

        /** Returns whether the newest message goes on with a turn that others follow, which pinned turns may. */
        private static boolean isWithin(Part log, List<LoggedMessage> shown) {
            return shown.subList(0, Math.max(0, shown.size() - 1)).stream().anyMatch(last(log.messages())::contains);
        }

        /** Returns the ids of the newest turn's messages. */
        private static Set<String> newest(Part log) {
            List<ContextTurn> read = whole(log).turns();
            return last(read).stream()
                    .flatMap(Rules::has)
                    .map(LoggedMessage::id)
                    .collect(Collectors.toSet());
        }

        /**
         * Checks that with a step the start stays the same for about a step's worth of messages. What came back because a turn
         * was passed by leaves again, once.
         */
        List<Broken> moves() {
            boolean pins = promise.parts().size() > 1;
            if (pins || promise.bounds().size() != 1 || promise.bounds().get(0).step() == 0) {
                return List.of();
            }
            int step = promise.bounds().get(0).step();
            return moves > 4 + returns + 2 * dropped / step
                    ? List.of(new Broken(Rule.MOVES_RARELY, moves + " moves dropped " + dropped + ", step " + step))
                    : List.of();
        }

        private long size(LoggedMessage message) {
            if (promise.bounds().isEmpty()) {
                return 0;
            }
            return switch (promise.bounds().get(0).unit()) {
                case MESSAGES -> 1;
                case TURNS -> message.message() instanceof UserMessage ? 1 : 0;
                case TOKENS -> estimator.estimateTokenCountInMessage(message.message());
            };
        }

        private static boolean startsWith(List<LoggedMessage> list, List<LoggedMessage> prefix) {
            return list.size() >= prefix.size()
                    && IntStream.range(0, prefix.size())
                            .allMatch(i ->
                                    isSame(list.get(i).message(), prefix.get(i).message()));
        }

        private static boolean isSame(ChatMessage some, ChatMessage other) {
            return some == other || CODEC.encode(some).equals(CODEC.encode(other));
        }
    }
}
