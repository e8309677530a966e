package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Leases, which end by the clock of the server. Pure but for the script. */
record Leases(MemoryScript script) {

    private static final Instant LATEST = Instant.EPOCH.plus(Long.MAX_VALUE, ChronoUnit.MICROS);

    Optional<Lease> acquire(MemoryKey key, String name, String owner, Duration duration, Instant now) {
        InputRules.checkLease(name, owner, duration);
        // Refuses a duration that no clock can end.
        InputRules.leaseEnd(now, duration);
        Request request = script.use("acquire")
                .with("name", name)
                .with("owner", owner)
                .with("lasts", duration.getSeconds() * 1_000_000 + duration.getNano() / 1_000);
        Reply reply = script.run("lease " + name + " of memory " + key, key, request);
        if (reply.is("held")) {
            return Optional.empty();
        }
        Instant begin = Instant.EPOCH.plus(reply.number(1), ChronoUnit.MICROS);
        Instant end = duration.compareTo(Duration.between(begin, LATEST)) > 0
                ? LATEST
                : begin.plus(duration).truncatedTo(ChronoUnit.MICROS);
        return Optional.of(new Lease(name, owner, end));
    }

    void release(MemoryKey key, String name, String owner) {
        Request request = script.use("release").with("name", name).with("owner", owner);
        script.run("release of lease " + name + " of memory " + key, key, request);
    }
}
