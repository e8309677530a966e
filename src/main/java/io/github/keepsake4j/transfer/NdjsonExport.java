package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.transfer.MemoryCopy.Report;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes memories to a stream as lines of JSON (NDJSON), and reads them back. The lines contain everything that
 * {@link MemoryCopy} copies. The same memory gives the same lines in every log.
 *
 * <pre>{@code
 * NdjsonExport.of(log).writeTenant("acme", out);
 * NdjsonExport.of(other).read(in);
 * }</pre>
 *
 * <p>The stream is UTF-8. Each line is an object that begins with its {@code kind}; a reader ignores unknown kinds and
 * fields. A memory ends with the number of its messages and a hash of its lines, and the stream with a line of the kind
 * {@code done}, so that a reader notices missing lines. A damaged memory is not written. Heap is bounded by 500
 * messages, and a few megabytes, in both directions. No stream is closed.
 *
 * <p>Immutable and thread-safe.
 */
public final class NdjsonExport {

    /** The number of characters of a memory's lines that are held back until the memory is known to be sound. */
    private static final int MAX_HELD = 1 << 20;

    private final MessageLog log;
    private final Consumer<MemoryCopy.Progress> listener;

    private NdjsonExport(MessageLog log, Consumer<MemoryCopy.Progress> listener) {
        this.log = log;
        this.listener = listener;
    }

    /**
     * Creates an export or import.
     *
     * @param log the log whose memories are written, or into which they are read
     * @return the export or import
     */
    public static NdjsonExport of(MessageLog log) {
        return new NdjsonExport(InvalidInputException.given("log", log), progress -> {});
    }

    /**
     * Sets a listener that is called after each batch of messages. When lines are read, the total number of messages of
     * a memory is not known; the listener gets the number so far. Default: none.
     *
     * @param progress called by the thread that writes or reads; an exception ends the work
     * @return a copy
     */
    public NdjsonExport onProgress(Consumer<MemoryCopy.Progress> progress) {
        return new NdjsonExport(log, InvalidInputException.given("onProgress", progress));
    }

    /**
     * Writes one memory. For a memory that was never written, writes an export without memories.
     *
     * @param key the memory
     * @param out receives the lines; it is flushed and not closed
     * @return what was written
     * @throws IOException if the stream fails
     * @throws ErasedException if the memory is erased meanwhile; the lines then have no end, and a reader refuses them
     * @throws KeepsakeException if the log fails; the lines then have no end
     */
    public Report writeMemory(MemoryKey key, OutputStream out) throws IOException {
        InvalidInputException.given("key", key);
        return write(out, lines -> memory(key, lines));
    }

    /**
     * Writes all memories of a tenant, the oldest ones first.
     *
     * @param tenant the tenant's id
     * @param out receives the lines; it is flushed and not closed
     * @return a report of the written memories; {@link MemoryCopy.Report#damaged()} memories are missing
     * @throws IOException if the stream fails
     * @throws KeepsakeException as {@link #writeMemory} does
     */
    public Report writeTenant(String tenant, OutputStream out) throws IOException {
        InvalidInputException.given("tenant", tenant);
        return write(out, lines -> MemoriesOfTenants.each(log, List.of(tenant), key -> memory(key, lines)));
    }

    private interface Body {
        Report write(OutputStream lines) throws IOException;
    }

    private static Report write(OutputStream out, Body body) throws IOException {
        OutputStream lines = new BufferedOutputStream(InvalidInputException.given("out", out));
        write(lines, Lines.export());
        Report report = body.write(lines);
        write(lines, Lines.done(report));
        lines.flush();
        return report;
    }

    /**
     * Writes a memory, or nothing if it is damaged. So it is read to its end before its first line is written: a small
     * memory is held meanwhile, and a large one is read twice.
     */
    private Report memory(MemoryKey key, OutputStream lines) throws IOException {
        ByteArrayOutputStream held = new ByteArrayOutputStream();
        boolean[] isLarge = {false};
        Fingerprint end = MemoryLines.<IOException>write(log, key, listener, line -> {
            isLarge[0] |= held.size() + line.length() > MAX_HELD;
            if (isLarge[0]) {
                held.reset();
            } else {
                write(held, line);
            }
        });
        if (end.memories() == 0) {
            return Report.NONE;
        }
        if (isLarge[0]) {
            end = writeAgain(key, lines);
        } else {
            held.writeTo(lines);
        }
        write(lines, Lines.end(end));
        return new Report(1, end.messages(), List.of(), 0);
    }

    private Fingerprint writeAgain(MemoryKey key, OutputStream lines) throws IOException {
        UnreadableDataException damage = null;
        try {
            Fingerprint end = MemoryLines.<IOException>write(log, key, listener, line -> write(lines, line));
            if (end.memories() > 0) {
                return end;
            }
        } catch (UnreadableDataException e) {
            damage = e;
        }
        throw new KeepsakeException(
                "Memory " + key + " was damaged or erased while it was written. The lines are incomplete: start "
                        + "the export again",
                damage);
    }

    private static void write(OutputStream lines, String line) throws IOException {
        lines.write(line.getBytes(StandardCharsets.UTF_8));
        lines.write('\n');
    }

    /**
     * Reads memories into the log. Existing messages are not appended again, so an interrupted read continues when the
     * same lines are read again. At its end, each memory is compared with its lines. Several exports may follow one
     * another.
     *
     * <p>An export with more messages than the log, or with the same messages, all the log's summaries, views, branches and
     * outcomes and more of these, also replaces title, metadata, outcomes, views, branches and head. Any other may be older
     * than the memory: it changes nothing, and is refused if the memory differs. An export may be read several times at
     * once.
     *
     * @param in the source of the lines; it is read to its end and not closed
     * @return a report; memories that were erased in the log are skipped
     * @throws IOException if the stream fails
     * @throws InvalidInputException if a line is torn, changed or foreign, or lines are missing; it names the line.
     * Earlier lines stay in the log
     * @throws ErasedException if a memory is erased in the log while it is read; it stays erased
     * @throws KeepsakeException if the log has other messages of a memory, which is then not changed, or if the log
     * fails
     */
    public Report read(InputStream in) throws IOException {
        return new NdjsonReader(log, listener, InvalidInputException.given("in", in)).read();
    }
}
