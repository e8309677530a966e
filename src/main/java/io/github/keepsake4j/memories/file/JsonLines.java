package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.memories.store.MemoryJson;
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
 * A file of JSON objects, one a line. A last line without a line feed is read if it is complete, because other programs
 * omit the line feed. An incomplete last line counts as absent if this library was writing it when the process or the
 * machine died. All other content belongs to another program, and is neither read nor overwritten.
 *
 * @param objects the objects, in order
 * @param length the number of bytes of the objects
 * @param endsInLine whether the last line has its line feed
 */
record JsonLines(List<Map<?, ?>> objects, long length, boolean endsInLine) {

    /** The byte order mark with which some programs begin a file. It is kept. */
    private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    /**
     * Reads a file. One that is absent is empty.
     *
     * @param ours the beginning of each line of this library
     */
    static JsonLines read(Path file, String ours) throws IOException {
        byte[] bytes = SmallFiles.read(file);
        if (bytes == null) {
            return new JsonLines(List.of(), 0, true);
        }
        List<Map<?, ?>> objects = new ArrayList<>();
        int begin = Arrays.equals(Arrays.copyOf(bytes, MARK.length), MARK) ? MARK.length : 0;
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
                if (end == bytes.length && isTorn(line, ours)) {
                    return new JsonLines(objects, begin, true);
                }
                throw new UnreadableDataException(
                        "Line " + (objects.size() + 1) + " of " + file
                                + " is not a JSON object. The file may be encrypted, or may not be in WilmerAI's "
                                + "format of one object a line. Nothing was changed. Restore "
                                + "the file, or move it aside",
                        e);
            }
            begin = end + 1;
        }
        return new JsonLines(objects, bytes.length, begin == bytes.length);
    }

    /**
     * Returns whether an incomplete line begins like the lines of this library. A file system may add zeros when the
     * machine fails.
     */
    private static boolean isTorn(String tail, String ours) {
        String written = tail.replaceAll("\0+$", "");
        return written.startsWith(ours) || ours.startsWith(written);
    }

    /** Adds an object. Cuts off the rest of an incomplete line of this library. */
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
