package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryTree;
import java.util.Optional;
import java.util.function.Function;

/** One memory and its lock. It is never removed, even if it is empty, because its epoch must outlive its messages. */
final class StoredMemory {

    /** Guarded by this. Not final, so that a test can replace it with damaged content. */
    MemoryTree tree;

    /** Guarded by this. The number under which the tenant's listing holds this memory, or 0 if it is not listed. */
    private long listedAs;

    StoredMemory(MemoryTree tree) {
        this.tree = tree;
    }

    synchronized <T> T read(Function<MemoryTree, T> query) {
        return query.apply(tree);
    }

    /** Changes the memory, and updates the listing in the same step. */
    synchronized <T> T write(Function<MemoryTree, T> change, TenantListing listing) {
        T result = change.apply(tree);
        boolean listed = tree.info().isPresent();
        if (listed && listedAs == 0) {
            listedAs = listing.add(this);
        } else if (!listed && listedAs != 0) {
            listing.remove(listedAs);
            listedAs = 0;
        }
        return result;
    }

    /**
     * Returns the information that a listing shows. Empty if the memory was erased since the listing read the number,
     * even if the memory was written again.
     */
    synchronized Optional<MemoryInfo> listedAs(long number) {
        return listedAs == number ? tree.info() : Optional.empty();
    }
}
