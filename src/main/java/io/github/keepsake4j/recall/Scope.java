package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memories in which messages are searched. All of them belong to one tenant.
 *
 * @param tenant the tenant's id
 * @param memories the memories, without duplicates, or null for all memories of the tenant; an empty list finds nothing
 */
public record Scope(String tenant, @Nullable List<MemoryKey> memories) {

    /** The largest number of memories that a scope may name. */
    public static final int MAX_MEMORIES = 1_000;

    /**
     * The number of memories above which a search reads less, because nearly every hit is then in a different memory.
     */
    private static final int FEW_MEMORIES = 32;

    /**
     * Checks and copies the components.
     *
     * @throws InvalidInputException if there are more than {@value #MAX_MEMORIES} memories, or one has another tenant
     */
    public Scope {
        Ids.check("tenant", tenant);
        if (memories != null) {
            memories = memories.stream().distinct().toList();
            if (memories.size() > MAX_MEMORIES) {
                throw new InvalidInputException(
                        "scope", "has " + memories.size() + " memories; the limit is " + MAX_MEMORIES);
            }
            for (MemoryKey key : memories) {
                if (!key.tenant().equals(tenant)) {
                    throw new InvalidInputException(
                            "scope", "memory " + key + " belongs to another tenant; name memories of one tenant");
                }
            }
        }
    }

    /**
     * Returns the scope of one memory.
     *
     * @param key the memory
     * @return the scope
     */
    public static Scope memory(MemoryKey key) {
        return new Scope(key.tenant(), List.of(key));
    }

    /**
     * Returns the scope of several memories of one tenant.
     *
     * @param keys the memories, from 1 to {@value #MAX_MEMORIES}
     * @return the scope
     * @throws InvalidInputException if there are none or too many, or they belong to several tenants
     */
    public static Scope memories(Collection<? extends MemoryKey> keys) {
        MemoryKey first = keys.stream()
                .findFirst()
                .orElseThrow(() -> new InvalidInputException("scope", "must have at least one memory"));
        return new Scope(first.tenant(), List.copyOf(keys));
    }

    /**
     * Returns the scope of all memories of a tenant. It is for the tenant's own staff, not for one of its users.
     *
     * @param tenant the tenant's id
     * @return the scope
     */
    public static Scope tenant(String tenant) {
        return new Scope(InvalidInputException.given("tenant", tenant), null);
    }

    /** Returns whether the scope has so many memories that a search reads less. */
    boolean isLarge() {
        return memories == null || memories.size() > FEW_MEMORIES;
    }

    /** Returns the only memory, or null if the scope has none or several. */
    @Nullable
    MemoryKey only() {
        return memories != null && memories.size() == 1 ? memories.get(0) : null;
    }
}
