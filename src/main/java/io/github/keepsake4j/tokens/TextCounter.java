package io.github.keepsake4j.tokens;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.EncodingType;
import java.nio.charset.StandardCharsets;

/**
 * Counts the tokens of a text in bounded time. JTokkit's time per character grows with the length of the parts that it
 * cannot split into words: it needs up to 3.5 s for a million characters without a space. In pieces of 2,048 characters
 * it needs a third of that time, and the count may be off by about one token per piece.
 */
record TextCounter(EncodingType encoding) {

    /** The maximum length of a text that is counted as a whole, in characters. */
    static final int MAX_WHOLE = 64 * 1024;

    /** The length of a piece of a longer text, in characters. */
    static final int PIECE = 2 * 1024;

    /** The maximum length of a text that is counted completely, in characters. Longer texts are sampled. */
    static final int MAX_COUNTED = 4 * 1024 * 1024;

    /** The number of evenly spaced pieces in a sample. Together they have a million characters. */
    static final int SAMPLES = 512;

    /** Loading an encoding takes up to half a second. Each encoding is loaded at most once, on its first use. */
    private static final EncodingRegistry REGISTRY = Encodings.newLazyEncodingRegistry();

    /** Counts as {@link EncodingType#O200K_BASE} does. */
    private static final AsciiCounter ASCII = new AsciiCounter(
            part -> REGISTRY.getEncoding(EncodingType.O200K_BASE).countTokensOrdinary(part));

    long count(String any) {
        boolean maySplit = encoding == EncodingType.O200K_BASE && any.length() <= MAX_WHOLE;
        int tokens = maySplit ? ASCII.count(any) : AsciiCounter.NOT_ASCII;
        return tokens == AsciiCounter.NOT_ASCII ? encoded(withoutLoneSurrogates(any)) : tokens;
    }

    private long encoded(String text) {
        if (text.length() <= MAX_WHOLE) {
            return whole(text);
        }
        return text.length() <= MAX_COUNTED ? inPieces(text) : bySample(text);
    }

    /**
     * Replaces unpaired surrogates with question marks, as every UTF-8 encoder does, because no model could receive
     * them. JTokkit checks for them with an assertion whose error quotes the whole text.
     */
    private static String withoutLoneSurrogates(String text) {
        // A text without surrogates is not copied.
        return text.chars().anyMatch(each -> Character.isSurrogate((char) each))
                ? new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
                : text;
    }

    private int whole(String text) {
        return REGISTRY.getEncoding(encoding).countTokensOrdinary(text);
    }

    private long inPieces(String text) {
        long tokens = 0;
        int start = 0;
        while (start < text.length()) {
            int end = pieceEnd(text, start);
            tokens += whole(text.substring(start, end));
            start = end;
        }
        return tokens;
    }

    private long bySample(String text) {
        long tokens = 0;
        long counted = 0;
        for (int i = 0; i < SAMPLES; i++) {
            int start = pairStart(text, (int) ((long) text.length() * i / SAMPLES));
            int end = pieceEnd(text, start);
            tokens += whole(text.substring(start, end));
            counted += end - start;
        }
        return Math.round((double) tokens * text.length() / counted);
    }

    /**
     * Returns the index at which a piece should end. Every encoding splits between a letter and a space anyway, so a
     * cut there does not change the count. A text without such a place in reach is cut at any place, but never within a
     * surrogate pair.
     */
    static int pieceEnd(String text, int start) {
        if (text.length() - start <= PIECE) {
            return text.length();
        }
        int end = start + PIECE;
        for (int cut = end; cut > start + PIECE / 2; cut--) {
            if (text.charAt(cut) == ' ' && Character.isLetter(text.charAt(cut - 1))) {
                return cut;
            }
        }
        return pairStart(text, end);
    }

    private static int pairStart(String text, int index) {
        boolean within = index > 0
                && Character.isLowSurrogate(text.charAt(index))
                && Character.isHighSurrogate(text.charAt(index - 1));
        return within ? index - 1 : index;
    }
}
