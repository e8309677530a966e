package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A message, and its place in the tree. */
record MessageRow(LoggedMessage message, Node node) {

    static MessageRow of(MemoryKey key, MessageCodec codec, ResultSet row) throws SQLException {
        LoggedMessage message = Rows.message(key, codec, row);
        return new MessageRow(message, Node.of(message, row));
    }
}
