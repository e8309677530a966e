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

/** Divides the messages that were read of a branch into turns, and repairs what a provider would refuse. */
public final class Turns {

    /** The memory id that LangChain4j passes when there is none. */
    private static final String NO_ID = "default";

    private final List<OpenTurn> turns = new ArrayList<>();
    private final List<OpenRound> headless = new ArrayList<>();
    private final List<Omission> repaired = new ArrayList<>();
    private final Map<String, ChatMessage> replaced = new HashMap<>();

    private Turns() {}

    /**
     * Divides a branch's newest part into turns. Results are placed directly after their calls. Calls that lack a
     * result, and results without their call, are not shown.
     *
     * @param system the current system message, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param messages the messages, oldest first
     * @return the context before any limit
     */
    public static Context of(
            @Nullable LoggedMessage system, @Nullable LoggedMessage user, List<LoggedMessage> messages) {
        return of(NO_ID, system, user, List.of(), messages);
    }

    /**
     * Divides a branch's newest part and its oldest part into turns.
     *
     * @param memoryId the memory's id as LangChain4j passed it
     * @param system the current system message, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param oldest the branch's oldest messages, oldest first; they may overlap with the newest messages; may be empty
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
     * Divides the messages that no summary covers, and the branch's oldest part, into turns. Messages before the
     * summary are shown only if they are pinned. If the summary ends within the newest turn, that turn consists of its
     * user message and the messages that the summary does not cover.
     *
     * @param memoryId the memory's id as LangChain4j passed it
     * @param system the current system message, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param oldest the branch's oldest messages, oldest first; they may overlap with the newest messages; may be empty
     * @param messages the newest messages, oldest first
     * @param summary the summary that replaces all messages in between, or null if there is none
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
        // Otherwise the part of the newest turn that was read would lack its beginning.
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

    /**
     * Returns the place before which nothing was read. The messages of a list that was set may differ from the log's
     * order.
     */
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

    /** Begins a turn. A user message without text begins none: the messages after it belong to the previous turn. */
    private void begin(LoggedMessage logged, UserMessage user) {
        List<Content> contents =
                user.contents().stream().filter(content -> !isBlank(content)).toList();
        if (contents.isEmpty()) {
            repair(logged, Reason.EMPTY_TEXT);
            return;
        }
        if (contents.size() < user.contents().size()) {
            // Blank text is removed even beside other contents such as an image, because providers refuse it there too.
            replaced.put(logged.id(), user.toBuilder().contents(contents).build());
        }
        if (!turns.isEmpty() && newest().user.message().equals(user)) {
            newest().repeated = newest().rounds.stream().noneMatch(OpenRound::isShown);
        }
        turns.add(new OpenTurn(logged));
    }

    /**
     * Assigns a result to the newest call that waits for it, even in an older turn, because turns can interleave. A
     * turn that was retried gets no results, because it would be shown again.
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
                // Some models provide no call ids. Then only the tool's name can match the result to its call.
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
