package io.github.keepsake4j.backend;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.log.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Decides which owner gets a lease, for stores that keep leases without rules of their own. An expired lease is dropped when the next one
 * is taken.
 */
public final class LeaseRules {

    private LeaseRules() {}

    /**
     * Does {@link io.github.keepsake4j.log.MessageLog#acquireLease}.
     *
     * @param leases the leases of one memory by name, which are changed
     * @param name the kind of work
     * @param owner the owner that requests the lease
     * @param duration how long
     * @param now the store's time
     * @return the lease, or empty if another owner holds it
     * @throws io.github.keepsake4j.message.InvalidInputException if {@link InputRules} refuse an argument
     */
    public static Optional<Lease> acquire(
            Map<String, Lease> leases, String name, String owner, Duration duration, Instant now) {
        InputRules.checkLease(name, owner, duration);
        Lease lease = new Lease(name, owner, InputRules.leaseEnd(now, duration));
        Lease held = leases.get(name);
        if (held != null && !held.owner().equals(owner) && held.expiresAt().isAfter(now)) {
            return Optional.empty();
        }
        leases.values().removeIf(each -> !each.expiresAt().isAfter(now));
        leases.put(name, lease);
        return Optional.of(lease);
    }

    /**
     * Does {@link io.github.keepsake4j.log.MessageLog#releaseLease}.
     *
     * @param leases the leases of one memory by name, which are changed
     * @param name the kind of work
     * @param owner who held it
     * @return whether the owner held it
     */
    public static boolean release(Map<String, Lease> leases, String name, String owner) {
        Lease held = leases.get(name);
        return held != null && held.owner().equals(owner) && leases.remove(name, held);
    }
}
