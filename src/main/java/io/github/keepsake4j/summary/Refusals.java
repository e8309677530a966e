package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/**
 * The memories whose last summaries were refused as too long. With the same input, a summarizer would give the same
 * answer again. So each attempt after a refusal folds half as many messages and asks for half as much, until summaries
 * are created again. The number of remembered memories is bounded. Thread-safe.
 */
final class Refusals {

    private static final int REMEMBERED = 1000;

    /** The level from which on only a few words of any answer are left. */
    private static final int MOST = 5;

    private final RecentlyUsed<MemoryKey, Level> levels = new RecentlyUsed<>(REMEMBERED);

    /**
     * How an attempt differs from the first one.
     *
     * @param shorter how often the length of the answer is halved
     * @param most the maximum number of messages that are folded at once
     */
    record Level(int shorter, int most) {

        static final Level NONE = new Level(0, Integer.MAX_VALUE);

        /** Returns the task of this level: whole turns if there are several, at least one. */
        SummaryTask of(SummaryTask task) {
            List<LoggedMessage> messages = task.messages();
            int end = messages.size();
            for (int i = end - 1; i >= task.least() && end > most; i--) {
                end = messages.get(i).message() instanceof UserMessage ? i : end;
            }
            return end == messages.size() ? task : task.first(end);
        }

        /** Returns the length of an answer. */
        int of(int maxTokens) {
            return Math.max(1, maxTokens >> shorter);
        }

        private Level shorterOf(int newMost) {
            return new Level(Math.min(MOST, shorter + 1), newMost);
        }
    }

    Level level(MemoryKey key) {
        Level level = levels.get(key);
        return level == null ? Level.NONE : level;
    }

    /** Records that an answer was longer than allowed. A smaller piece needs a shorter answer. */
    void tooLong(MemoryKey key, int messages) {
        levels.put(key, level(key).shorterOf(Math.max(1, messages / 2)));
    }

    /** Records that an answer was not shorter than its source. A smaller piece would be worse. */
    void notShorter(MemoryKey key, int messages) {
        levels.put(key, level(key).shorterOf(Math.max(level(key).most(), 2 * messages)));
    }

    void healed(MemoryKey key) {
        levels.remove(key);
    }
}
