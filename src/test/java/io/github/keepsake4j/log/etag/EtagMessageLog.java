package io.github.keepsake4j.log.etag;

import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.TreeMessageLog;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * A log with the structure of object storage. Each memory is one document. A change is applied again to the current
 * document until no other writer was first. It shows that the interface does not require a database.
 */
final class EtagMessageLog extends TreeMessageLog {

    private static final MessageCodec CODEC = new MessageCodec();
    private static final MemoryTree.Payloads PAYLOADS = new MemoryTree.Payloads(CODEC::encode, CODEC::decodeRow);

    /** A step that accesses the bucket. */
    private interface Step<T> {

        T run() throws IOException;
    }

    private final Bucket bucket;
    private final Clock clock;

    /** Writers of one process wait for each other, because a lost race costs a whole document. */
    private final ConcurrentMap<MemoryKey, Lock> locks = new ConcurrentHashMap<>();

    EtagMessageLog(Bucket bucket, Clock clock) {
        this.bucket = bucket;
        this.clock = clock;
    }

    static String name(MemoryKey key) {
        return "memories/" + MemoryKey.encode(key.tenant()) + "/" + key.canonical();
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        long below = query.cursorAsNumber();
        List<Document> found = reaching("list", () -> {
            List<Document> documents = new ArrayList<>();
            for (String name : bucket.namesWith("memories/" + MemoryKey.encode(tenant) + "/")) {
                documents.add(Document.parse(bucket.get(name).orElseThrow().bytes()));
            }
            return documents;
        });
        List<DailyUsage> usage = new ArrayList<>();
        List<Document> page = found.stream()
                .filter(document -> document.number() > 0 && document.number() < below)
                .filter(document -> query.usage() == null || usage.addAll(usage(document, query.usage())))
                .sorted(Comparator.comparing(Document::number).reversed())
                .limit(query.limit() + 1L)
                .toList();
        boolean more = page.size() > query.limit();
        List<MemoryInfo> infos = page.stream()
                .limit(query.limit())
                .map(document -> tree(document).info().orElseThrow())
                .toList();
        usage.removeIf(used -> infos.stream().noneMatch(info -> info.key().equals(used.key())));
        return new MemoryPage(
                infos,
                List.of(),
                usage,
                more
                        ? Optional.of(query.startingAt(
                                Long.toString(page.get(query.limit() - 1).number())))
                        : Optional.empty());
    }

    private static List<DailyUsage> usage(Document document, ListQuery.Days days) {
        return tree(document).usage(days.from(), days.toExclusive());
    }

    private static MemoryTree tree(Document document) {
        return new MemoryTree(document.key(), PAYLOADS, document.state());
    }

    @Override
    protected Instant now() {
        return clock.instant();
    }

    @Override
    protected <T> T ask(MemoryKey key, Function<MemoryTree, T> query) {
        return query.apply(tree(key, load(key)));
    }

    @Override
    protected <T> T change(MemoryKey key, Function<MemoryTree, T> change) {
        Lock lock = locks.computeIfAbsent(key, k -> new ReentrantLock());
        lock.lock();
        try {
            return writeUntilFirst(key, change);
        } finally {
            lock.unlock();
        }
    }

    private <T> T writeUntilFirst(MemoryKey key, Function<MemoryTree, T> change) {
        while (true) {
            Optional<Bucket.Blob> before = load(key);
            MemoryTree tree = tree(key, before);
            T result = change.apply(tree);
            boolean written = reaching("write " + key, () -> {
                long number = before.isEmpty()
                        ? 0
                        : Document.parse(before.get().bytes()).number();
                if (tree.info().isEmpty()) {
                    number = 0;
                } else if (number == 0) {
                    number = nextNumber(key.tenant());
                }
                byte[] bytes = Document.of(key, number, tree.state()).bytes();
                return before.isEmpty()
                        ? bucket.putIfAbsent(name(key), bytes)
                        : bucket.putIfMatch(name(key), before.get().etag(), bytes);
            });
            if (written) {
                return result;
            }
        }
    }

    /** Returns a new number. Numbers never repeat. Some are skipped when two writers create the same memory at once. */
    private long nextNumber(String tenant) throws IOException {
        String name = "numbers/" + MemoryKey.encode(tenant);
        while (true) {
            Optional<Bucket.Blob> before = bucket.get(name);
            long number = before.isEmpty()
                    ? 1
                    : Long.parseLong(new String(before.get().bytes(), StandardCharsets.US_ASCII)) + 1;
            byte[] bytes = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
            if (before.isEmpty()
                    ? bucket.putIfAbsent(name, bytes)
                    : bucket.putIfMatch(name, before.get().etag(), bytes)) {
                return number;
            }
        }
    }

    private Optional<Bucket.Blob> load(MemoryKey key) {
        return reaching("read " + key, () -> bucket.get(name(key)));
    }

    private MemoryTree tree(MemoryKey key, Optional<Bucket.Blob> blob) {
        return blob.isEmpty()
                ? new MemoryTree(key, PAYLOADS)
                : reaching(
                        "parse " + key,
                        () -> new MemoryTree(
                                key,
                                PAYLOADS,
                                Document.parse(blob.get().bytes()).state()));
    }

    private static <T> T reaching(String what, Step<T> step) {
        try {
            return step.run();
        } catch (IOException e) {
            throw new StorageUnavailableException("Cannot " + what, e);
        }
    }
}
