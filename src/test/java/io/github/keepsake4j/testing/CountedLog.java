package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.StorageUnavailableException;

/** Counts the data that goes in and out of a log. It can lose an answer or be unavailable. For one thread at a time. */
public final class CountedLog {

    /** How the next append fails: before it reaches the log, or afterwards, when only the answer is lost. */
    public enum Fault {
        NONE,
        BEFORE,
        AFTER
    }

    public int calls;
    public int messagesWritten;
    public int viewsWritten;
    public int messagesRead;
    public Fault nextAppend = Fault.NONE;

    /** Runs once, directly before the next append reaches the log. It simulates another writer. */
    public Runnable meanwhile = () -> {};

    public void reset() {
        calls = 0;
        messagesWritten = 0;
        viewsWritten = 0;
        messagesRead = 0;
    }

    /** Returns a counted view of the log. */
    public MessageLog around(MessageLog log) {
        return Watched.log(log, call -> {
            calls++;
            boolean append = call.name().equals("append");
            Fault fault = append ? nextAppend : Fault.NONE;
            if (append) {
                nextAppend = Fault.NONE;
                Runnable first = meanwhile;
                meanwhile = () -> {};
                first.run();
            }
            if (fault == Fault.BEFORE) {
                throw new StorageUnavailableException("down", null);
            }
            Object result = call.proceed();
            count(result, append ? (Append) call.arguments()[1] : null);
            if (fault == Fault.AFTER) {
                throw new StorageUnavailableException("answer lost", null);
            }
            return result;
        });
    }

    private void count(Object result, Append append) {
        if (result instanceof Tail tail) {
            messagesRead += tail.messages().size();
        }
        if (result instanceof AppendResult done && !done.replayed()) {
            messagesWritten += append.messages().size();
            viewsWritten += append.view() == null ? 0 : 1;
        }
    }
}
