package io.github.keepsake4j;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Converts LangChain4j's memory ids to keys. A {@link MemoryKey} is used unchanged. A String, a number or a UUID names
 * a conversation of one tenant by its canonical text, so {@code 42L} and {@code "42"} name the same conversation.
 * Thread-safe if the mapper is.
 *
 * @param tenant the tenant of plain ids
 * @param acceptDefault whether {@code "default"} is accepted, which means that no id was given
 * @param mapper returns the key of an id of another type, or null to refuse such ids
 */
record MemoryIds(String tenant, boolean acceptDefault, @Nullable Function<Object, MemoryKey> mapper) {

    /** The id that AiServices passes when a method has no {@code @MemoryId}. */
    private static final String NO_ID = "default";

    /** Checks the tenant. */
    MemoryIds {
        if (Ids.check("tenant", tenant).isBlank()) {
            throw new InvalidInputException("tenant", "must not be blank");
        }
    }

    /**
     * Returns the key of a memory id.
     *
     * @param memoryId the id as LangChain4j passed it
     * @return the key
     * @throws InvalidInputException if the id is null, {@code "default"} without opt-in, of an unknown type, or breaks
     *     a rule
     */
    MemoryKey key(@Nullable Object memoryId) {
        if (memoryId instanceof MemoryKey key) {
            return key;
        }
        if (NO_ID.equals(memoryId) && !acceptDefault) {
            throw new InvalidInputException(
                    "memory id",
                    "no @MemoryId was given (or it is literally \"default\"), so LangChain4j passes \"default\", which every user would share. Add a"
                            + " @MemoryId parameter (or .id(memoryId) to the builder of a chat memory), or call Keepsake.builder().acceptDefaultMemoryId() (in Spring Boot,"
                            + " keepsake4j.accept-default-memory-id=true) if there is only one user");
        }
        String text = text(memoryId);
        if (memoryId == null || (text != null && text.isBlank())) {
            throw new InvalidInputException(
                    "memory id",
                    "must not be null, empty or blank, because all who have no id would share it; pass the user's or the"
                            + " conversation's id");
        }
        if (text != null) {
            return ConversationKey.of(tenant, Ids.check("memory id", text));
        }
        if (mapper != null) {
            return mapper.apply(memoryId);
        }
        throw new InvalidInputException(
                "memory id",
                "must be a MemoryKey, String, number or UUID, is "
                        + memoryId.getClass().getName()
                        + ". For other types, set Keepsake.builder().memoryIdMapper(...)");
    }

    /** Returns these rules for the plain ids of a tenant. */
    MemoryIds of(String other) {
        return new MemoryIds(other, acceptDefault, mapper);
    }

    private static @Nullable String text(@Nullable Object memoryId) {
        if (memoryId instanceof String
                || memoryId instanceof UUID
                || memoryId instanceof Long
                || memoryId instanceof Integer
                || memoryId instanceof Short
                || memoryId instanceof Byte
                || memoryId instanceof BigInteger) {
            return memoryId.toString();
        }
        if (memoryId instanceof BigDecimal || memoryId instanceof Double || memoryId instanceof Float) {
            try {
                return plain(new BigDecimal(memoryId.toString()));
            } catch (NumberFormatException e) {
                throw new InvalidInputException("memory id", "must be a finite number, is NaN or infinite");
            }
        }
        return null;
    }

    /** Equal numbers have the same text: 1.50 and 15E-1 are both 1.5. */
    private static String plain(BigDecimal decimal) {
        BigDecimal shortest = decimal.stripTrailingZeros();
        if (Math.abs((long) shortest.scale()) > Ids.MAX_BYTES) {
            throw new InvalidInputException("memory id", "is a number with too many digits; use a String");
        }
        return shortest.toPlainString();
    }
}
