package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree.Bodies;
import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The contents of the messages of one file. Messages that are read have places in the file; messages that are written
 * have texts.
 */
record FileBodies(Reader file) implements Bodies {

    /** Reads a part of the file. */
    interface Reader {
        byte[] read(Part part) throws IOException;
    }

    @Override
    public String encode(Row row) {
        return Contents.CODEC.encode(row);
    }

    @Override
    public Row row(Entry entry) {
        try {
            return Contents.CODEC.decodeRow(fields(entry).neededObject("message"));
        } catch (BadLineException e) {
            throw unreadable(entry, e);
        }
    }

    @Override
    public Made made(Entry entry) {
        try {
            return Contents.checked(() -> RecordJson.made(fields(entry)));
        } catch (BadLineException e) {
            throw unreadable(entry, e);
        }
    }

    private JsonFields fields(Entry entry) {
        try {
            JsonFields fields = Contents.fields(file.read((Part) entry.body()));
            if (fields.neededNumber("seq") != entry.sequence()
                    || !fields.neededText("id").equals(entry.id())) {
                throw new BadLineException("it belongs to another message");
            }
            return fields;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static UnreadableDataException unreadable(Entry entry, BadLineException e) {
        return new UnreadableDataException(
                "the content at byte " + ((Part) entry.body()).offset() + " of the file: " + e.problem());
    }
}
