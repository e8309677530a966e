package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes memories as Markdown, for reading: the messages of all branches with their times, outcomes, files and folded tool
 * calls, then summaries, and the contents at the end, because the text is streamed. {@link #withDetails()} adds all other
 * fields, for the request of a person for their data. Bytes of files and whole requests are named with their size;
 * {@link NdjsonExport} writes these too.
 *
 * <pre>{@code
 * MarkdownExport.of(log).writeMemory(key, writer);
 * }</pre>
 *
 * <p>Text of messages is indented, so that none of it can look like a heading of another message. Heap is bounded by 500
 * messages and the number of branches, summaries and views.
 *
 * <p>Immutable and thread-safe.
 */
public final class MarkdownExport {

    private final MessageLog log;
    private final boolean hasDetails;
    private final Consumer<MemoryCopy.Progress> listener;

    private MarkdownExport(MessageLog log, boolean hasDetails, Consumer<MemoryCopy.Progress> listener) {
        this.log = log;
        this.hasDetails = hasDetails;
        this.listener = listener;
    }

    /**
     * Creates an export.
     *
     * @param log the log whose memories are written
     * @return the export
     */
    public static MarkdownExport of(MessageLog log) {
        return new MarkdownExport(InvalidInputException.given("log", log), false, progress -> {});
    }

    /**
     * Adds the other fields of each message, folded: its attributes, what the model was shown, the tokens that it used.
     * Default: they are left out.
     *
     * @return a copy
     */
    public MarkdownExport withDetails() {
        return new MarkdownExport(log, true, listener);
    }

    /**
     * Sets a listener that is called after each batch of messages. Default: none.
     *
     * @param progress called by the thread that writes; an exception ends the export
     * @return a copy
     */
    public MarkdownExport onProgress(Consumer<MemoryCopy.Progress> progress) {
        return new MarkdownExport(log, hasDetails, InvalidInputException.given("onProgress", progress));
    }

    /**
     * Writes one memory. Writes nothing for a memory that was never written.
     *
     * @param key the memory
     * @param out receives the text; it is neither flushed nor closed
     * @return what was written
     * @throws IOException if the output fails
     * @throws KeepsakeException if the log fails
     */
    public MemoryCopy.Report writeMemory(MemoryKey key, Appendable out) throws IOException {
        InvalidInputException.given("key", key);
        InvalidInputException.given("out", out);
        BesideMessages beside = BesideMessages.read(log, key);
        return beside == null
                ? MemoryCopy.Report.NONE
                : new MemoryCopy.Report(
                        1, new MarkdownMemory(log, key, beside, hasDetails, out).write(listener), List.of(), 0);
    }

    /**
     * Writes all memories of a tenant, the oldest ones first.
     *
     * @param tenant the tenant's id
     * @param out receives the text; it is neither flushed nor closed
     * @return a report of the written memories; {@link MemoryCopy.Report#damaged()} memories are missing
     * @throws IOException if the output fails
     * @throws KeepsakeException if the log fails
     */
    public MemoryCopy.Report writeTenant(String tenant, Appendable out) throws IOException {
        InvalidInputException.given("out", out);
        return MemoriesOfTenants.each(
                log, List.of(InvalidInputException.given("tenant", tenant)), key -> writeMemory(key, out));
    }
}
