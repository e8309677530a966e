package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.message.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The data in a model's response about its end.
 *
 * @param made its model, its tokens and its reason to end, as far as they are known
 * @param outcome its outcome if it was interrupted, else null
 */
record AnswerEnd(Made made, @Nullable Outcome outcome) {

    static final String CANCELLED = "cancelled";
    static final String CUT = "cut";
    private static final String LIMIT = "limit";

    /**
     * Reads a response.
     *
     * @param response the response
     * @param cut whether a response without a reason has lost its end; relevant only if it names its model or its id
     */
    static AnswerEnd of(ChatResponse response, boolean cut) {
        boolean lost =
                cut && response.finishReason() == null && (response.id() != null || response.modelName() != null);
        String reason = response.finishReason() == FinishReason.LENGTH ? LIMIT : lost ? CUT : null;
        return new AnswerEnd(Made.of(response), reason == null ? null : Outcome.incomplete(reason));
    }

    /**
     * Records which models give the reason why their streams end. A stream without a reason may have lost its
     * connection, but the streams of some servers never have a reason. Thread-safe.
     */
    static final class Streams {

        /** The number of first streams without a reason after which a model never gives one. */
        private static final int NEVER = 3;

        private static final int GIVES_REASONS = -1;

        /** The packages of the AI services of LangChain4j and of Quarkus, whose classes report responses. */
        private static final List<String> SERVICES =
                List.of("dev.langchain4j.service.", "io.quarkiverse.langchain4j.runtime.aiservice.");

        /** The end of the name of their classes that receive streams. */
        private static final String RECEIVER = "AiServiceStreamingResponseHandler";

        private record Model(Class<?> type, @Nullable String name) {}

        /** The number of streams of a model that ended without a reason, before any stream with one. */
        private final RecentlyUsed<Model, Integer> without = new RecentlyUsed<>(1_000);

        /** Returns whether the response that an AI service reports on this thread is a stream's. */
        static boolean isReported() {
            return StackWalker.getInstance()
                    .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                            .filter(name -> SERVICES.stream().anyMatch(name::startsWith))
                            .findFirst())
                    .filter(reporter -> reporter.endsWith(RECEIVER))
                    .isPresent();
        }

        /** Records the end of a stream and returns whether it was cut if it has no reason. */
        synchronized boolean ended(Class<?> type, ChatResponse response) {
            Model model = new Model(type, response.modelName());
            Integer known = without.get(model);
            int before = known == null ? 0 : known;
            boolean gives = before == GIVES_REASONS || response.finishReason() != null;
            without.put(model, gives ? GIVES_REASONS : Math.min(before + 1, NEVER));
            return before < NEVER;
        }
    }
}
