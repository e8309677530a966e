package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Looks at a directory before a log is opened in it, which would make files there. */
final class Directory {

    private static final String LOCK = "keepsake.lock";

    /** A tenant's directory. A backup may have these without the lock. */
    private static final Pattern TENANT = Pattern.compile("[0-9a-f]{24}");

    private Directory() {}

    static boolean isLog(Path directory) {
        if (Files.exists(directory.resolve(LOCK))) {
            return true;
        }
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.anyMatch(
                    entry -> TENANT.matcher(String.valueOf(entry.getFileName())).matches() && Files.isDirectory(entry));
        } catch (IOException e) {
            throw new StorageUnavailableException("directory " + directory + " cannot be read at the moment", e);
        }
    }
}
