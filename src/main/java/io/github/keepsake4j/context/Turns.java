package io.github.keepsake4j.context;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context.Omission;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Cuts the newest part of a branch into turns, and repairs what a provider would refuse. */
public final class Turns {

    private final List<OpenTurn> turns = new ArrayList<>();
    private final List<Omission> omitted = new ArrayList<>();

    private Turns() {}

    /**
     * Cuts a branch's newest part into turns. Results stand directly behind their calls; calls without all their
     * results, and results without their call, are left out.
     *
     * @param system the system message in force, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param messages the messages, oldest first
     * @return the context before any limit
     */
    public static Context of(
            @Nullable LoggedMessage system, @Nullable LoggedMessage user, List<LoggedMessage> messages) {
        Turns turns = new Turns();
        if (user != null && messages.stream().noneMatch(message -> message.id().equals(user.id()))) {
            turns.turns.add(new OpenTurn(user));
        }
        for (LoggedMessage message : messages) {
            turns.add(message, system);
        }
        return new Context(system, turns.turns.stream().map(turns::close).toList(), turns.omitted, false);
    }

    private void add(LoggedMessage logged, @Nullable LoggedMessage system) {
        if (logged.message() instanceof UnknownMessage) {
            omit(logged, Reason.UNKNOWN_TYPE);
        } else if (logged.message() instanceof SystemMessage) {
            if (system == null || !logged.id().equals(system.id())) {
                omit(logged, Reason.OLD_SYSTEM_MESSAGE);
            }
        } else if (logged.message() instanceof UserMessage) {
            turns.add(new OpenTurn(logged));
        } else if (logged.message() instanceof ToolExecutionResultMessage result) {
            if (!answer(logged, result)) {
                omit(logged, Reason.ORPHAN_RESULT);
            }
        } else if (turns.isEmpty()) {
            omit(logged, Reason.NO_USER_MESSAGE);
        } else {
            turns.get(turns.size() - 1).rounds.add(new OpenRound(logged));
        }
    }

    /** The newest call that waits for this result gets it, be it in an older turn: turns can interleave. */
    private boolean answer(LoggedMessage logged, ToolExecutionResultMessage result) {
        for (int t = turns.size() - 1; t >= 0; t--) {
            List<OpenRound> rounds = turns.get(t).rounds;
            for (int r = rounds.size() - 1; r >= 0; r--) {
                if (rounds.get(r).takes(result)) {
                    rounds.get(r).messages.add(logged);
                    return true;
                }
            }
        }
        return false;
    }

    private Turn close(OpenTurn open) {
        List<Turn.Round> rounds = new ArrayList<>();
        for (OpenRound round : open.rounds) {
            if (round.waiting.isEmpty()) {
                rounds.add(new Turn.Round(round.messages, List.of()));
            } else {
                round.messages.forEach(message -> omit(message, Reason.UNANSWERED_CALL));
                rounds.add(new Turn.Round(List.of(), round.messages));
            }
        }
        return new Turn(open.user, rounds, List.of());
    }

    private void omit(LoggedMessage message, Reason reason) {
        omitted.add(new Omission(message, reason));
    }

    private static final class OpenTurn {
        private final LoggedMessage user;
        private final List<OpenRound> rounds = new ArrayList<>();

        OpenTurn(LoggedMessage user) {
            this.user = user;
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
    }
}
