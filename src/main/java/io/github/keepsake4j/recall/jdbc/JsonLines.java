package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.SmallFiles;
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

/**
 * A file of JSON objects, one a line. A last line without an end was being written when a process died, and counts as absent,
 * unless it is whole: other programs leave the end out.
 *
 * @param objects the objects, in order
 * @param length the number of bytes that they are in
 * @param endsInLine whether the last one has its end
 */
record JsonLines(List<Map<?, ?>> objects, long length, boolean endsInLine) {

    private static final JsonLines NONE = new JsonLines(List.of(), 0, true);

    /** Reads a file. One that is absent is empty. */
    static JsonLines read(Path file) throws IOException {
        byte[] bytes = SmallFiles.read(file);
        if (bytes == null) {
            return NONE;
        }
        List<Map<?, ?>> objects = new ArrayList<>();
        int begin = 0;
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] == '\n') {
                String line = new String(bytes, begin, at - begin, StandardCharsets.UTF_8);
                if (!line.isBlank()) {
                    objects.add(MemoryJson.object("Line " + (objects.size() + 1) + " of " + file, line));
                }
                begin = at + 1;
            }
        }
        if (begin == bytes.length) {
            return new JsonLines(objects, begin, true);
        }
        try {
            String tail = new String(bytes, begin, bytes.length - begin, StandardCharsets.UTF_8);
            objects.add(MemoryJson.object("The end of " + file, tail));
            return new JsonLines(objects, bytes.length, false);
        } catch (UnreadableDataException torn) {
            return new JsonLines(objects, begin, true);
        }
    }

    /** Adds an object. What is left of a line that was never finished is cut off. */
    void append(Path file, Map<String, ?> object) throws IOException {
        boolean isNew = !Files.exists(file);
        byte[] line = ((endsInLine ? "" : "\n") + PlainJson.write(object) + "\n").getBytes(StandardCharsets.UTF_8);
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
        StringBuilder text = new StringBuilder();
        objects.forEach(object -> text.append(PlainJson.write(object)).append('\n'));
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        byte[] before = SmallFiles.read(file);
        if (before == null || !Arrays.equals(before, bytes)) {
            SmallFiles.replace(file, bytes, true);
            SmallFiles.forceNames(file.getParent());
        }
    }
}
