package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryTree;
import java.util.Optional;
import java.util.function.Function;

/** One memory and its lock. Once made it stays, even empty: its epoch must outlive what it held. */
final class StoredMemory {

    /** Guarded by this. Not final, so that a test can put damaged content in its place. */
    MemoryTree tree;

    /** Guarded by this. The number under which the tenant's listing knows it, or 0 while it is not listed. */
    private long listedAs;

    StoredMemory(MemoryTree tree) {
        this.tree = tree;
    }

    synchronized <T> T read(Function<MemoryTree, T> query) {
        return query.apply(tree);
    }

    /** Changes the memory; the listing follows in the same step, whatever the change was. */
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

    /** What a listing shows, unless the memory was erased (and maybe written anew) since the listing met it. */
    synchronized Optional<MemoryInfo> listedAs(long number) {
        return listedAs == number ? tree.info() : Optional.empty();
    }
}
