package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.backend.ActivityCursor;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.log.MemoryInfo;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One memory and its lock. It is never removed, even if it is empty, because its epoch must outlive its messages. */
final class StoredMemory {

    /** Guarded by this. Not final, so that a test can replace it with damaged content. */
    MemoryTree tree;

    /** Guarded by this. This memory's place in the tenant's listing, or null if it is not listed. */
    private @Nullable ActivityCursor listed;

    StoredMemory(MemoryTree tree) {
        this.tree = tree;
    }

    synchronized <T> T read(Function<MemoryTree, T> query) {
        return query.apply(tree);
    }

    /** Changes the memory, and updates the listing in the same step. */
    synchronized <T> T write(Function<MemoryTree, T> change, TenantListing listing) {
        boolean wasEmpty = isEmpty();
        T result = change.apply(tree);
        Optional<MemoryInfo> info = tree.info();
        if (info.isEmpty()) {
            listed = listed == null ? null : listing.remove(listed);
        } else if (listed == null) {
            listed = listing.add(this, activity(info.get()));
        } else if (wasEmpty || activity(info.get()).isAfter(listed.activeAt())) {
            listed = listing.move(this, listed, activity(info.get()));
        }
        return result;
    }

    private boolean isEmpty() {
        return tree.info().map(info -> info.messages() == 0).orElse(true);
    }

    private static Instant activity(MemoryInfo info) {
        Instant last = info.lastMessageAt();
        return last == null ? info.createdAt() : last;
    }

    /**
     * Returns the information that a listing shows. Empty if the memory was erased since the listing read the number,
     * even if the memory was written again.
     */
    synchronized Optional<MemoryInfo> listedAs(long number) {
        return listed != null && listed.number() == number ? tree.info() : Optional.empty();
    }

    /** Returns the same for a listing by activity. Empty also if the memory was moved since. */
    synchronized Optional<MemoryInfo> listedAs(ActivityCursor place) {
        return place.equals(listed) ? tree.info() : Optional.empty();
    }
}
