package io.github.keepsake4j.chat.turns;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.WordCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A storage with two libraries on it that share nothing else, as two processes do, each with and without a small window.
 *
 * @param home the kind of storage
 * @param logs the logs: two, or one where a storage allows or knows only one in a process
 * @param others the logs of other writers
 * @param wide the libraries whose window shows everything
 * @param narrow the libraries with a small window
 */
record World(Home home, List<RaisedRevisions> logs, List<MessageLog> others, List<Keepsake> wide, List<Keepsake> narrow)
        implements AutoCloseable {

    private static final int EVERYTHING = 1000;

    /** Room for a question with its longest round, and for some turns before it. */
    private static final int FEW = 10;

    static World on(Home home, Home.Storage storage) {
        return on(home, storage, UnaryOperator.identity());
    }

    /** Opens logs that do what a test wants in addition. */
    static World on(Home home, Home.Storage storage, UnaryOperator<MessageLog> changed) {
        boolean isOne = home == Home.IN_MEMORY || home == Home.FILES || home == Home.S3_TURNS;
        List<RaisedRevisions> logs = new ArrayList<>();
        List<MessageLog> others = new ArrayList<>();
        for (int i = 0; i < (isOne ? 1 : 2); i++) {
            MessageLog log = storage.open();
            // The buffer of a bucket in turn mode learns of another writer only when it is written.
            MessageLog other = home == Home.S3_TURNS ? storage.open() : log;
            logs.add(new RaisedRevisions(changed.apply(log), other));
            others.add(other);
        }
        return new World(home, logs, others, libraries(logs, EVERYTHING), libraries(logs, FEW));
    }

    private static List<Keepsake> libraries(List<RaisedRevisions> logs, int window) {
        List<Keepsake> libraries = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            libraries.add(library(logs.get(i % logs.size()), window));
        }
        return libraries;
    }

    private static Keepsake library(MessageLog log, int window) {
        return Keepsake.builder()
                .messageLog(log)
                .strategy(SlidingWindow.withMaxMessages(window))
                .tokenCountEstimator(new WordCounter())
                // Nothing depends on time: the results of slow tools are not written earlier.
                .executor(task -> {})
                .build();
    }

    /** Opens a library of a process, whose turns depend on time. */
    static Keepsake library(MessageLog log) {
        return Keepsake.builder()
                .messageLog(log)
                .strategy(SlidingWindow.withMaxMessages(EVERYTHING))
                .tokenCountEstimator(new WordCounter())
                .build();
    }

    MessageLog log() {
        return logs.get(0);
    }

    @Override
    public void close() {
        others.forEach(MessageLog::close);
        logs.forEach(MessageLog::close);
    }
}
