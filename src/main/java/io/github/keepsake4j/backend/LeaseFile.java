package io.github.keepsake4j.backend;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Keeps the leases of one memory in a small file of their own, since they are renewed often and are worthless after
 * they expire. Only one thread of one process may use it at a time.
 */
public final class LeaseFile {

    private LeaseFile() {}

    /**
     * Reads leases.
     *
     * @param file the file; it does not exist if there are no leases
     * @param key the memory
     * @return the leases by name; mutable
     * @throws UnreadableDataException if they cannot be read
     * @throws IOException if the file cannot be read at the moment
     */
    public static Map<String, Lease> read(Path file, MemoryKey key) throws IOException {
        Map<String, Lease> leases = new LinkedHashMap<>();
        byte[] bytes = SmallFiles.read(file);
        if (bytes != null) {
            JsonFields json = JsonFields.read(
                    bytes,
                    0,
                    bytes.length,
                    (place, problem) -> new UnreadableDataException(
                            "Memory " + key + ": the leases in " + file + " cannot be read: "
                                    + (place.isEmpty() ? "it" : place) + " " + problem
                                    + ". Delete that file when no turn and no summarizer is at work",
                            null));
            for (JsonFields lease : json.objects("leases")) {
                String name = lease.neededText("name");
                leases.put(name, new Lease(name, lease.neededText("owner"), lease.neededTime("until")));
            }
        }
        return leases;
    }

    /**
     * Writes leases, or removes the file if there are none.
     *
     * @param file the file
     * @param key the memory
     * @param leases the leases by name
     * @param force whether to wait until the device has them
     * @throws IOException if the file cannot be written at the moment
     */
    public static void write(Path file, MemoryKey key, Map<String, Lease> leases, boolean force) throws IOException {
        if (leases.isEmpty()) {
            Files.deleteIfExists(file);
            return;
        }
        JsonObject json = new JsonObject()
                .with("memory", key.canonical())
                .with(
                        "leases",
                        leases.values().stream()
                                .map(lease -> new JsonObject()
                                        .with("name", lease.name())
                                        .with("owner", lease.owner())
                                        .with("until", lease.expiresAt().toString()))
                                .toList());
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent());
        SmallFiles.createDirectories(directory);
        SmallFiles.replace(file, (PlainJson.write(json) + "\n").getBytes(StandardCharsets.UTF_8), force);
    }
}
