package io.github.keepsake4j.chat;

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
 * From LangChain4j's memory ids to keys. A {@link MemoryKey} is taken as it is; a String, a number or a UUID becomes a
 * conversation of one tenant under its one text form, so that {@code 42L} and {@code "42"} are the same conversation.
 * Thread-safe if the mapper is.
 *
 * @param tenant the tenant that plain ids belong to
 * @param acceptDefault whether {@code "default"}, which stands for "no id was given", is accepted
 * @param mapper makes a key of an id of another type, or null to refuse those
 */
record MemoryIds(String tenant, boolean acceptDefault, @Nullable Function<Object, MemoryKey> mapper) {

    /** What AiServices passes when there is no {@code @MemoryId}. */
    private static final String NO_ID = "default";

    /** Checks the tenant. */
    public MemoryIds {
        Ids.check("tenant", tenant);
    }

    /**
     * Makes the key.
     *
     * @param memoryId the id as LangChain4j gives it
     * @return the key
     * @throws InvalidInputException if the id is null, "default" without opt-in, of an unknown type, or breaks a rule
     */
    public MemoryKey key(@Nullable Object memoryId) {
        if (memoryId instanceof MemoryKey key) {
            return key;
        }
        if (NO_ID.equals(memoryId) && !acceptDefault) {
            throw new InvalidInputException(
                    "memory id",
                    "no @MemoryId was given (or it is literally \"default\"), so LangChain4j passes \"default\", which every user would share. Add a"
                            + " @MemoryId parameter (or .id(memoryId) to the builder of a chat memory), or say Keepsake.builder().acceptDefaultMemoryId() if there is only"
                            + " one user");
        }
        String text = text(memoryId);
        if (text != null) {
            Ids.check("memory id", text);
            return ConversationKey.of(tenant, text);
        }
        if (memoryId != null && mapper != null) {
            return mapper.apply(memoryId);
        }
        throw new InvalidInputException(
                "memory id",
                "must be a MemoryKey, String, number or UUID, is "
                        + (memoryId == null ? "null" : memoryId.getClass().getName())
                        + ". Keepsake.builder().memoryIdMapper(...) takes other types");
    }

    private static @Nullable String text(@Nullable Object memoryId) {
        if (memoryId instanceof String || memoryId instanceof UUID) {
            return memoryId.toString();
        }
        if (memoryId instanceof Long
                || memoryId instanceof Integer
                || memoryId instanceof Short
                || memoryId instanceof Byte
                || memoryId instanceof BigInteger) {
            return memoryId.toString();
        }
        if (memoryId instanceof BigDecimal decimal) {
            return plain(decimal);
        }
        if (memoryId instanceof Double || memoryId instanceof Float) {
            try {
                return plain(new BigDecimal(memoryId.toString()));
            } catch (NumberFormatException e) {
                throw new InvalidInputException("memory id", "must be a finite number");
            }
        }
        return null;
    }

    /** One number, one text: 1.50 and 15E-1 are 1.5. */
    private static String plain(BigDecimal decimal) {
        BigDecimal shortest = decimal.stripTrailingZeros();
        if (Math.abs((long) shortest.scale()) > Ids.MAX_BYTES) {
            throw new InvalidInputException("memory id", "is a number of too many digits");
        }
        return shortest.toPlainString();
    }
}
