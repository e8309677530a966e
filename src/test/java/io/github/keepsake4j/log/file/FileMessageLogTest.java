package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.log.OutageContract;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;

/** The contract on files. */
class FileMessageLogTest extends MessageLogContract implements ActivityContract, MetadataListContract, OutageContract {

    @TempDir
    Path directory;

    @Override
    protected MessageLog open(Clock clock) {
        // What a device does is the same for all calls, and takes most of their time.
        boolean fsync = Counts.of(0, 1) == 1;
        return FileMessageLog.builder()
                .directory(root())
                .fsync(fsync)
                .clock(clock)
                .listedMetadata(DECLARED)
                .build();
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return open(clock);
    }

    /** The message's type becomes a number, so that the line stays JSON and the message is none. */
    @Override
    public void corrupt(MemoryKey key, String messageId) throws IOException {
        String text = Files.readString(file(key));
        Matcher type = Pattern.compile("\"id\":\"" + messageId + "\".*?\"type\":(\"[A-Z_]+\")")
                .matcher(text);
        if (!type.find()) {
            throw new IllegalStateException("no message " + messageId);
        }
        String digits = "1".repeat(type.end(1) - type.start(1));
        Files.writeString(file(key), text.substring(0, type.start(1)) + digits + text.substring(type.end(1)));
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) throws IOException {
        return Files.readAllLines(file(key)).stream()
                .filter(line -> line.contains("\"id\":\"" + messageId + "\""))
                .findFirst()
                .orElseThrow();
    }

    /** The directory is away, as if its volume were not mounted. */
    @Override
    public Outage breakStorage() throws IOException {
        Path away = directory.resolve("away");
        Files.move(root(), away);
        return () -> {
            try {
                Files.move(away, root());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    private Path file(MemoryKey key) {
        return Names.of(root(), key).data();
    }

    private Path root() {
        return directory.resolve("log");
    }
}
