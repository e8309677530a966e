package io.github.keepsake4j.log.etag;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.OutageContract;
import io.github.keepsake4j.message.MemoryKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import org.junit.jupiter.api.Tag;

@Tag("landing")
class EtagMessageLogTest extends MessageLogContract implements OutageContract {

    private final Bucket bucket = new Bucket();

    @Override
    protected MessageLog open(Clock clock) {
        return new EtagMessageLog(bucket, clock);
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return new EtagMessageLog(bucket, clock);
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) throws IOException {
        Bucket.Blob blob = bucket.get(EtagMessageLog.name(key)).orElseThrow();
        String payload = escaped(rawBytes(key, messageId));
        String damaged = new String(blob.bytes(), StandardCharsets.US_ASCII).replace(payload, "scribbled " + payload);
        bucket.putIfMatch(EtagMessageLog.name(key), blob.etag(), damaged.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) throws IOException {
        return Document.parse(bucket.get(EtagMessageLog.name(key)).orElseThrow().bytes()).state().entries().stream()
                .filter(entry -> entry.id().equals(messageId))
                .map(Entry::payload)
                .findFirst()
                .orElseThrow();
    }

    @Override
    public Outage breakStorage() {
        bucket.setBroken(true);
        return () -> bucket.setBroken(false);
    }

    @Override
    public int appendsPerThreadInFull() {
        return 50;
    }

    @Override
    public int randomTreesInFull() {
        return 20;
    }

    private static String escaped(String payload) {
        return payload.replace("\\", "\\\\").replace("\"", "\\\"");
    }
}
