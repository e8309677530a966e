package io.github.keepsake4j.spring;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Returns the number of a tenant's memories, and the damaged ones. An answer contains the ids of damaged memories, and
 * never texts of messages, titles or metadata. A read checks at most {@value #MOST} memories of a log. Spring Boot 3
 * requires each parameter without an annotation of its own, whatever JSpecify says.
 */
@Endpoint(id = "keepsake")
record KeepsakeEndpoint(String defaultTenant, MemoriesInUse inUse) {

    /** The canonical forms of keys, as logs and errors name memories. */
    private static final Pattern KEY = Pattern.compile("conversation(/[^/]+){2}|node(/[^/]+){4}");

    private static final int PAGE = 1_000;
    static final int MOST = 10_000;

    /** The memories of a tenant, by the names of the logs' beans. */
    record Report(String tenant, Map<String, Counts> logs) {}

    /** The memories of a tenant in a log; {@code complete} is false if there are more. */
    record Counts(String backend, long memories, long messages, long tokens, List<Damaged> damaged, boolean complete) {}

    /** A memory, or a part of it, that cannot be read. */
    record Damaged(String name, String problem) {}

    @ReadOperation
    Report report(@org.springframework.lang.Nullable @Nullable String tenant) {
        String asked = tenant == null ? defaultTenant : tenant;
        Map<String, Counts> logs = new LinkedHashMap<>();
        inUse.logs().forEach((name, log) -> logs.put(name, counts(log, asked)));
        return new Report(asked, logs);
    }

    /** The result of a thorough check of one memory; {@code known} is false if no log has the memory. */
    record Checked(boolean known, List<Damaged> damaged) {}

    /**
     * Checks one memory thoroughly.
     *
     * @param memoryId the id of a conversation, whose slashes are those of the path, or the canonical form of any key
     * @param tenant the tenant of the conversation, or null for the application's and for a key
     */
    @ReadOperation
    @Nullable
    Checked check(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] memoryId,
            @org.springframework.lang.Nullable @Nullable String tenant) {
        Keepsake keepsake = inUse.keepsake();
        if (keepsake == null || memoryId.length == 0) {
            return null;
        }
        MemoryKey key = key(keepsake, String.join("/", memoryId), tenant);
        boolean known = false;
        List<Damaged> found = new ArrayList<>();
        for (MessageLog log : inUse.logs().values()) {
            known |= Reads.isThere(log, key);
            log.check(key)
                    .forEach(damage -> found.add(new Damaged(
                            damage.messageId() == null
                                    ? damage.kind().name()
                                    : damage.kind() + " " + damage.messageId(),
                            damage.problem())));
        }
        return new Checked(known || !found.isEmpty(), found);
    }

    private static MemoryKey key(Keepsake keepsake, String memory, @Nullable String tenant) {
        if (tenant != null) {
            return keepsake.tenant(tenant).conversation(memory).key();
        }
        return KEY.matcher(memory).matches()
                ? MemoryKey.parse(memory)
                : keepsake.conversation(memory).key();
    }

    private static Counts counts(MessageLog log, String tenant) {
        long memories = 0;
        long messages = 0;
        long tokens = 0;
        List<Damaged> damaged = new ArrayList<>();
        ListQuery query = ListQuery.first(PAGE);
        while (query != null && memories + damaged.size() < MOST) {
            MemoryPage page = log.list(tenant, query);
            for (MemoryInfo memory : page.memories()) {
                memories++;
                messages += memory.messages();
                tokens += memory.tokens();
            }
            for (MemoryPage.Damaged memory : page.damaged()) {
                damaged.add(new Damaged(memory.name(), memory.problem()));
            }
            query = page.next().orElse(null);
        }
        return new Counts(log.backend(), memories, messages, tokens, damaged, query == null);
    }
}
