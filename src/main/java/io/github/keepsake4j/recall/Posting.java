package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.ChatMessageType;

/**
 * A message in which a term occurs.
 *
 * @param memory the memory's number in the index; see {@link MessageIndex#keys}
 * @param sequence the message's sequence in its memory
 * @param count how often the term occurs, at most {@value #MAX_COUNT}
 * @param length the message's length in terms, rounded to a value that fits in one byte
 * @param type the type of message; {@code CUSTOM} for messages that come neither from the user nor the model nor a tool
 */
public record Posting(long memory, long sequence, int count, int length, ChatMessageType type) {

    /** The largest count that an index distinguishes. */
    public static final int MAX_COUNT = 15;

    private static final int SEQUENCE_BITS = 18;
    private static final int COUNT_BITS = 4;
    private static final int TYPE_BITS = 2;
    private static final int LENGTH_BITS = 8;

    /** The number of consecutive sequences that the stored form can tell apart. */
    public static final int BLOCK = 1 << SEQUENCE_BITS;

    private static final ChatMessageType[] TYPES = {
        ChatMessageType.USER, ChatMessageType.AI, ChatMessageType.TOOL_EXECUTION_RESULT, ChatMessageType.CUSTOM
    };

    /**
     * Returns the stored form of a posting: 18 bits of the sequence, 4 of the count, 2 of the type and 8 of the length.
     *
     * @param message the message
     * @param count how often the term occurs in it
     * @return 32 bits
     */
    public static int encode(IndexedMessage message, int count) {
        int sequence = (int) (message.sequence() & (BLOCK - 1));
        int type = 0;
        while (type < TYPES.length - 1 && TYPES[type] != message.type()) {
            type++;
        }
        return ((sequence << COUNT_BITS | Math.min(count, MAX_COUNT)) << TYPE_BITS | type) << LENGTH_BITS
                | lengthClass(message.length());
    }

    /**
     * Reads a posting.
     *
     * @param memory the memory's number
     * @param block the first sequence of the block of {@link #BLOCK} sequences that it is in
     * @param stored the stored form
     * @return the posting
     */
    public static Posting decode(long memory, long block, int stored) {
        int count = stored >>> (LENGTH_BITS + TYPE_BITS) & ((1 << COUNT_BITS) - 1);
        return new Posting(
                memory,
                block + (stored >>> (32 - SEQUENCE_BITS)),
                count,
                length(stored & ((1 << LENGTH_BITS) - 1)),
                TYPES[stored >>> LENGTH_BITS & ((1 << TYPE_BITS) - 1)]);
    }

    /** Rounds a length so that it fits in one byte: exact below 32, and to an eighth above. */
    private static int lengthClass(int length) {
        if (length < 32) {
            return length;
        }
        int exponent = 31 - Integer.numberOfLeadingZeros(length);
        return 32 + (exponent - 5) * 8 + (length >> (exponent - 3) & 7);
    }

    private static int length(int lengthClass) {
        if (lengthClass < 32) {
            return lengthClass;
        }
        int exponent = 5 + (lengthClass - 32) / 8;
        return 1 << exponent | (lengthClass & 7) << (exponent - 3);
    }
}
