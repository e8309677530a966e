package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One reading of the lines of exports into a log. */
final class NdjsonReader {

    /**
     * The largest length of the first line of an export. Another file may be one endless line, and is not read as an
     * export.
     */
    private static final int MAX_FIRST_LINE = 1 << 16;

    private static final String FOREIGN =
            "does not begin an export of this library, whose first line has the kind export."
                    + " Import the whole file; for the data of another program, write an ImportSource";

    private static final String COMPRESSED = "is compressed with gzip; decompress the file first, with gunzip";

    private final MessageLog log;
    private final Consumer<MemoryCopy.Progress> listener;
    private final InputStream in;
    private long number;
    private boolean isOpen;

    /** Whether the current line has no end. */
    private boolean isCut;

    private @Nullable ArrivingMemory memory;
    private MemoryCopy.Report report = MemoryCopy.Report.NONE;

    NdjsonReader(MessageLog log, Consumer<MemoryCopy.Progress> listener, InputStream in) {
        this.log = log;
        this.listener = listener;
        this.in = new BufferedInputStream(in);
    }

    MemoryCopy.Report read() throws IOException {
        for (byte[] bytes = next(); bytes != null; bytes = next()) {
            if (bytes.length > 0) {
                take(bytes, line(bytes));
            }
        }
        number++;
        if (number == 1) {
            throw wrong("is missing: the file is empty");
        }
        if (isOpen) {
            throw ends("is missing");
        }
        return report;
    }

    private NdjsonLine line(byte[] bytes) {
        try {
            return NdjsonLine.read(name(), text(bytes));
        } catch (InvalidInputException e) {
            if (!isOpen) {
                throw wrong(bytes.length > 0 && bytes[0] == 0x1F ? COMPRESSED : FOREIGN);
            }
            throw isCut ? ends("is cut off") : e;
        }
    }

    private InvalidInputException ends(String problem) {
        String where = memory == null ? "before its last line" : "within memory " + memory.key;
        return wrong(problem + ": the export ends " + where + ". Complete memories imported before: "
                + report.memories() + ". Import the whole file again; nothing is added twice");
    }

    private void take(byte[] bytes, NdjsonLine line) {
        String kind = line.kind();
        if (kind.equals(Lines.EXPORT) && memory == null) {
            if (line.json().neededNumber("version") > Lines.VERSION) {
                throw wrong("begins an export of version " + line.json().neededNumber("version")
                        + ". This release reads version " + Lines.VERSION + ": use a newer release");
            }
            isOpen = true;
        } else if (!isOpen) {
            throw wrong(FOREIGN);
        } else if (memory != null) {
            takeOfMemory(memory, bytes, line);
        } else {
            takeOfExport(bytes, line);
        }
    }

    private void takeOfExport(byte[] bytes, NdjsonLine line) {
        switch (line.kind()) {
            case Lines.MEMORY -> {
                MemoryKey key = line.memory();
                memory = new ArrivingMemory(log, listener, key, line.json().text("title"), line.metadata());
                memory.add(bytes);
            }
            case Lines.DONE -> isOpen = false;
            case Lines.MESSAGE, Lines.SUMMARY, Lines.VIEW, Lines.BRANCH, Lines.HEAD, Lines.END ->
                throw wrong("belongs to no memory. Lines before it are missing");
            default -> checkKind(line);
        }
    }

    private void takeOfMemory(ArrivingMemory arriving, byte[] bytes, NdjsonLine line) {
        if (!line.kind().equals(Lines.END)) {
            named(() -> {
                arriving.add(bytes);
                return line;
            });
        }
        switch (line.kind()) {
            case Lines.MESSAGE, Lines.SUMMARY, Lines.VIEW, Lines.BRANCH, Lines.HEAD -> arriving.take(line);
            case Lines.END -> {
                arriving.check(name(), line);
                report = report.plus(named(arriving::complete));
                memory = null;
            }
            case Lines.EXPORT, Lines.MEMORY, Lines.DONE ->
                throw wrong("comes before the end of memory " + arriving.key + ". Lines before it are missing");
            default -> checkKind(line);
        }
    }

    /** Adds the line to a refusal of the log: lines without a hash may contain anything. */
    private <T> T named(Supplier<T> step) {
        try {
            return step.get();
        } catch (InvalidInputException | MessageIdConflictException e) {
            throw wrong("this line or a line before it was changed since it was written: " + e.getMessage());
        }
    }

    /** A newer version may know more kinds. */
    private void checkKind(NdjsonLine line) {
        if (line.kind().isEmpty()) {
            throw wrong("is not a line of an export: it has no kind");
        }
    }

    private String name() {
        return "line " + number;
    }

    private InvalidInputException wrong(String problem) {
        return new InvalidInputException(name(), problem);
    }

    private String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw wrong("is not UTF-8");
        }
    }

    /** Returns the next line without its end, or null at the end of the stream. The last line may have no end. */
    private byte @Nullable [] next() throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        number++;
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int each = first;
        for (; each >= 0 && each != '\n'; each = in.read()) {
            if (number == 1 && line.size() == MAX_FIRST_LINE) {
                throw wrong("does not begin an export: it is longer than " + MAX_FIRST_LINE + " bytes");
            }
            line.write(each);
        }
        isCut = each < 0;
        byte[] bytes = line.toByteArray();
        boolean hasReturn = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
        return hasReturn ? Arrays.copyOf(bytes, bytes.length - 1) : bytes;
    }
}
