package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.Entry;

/** A range of bytes, in a file or in an array. In a tree it is the place of a message's JSON object. */
record Part(long offset, int length) implements Entry.Body {}
