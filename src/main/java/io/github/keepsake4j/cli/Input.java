package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Text from outside, which is UTF-8. */
final class Input {

    private Input() {}

    static String text(String field, InputStream in) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(in.readAllBytes()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new InvalidInputException(field, "is not UTF-8");
        } catch (IOException e) {
            throw new KeepsakeException(field + " cannot be read", e);
        }
    }
}
