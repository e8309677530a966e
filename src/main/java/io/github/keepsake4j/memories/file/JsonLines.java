package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.memories.jdbc.MemoryJson;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A file of JSON objects, one a line. A last line without an end counts if it is whole: other programs leave the end out. Else it
 * counts as absent if it was being written by us when a process or the machine died. Anything else is another program's, and is
 * neither read nor written over.
 *
 * @param objects the objects, in order
 * @param length the number of bytes that they are in
 * @param endsInLine whether the last one has its end
 */
record JsonLines(List<Map<?, ?>> objects, long length, boolean endsInLine) {

    /** What some programs begin a file in UTF-8 with. It stays there. */
    private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private static final JsonLines NONE = new JsonLines(List.of(), 0, true);

    /** Reads a file. One that is absent is empty. */
    static JsonLines read(Path file) throws IOException {
        byte[] bytes = SmallFiles.read(file);
        if (bytes == null) {
            return NONE;
        }
        List<Map<?, ?>> objects = new ArrayList<>();
        int begin = isMarked(bytes) ? MARK.length : 0;
        while (begin < bytes.length) {
            int end = begin;
            while (end < bytes.length && bytes[end] != '\n') {
                end++;
            }
            String line = new String(bytes, begin, end - begin, StandardCharsets.UTF_8);
            try {
                if (!line.isBlank()) {
                    objects.add(MemoryJson.object("a line", line));
                }
            } catch (UnreadableDataException e) {
                if (end == bytes.length && isTorn(line)) {
                    return new JsonLines(objects, begin, true);
                }
                throw new UnreadableDataException(
                        "Line " + (objects.size() + 1) + " of " + file
                                + " is no JSON object, and not the beginning of one that was being written here. Perhaps another"
                                + " program wrote it, encrypted or not in WilmerAI's format of one object a line. Nothing was"
                                + " changed. Restore the file, or move it aside",
                        e);
            }
            begin = end + 1;
        }
        return new JsonLines(objects, bytes.length, begin == bytes.length);
    }

    private static boolean isMarked(byte[] bytes) {
        return bytes.length >= MARK.length && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length);
    }

    /** Returns whether a line without an end begins as ours do. A file system may add zeros when the machine fails. */
    private static boolean isTorn(String tail) {
        String written = tail.replaceAll("\0+$", "");
        return written.startsWith(Ledger.BEGIN) || Ledger.BEGIN.startsWith(written);
    }

    /** Adds an object. What is left of a line that we never finished is cut off. */
    void append(Path file, Map<String, ?> object) throws IOException {
        boolean isNew = !Files.exists(file);
        byte[] line = ((endsInLine ? "" : "\n") + PlainJson.write(object) + "\n").getBytes(StandardCharsets.UTF_8);
        SmallFiles.create(file);
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.setLength(length);
            out.seek(length);
            out.write(line);
            out.getFD().sync();
        }
        if (isNew) {
            SmallFiles.forceNames(file.getParent());
        }
    }

    /** Replaces a file by these objects, in one step. */
    static void replace(Path file, List<? extends Map<?, ?>> objects) throws IOException {
        byte[] bytes = objects.stream()
                .map(object -> PlainJson.write(object) + "\n")
                .collect(Collectors.joining())
                .getBytes(StandardCharsets.UTF_8);
        if (!Arrays.equals(SmallFiles.read(file), bytes)) {
            SmallFiles.replace(file, bytes, true);
            SmallFiles.forceNames(file.getParent());
        }
    }
}
