package io.github.keepsake4j.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Tell;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;

/** Goes through a tenant's list while others write to its memories and make new ones. */
public final class WalkWhileWriting {

    private WalkWhileWriting() {}

    /**
     * Checks that none of some memories is missed or met twice.
     *
     * @param reader reads the list
     * @param others writes meanwhile, as another process would
     * @param first the first page
     * @param all the memories, of one tenant
     */
    public static void check(MessageLog reader, MessageLog others, ListQuery first, List<? extends MemoryKey> all) {
        Set<MemoryKey> written = ConcurrentHashMap.newKeySet();
        AtomicBoolean done = new AtomicBoolean();
        String tenant = all.get(0).tenant();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            Random random = new Random(3);
            for (int i = 0; !done.get(); i++) {
                MemoryKey key = random.nextInt(4) == 0
                        ? ConversationKey.of(tenant, "new " + i)
                        : all.get(random.nextInt(all.size()));
                written.add(key);
                others.append(key, LogTesting.batch("w" + i));
            }
        });
        List<MemoryKey> met = new ArrayList<>();
        try {
            Awaitility.await().until(() -> !written.isEmpty() || writer.isDone());
            Optional<ListQuery> next = Optional.of(first);
            while (next.isPresent()) {
                MemoryPage page = reader.list(tenant, next.get());
                page.memories().forEach(info -> met.add(info.key()));
                assertThat(page.damaged()).isEmpty();
                next = page.next();
                LogTesting.refuseToPageForEver(met);
            }
        } finally {
            done.set(true);
            writer.join();
        }
        Tell.line(
                "%s, %s: %d memories met, %d written to meanwhile",
                reader.backend(), first.activeFirst() ? "by activity" : "in order", met.size(), written.size());
        assertThat(met).doesNotHaveDuplicates();
        Set<MemoryKey> missing = new HashSet<>(all);
        met.forEach(missing::remove);
        // What moves to the front during the walk may be met there only.
        missing.removeAll(first.activeFirst() ? written : Set.of());
        assertThat(missing).isEmpty();
    }
}
