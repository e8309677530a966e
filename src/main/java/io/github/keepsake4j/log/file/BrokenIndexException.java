package io.github.keepsake4j.log.file;

import java.io.IOException;

/** An index that contradicts itself or the file. It is made again; the file is the truth. */
final class BrokenIndexException extends IOException {

    private static final long serialVersionUID = 1L;

    BrokenIndexException(String problem) {
        super(problem);
    }
}
