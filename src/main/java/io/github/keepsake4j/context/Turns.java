package io.github.keepsake4j.context;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context.Omission;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.context.Turn.Round;
import io.github.keepsake4j.context.Turn.Standing;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Cuts what was read of a branch into turns, and repairs what a provider would refuse. */
public final class Turns {

    /** What LangChain4j passes where there is no memory id. */
    private static final String NO_ID = "default";

    private final List<OpenTurn> turns = new ArrayList<>();
    private final List<OpenRound> headless = new ArrayList<>();
    private final List<Omission> repaired = new ArrayList<>();
    private final Map<String, ChatMessage> replaced = new HashMap<>();

    private Turns() {}

    /**
     * Cuts a branch's newest part into turns. Results stand directly behind their calls; calls without all their
     * results, and results without their call, are not shown.
     *
     * @param system the system message in force, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param messages the messages, oldest first
     * @return the context before any limit
     */
    public static Context of(
            @Nullable LoggedMessage system, @Nullable LoggedMessage user, List<LoggedMessage> messages) {
        return of(NO_ID, system, user, List.of(), messages);
    }

    /**
     * Cuts a branch's newest part, and its oldest one, into turns.
     *
     * @param memoryId the memory's id as LangChain4j gave it
     * @param system the system message in force, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param oldest the branch's oldest messages, oldest first; they may overlap with the newest; may be empty
     * @param messages the newest messages, oldest first
     * @return the context before any limit
     */
    public static Context of(
            Object memoryId,
            @Nullable LoggedMessage system,
            @Nullable LoggedMessage user,
            List<LoggedMessage> oldest,
            List<LoggedMessage> messages) {
        return of(memoryId, system, user, oldest, messages, null);
    }

    /**
     * Cuts what no summary covers, and the branch's oldest part, into turns. What stands before the summary is shown only
     * where it is pinned; where the summary ends within the newest turn, the turn is its user message and what the summary
     * does not cover.
     *
     * @param memoryId the memory's id as LangChain4j gave it
     * @param system the system message in force, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param oldest the branch's oldest messages, oldest first; they may overlap with the newest; may be empty
     * @param messages the newest messages, oldest first
     * @param summary what stands for all between, or null if nothing does
     * @return the context before any limit
     */
    public static Context of(
            Object memoryId,
            @Nullable LoggedMessage system,
            @Nullable LoggedMessage user,
            List<LoggedMessage> oldest,
            List<LoggedMessage> messages,
            @Nullable LoggedMessage summary) {
        Set<String> newest = messages.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        List<LoggedMessage> before = oldest.stream()
                .filter(message -> !newest.contains(message.id()))
                .toList();
        if (summary != null && user != null && !newest.contains(user.id())) {
            before = before.stream()
                    .takeWhile(message -> !message.id().equals(user.id()))
                    .toList();
        }
        List<LoggedMessage> beginnings = before;
        Turns beginning = new Turns();
        Turns tail = new Turns();
        boolean follows = summary == null
                && !before.isEmpty()
                && !messages.isEmpty()
                && before.get(before.size() - 1).id().equals(messages.get(0).parentId());
        boolean begunThere = user != null
                && messages.stream().noneMatch(message -> message.id().equals(user.id()))
                && before.stream().anyMatch(message -> message.id().equals(user.id()));
        // Else what was read of the newest turn would lack its beginning.
        (follows || begunThere ? tail : beginning).addAll(before, system);
        if (user != null
                && Stream.concat(beginnings.stream(), messages.stream()).noneMatch(m -> m.id().equals(user.id()))) {
            tail.add(user, system);
        }
        tail.addAll(messages, system);
        long unread = follows ? 0 : unread(user, oldest, messages);
        List<Turn> turns = new ArrayList<>(beginning.close(Standing.BEGINNING));
        turns.addAll(tail.close(Standing.WHOLE));
        List<Omission> repaired = new ArrayList<>(beginning.repaired);
        beginning.headless().forEach(message -> repaired.add(new Omission(message, Reason.NO_USER_MESSAGE)));
        repaired.addAll(tail.repaired);
        Map<String, ChatMessage> replaced = new HashMap<>(beginning.replaced);
        replaced.putAll(tail.replaced);
        return new Context(
                memoryId, system, summary, oldest, unread, tail.headless(), turns, repaired, replaced, 0, false);
    }

    /** The place before which nothing was read; a list that was set need not be in the log's order. */
    private static long unread(@Nullable LoggedMessage user, List<LoggedMessage> oldest, List<LoggedMessage> messages) {
        boolean whole = messages.isEmpty()
                || messages.stream().anyMatch(message -> message.parentId() == null)
                || (!oldest.isEmpty()
                        && oldest.get(0).id().equals(messages.get(0).id()));
        if (whole) {
            return 0;
        }
        return user != null && user.id().equals(messages.get(0).parentId())
                ? Math.min(user.sequence(), messages.get(0).sequence())
                : messages.stream().mapToLong(LoggedMessage::sequence).min().orElse(0);
    }

    private void addAll(List<LoggedMessage> messages, @Nullable LoggedMessage system) {
        messages.forEach(message -> add(message, system));
    }

    private void add(LoggedMessage logged, @Nullable LoggedMessage system) {
        ChatMessage message = logged.message();
        if (message instanceof UnknownMessage) {
            repair(logged, Reason.UNKNOWN_TYPE);
        } else if (message instanceof SystemMessage) {
            if (system == null || !logged.id().equals(system.id())) {
                repair(logged, Reason.OLD_SYSTEM_MESSAGE);
            }
        } else if (message instanceof UserMessage user) {
            begin(logged, user);
        } else if (message instanceof ToolExecutionResultMessage result) {
            if (!answer(logged, result)) {
                repair(logged, Reason.ORPHAN_RESULT);
            }
        } else if (turns.isEmpty()) {
            headless.add(new OpenRound(logged));
        } else {
            newest().rounds.add(new OpenRound(logged));
        }
    }

    /** What follows a user message without text belongs to the turn before. */
    private void begin(LoggedMessage logged, UserMessage user) {
        List<Content> contents =
                user.contents().stream().filter(content -> !isBlank(content)).toList();
        if (contents.isEmpty()) {
            repair(logged, Reason.EMPTY_TEXT);
            return;
        }
        if (contents.size() < user.contents().size()) {
            // Beside an image, say; providers refuse it all the same.
            replaced.put(logged.id(), user.toBuilder().contents(contents).build());
        }
        if (!turns.isEmpty() && newest().user.message().equals(user)) {
            newest().repeated = newest().rounds.stream().noneMatch(OpenRound::isShown);
        }
        turns.add(new OpenTurn(logged));
    }

    /**
     * The newest call that waits for this result gets it, be it in an older turn: turns can interleave. A turn that was
     * tried again gets none, or it would come back.
     */
    private boolean answer(LoggedMessage logged, ToolExecutionResultMessage result) {
        for (int t = turns.size() - 1; t >= 0; t--) {
            List<OpenRound> rounds = turns.get(t).repeated ? List.of() : turns.get(t).rounds;
            for (int r = rounds.size() - 1; r >= 0; r--) {
                if (rounds.get(r).takes(result)) {
                    rounds.get(r).messages.add(logged);
                    return true;
                }
            }
        }
        for (int r = headless.size() - 1; r >= 0; r--) {
            if (headless.get(r).takes(result)) {
                headless.get(r).messages.add(logged);
                return true;
            }
        }
        return false;
    }

    private List<LoggedMessage> headless() {
        return headless.stream().flatMap(round -> round.messages.stream()).toList();
    }

    private OpenTurn newest() {
        return turns.get(turns.size() - 1);
    }

    private List<Turn> close(Standing standing) {
        return turns.stream()
                .map(open -> new Turn(
                        open.user,
                        open.close(),
                        open.repeated ? Standing.REPEATED : standing,
                        Turn.NOT_PINNED,
                        Turn.Cut.NOTHING))
                .toList();
    }

    private void repair(LoggedMessage message, Reason reason) {
        repaired.add(new Omission(message, reason));
    }

    private static boolean isBlank(Content content) {
        return content instanceof TextContent text && text.text().isBlank();
    }

    private static final class OpenTurn {
        private final LoggedMessage user;
        private final List<OpenRound> rounds = new ArrayList<>();
        private boolean repeated;

        OpenTurn(LoggedMessage user) {
            this.user = user;
        }

        List<Round> close() {
            List<Round> closed = new ArrayList<>();
            boolean callsFollow = false;
            for (int r = rounds.size() - 1; r >= 0; r--) {
                OpenRound round = rounds.get(r);
                boolean early = callsFollow && round.isAnswer() && round.isShown();
                closed.add(0, new Round(round.messages, early ? Reason.ANSWER_BEFORE_CALL : round.hidden()));
                if (!early && round.isShown()) {
                    callsFollow = !round.isAnswer();
                }
            }
            return closed;
        }
    }

    private static final class OpenRound {
        private final List<LoggedMessage> messages = new ArrayList<>();
        private final List<ToolExecutionRequest> waiting;

        OpenRound(LoggedMessage first) {
            messages.add(first);
            waiting = first.message() instanceof AiMessage ai
                    ? new ArrayList<>(ai.toolExecutionRequests())
                    : new ArrayList<>();
        }

        boolean takes(ToolExecutionResultMessage result) {
            for (int i = 0; i < waiting.size(); i++) {
                ToolExecutionRequest call = waiting.get(i);
                // Some models give no ids; then the tool's name is all there is.
                boolean same = (call.id() == null && result.id() == null)
                        ? Objects.equals(call.name(), result.toolName())
                        : Objects.equals(call.id(), result.id());
                if (same) {
                    waiting.remove(i);
                    return true;
                }
            }
            return false;
        }

        boolean isShown() {
            return hidden() == null;
        }

        @Nullable
        Reason hidden() {
            if (!waiting.isEmpty()) {
                return Reason.UNANSWERED_CALL;
            }
            return isEmpty() ? Reason.EMPTY_TEXT : null;
        }

        boolean isAnswer() {
            return !(messages.get(0).message() instanceof AiMessage ai && ai.hasToolExecutionRequests());
        }

        private boolean isEmpty() {
            return messages.get(0).message() instanceof AiMessage ai
                    && !ai.hasToolExecutionRequests()
                    && (ai.text() == null || ai.text().isBlank())
                    && ai.images().isEmpty();
        }
    }
}
