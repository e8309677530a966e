package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Writes a memory as lines, except the last one. The same memory gives the same lines in every log. */
final class MemoryLines {

    /** Takes a line without its end. */
    @FunctionalInterface
    interface Sink<E extends Exception> {
        void add(String line) throws E;
    }

    private MemoryLines() {}

    /** Writes a memory, and returns its fingerprint. */
    static <E extends Exception> Fingerprint write(
            MessageLog log, MemoryKey key, Consumer<MemoryCopy.Progress> listener, Sink<E> lines) throws E {
        Fingerprint.Digest digest = new Fingerprint.Digest();
        Sink<E> sink = line -> {
            digest.add(line);
            lines.add(line);
        };
        Position before = Reads.position(log, key);
        // Parts that name messages are read before the messages, so that these messages are written.
        BesideMessages beside = BesideMessages.read(log, key);
        if (beside == null) {
            return new Fingerprint(0, 0, digest.hex());
        }
        sink.add(Lines.memory(key, beside));
        long[] messages = {0};
        MemorySource source = new MemorySource(log, key, beside.summaries());
        BesideMessages latest = beside;
        for (int pass = 1; ; pass++) {
            source.read(source.newest, page -> {
                for (Moved message : page) {
                    sink.add(Lines.message(message));
                }
                messages[0] += page.size();
                listener.accept(new MemoryCopy.Progress(key, messages[0], beside.messages()));
            });
            Position now = Reads.position(log, key);
            if (now.equals(before) || pass == MemoryCopy.MOST_PASSES) {
                break;
            }
            // The messages that were added meanwhile are written, so that the rest is that of one moment.
            BesideMessages grown = now.epoch() == before.epoch() ? BesideMessages.read(log, key) : null;
            if (grown == null) {
                throw new ErasedException(
                        key, before.epoch(), Reads.position(log, key).epoch());
            }
            latest = grown;
            before = now;
        }
        rest(latest.with(source), sink);
        return new Fingerprint(1, messages[0], digest.hex());
    }

    /** Writes the lines behind the messages. */
    static <E extends Exception> void rest(BesideMessages beside, Sink<E> sink) throws E {
        for (Summary summary : beside.summaries()) {
            sink.add(Lines.summary(summary));
        }
        for (View view : beside.views()) {
            sink.add(Lines.view(view));
        }
        for (Map.Entry<String, String> branch : new TreeMap<>(beside.branches()).entrySet()) {
            sink.add(Lines.branch(branch.getKey(), branch.getValue()));
        }
        if (beside.head() != null) {
            sink.add(Lines.head(beside.head()));
        }
    }
}
