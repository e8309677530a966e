package io.github.keepsake4j.log.file;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.LeaseRules;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The leases of one memory, in a small file of their own: they are renewed all the time, and mean nothing later. To be used
 * with the memory's lock.
 */
final class Leases {

    private final MemoryKey key;
    private final Names names;
    private final boolean force;
    private final Map<String, Lease> byName = new LinkedHashMap<>();

    private Leases(MemoryKey key, Names names, boolean force) {
        this.key = key;
        this.names = names;
        this.force = force;
    }

    static Leases of(MemoryKey key, Names names, boolean force) throws IOException {
        Leases leases = new Leases(key, names, force);
        byte[] bytes = SmallFiles.read(names.leases());
        try {
            if (bytes != null) {
                for (JsonFields lease : Contents.fields(bytes).objects("leases")) {
                    String name = lease.neededText("name");
                    leases.byName.put(name, new Lease(name, lease.neededText("owner"), lease.neededTime("until")));
                }
            }
        } catch (BadLineException e) {
            throw new UnreadableDataException(
                    "Memory " + key + ": the leases in " + names.leases() + " cannot be read: " + e.problem()
                            + ". Delete that file when no turn and no summarizer is at work",
                    null);
        }
        return leases;
    }

    Optional<Lease> acquire(String name, String owner, Duration duration, Instant now) throws IOException {
        Optional<Lease> lease = LeaseRules.acquire(byName, name, owner, duration, now);
        if (lease.isPresent()) {
            write();
        }
        return lease;
    }

    void release(String name, String owner) throws IOException {
        if (LeaseRules.release(byName, name, owner)) {
            write();
        }
    }

    private void write() throws IOException {
        if (byName.isEmpty()) {
            Files.deleteIfExists(names.leases());
            return;
        }
        String json = PlainJson.write(new JsonObject()
                        .with("memory", key.canonical())
                        .with(
                                "leases",
                                byName.values().stream()
                                        .map(lease -> new JsonObject()
                                                .with("name", lease.name())
                                                .with("owner", lease.owner())
                                                .with("until", lease.expiresAt().toString()))
                                        .toList()))
                + "\n";
        Files.createDirectories(names.directory(), SmallFiles.ownersDirectory(names.directory()));
        SmallFiles.replace(names.leases(), json.getBytes(StandardCharsets.UTF_8), force);
    }
}
