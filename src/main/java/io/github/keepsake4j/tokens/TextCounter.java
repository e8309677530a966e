package io.github.keepsake4j.tokens;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.EncodingType;

/**
 * Counts the tokens of a text in bounded time. JTokkit's time per character grows with the length of what it cannot split
 * into words: it needs up to 3.5 s for a million characters without a space. In pieces of 2,048 characters it needs a
 * third of that, and a count that is off by a token or so per piece.
 */
record TextCounter(EncodingType encoding) {

    /** Texts up to this length are counted whole. */
    static final int MAX_WHOLE = 64 * 1024;

    /** The length of a piece of a longer text. */
    static final int PIECE = 2 * 1024;

    /** Texts above this length are sampled. */
    static final int MAX_COUNTED = 4 * 1024 * 1024;

    /** How many evenly spaced pieces a sample has: a million characters in all. */
    static final int SAMPLES = 512;

    /** Loading an encoding takes up to half a second, so each is loaded at most once, when it is first used. */
    private static final EncodingRegistry REGISTRY = Encodings.newLazyEncodingRegistry();

    long count(String any) {
        String text = withoutLoneSurrogates(any);
        if (text.length() <= MAX_WHOLE) {
            return whole(text);
        }
        return text.length() <= MAX_COUNTED ? inPieces(text) : bySample(text);
    }

    /**
     * Half a surrogate pair is no text that a model could get: a question mark takes its place, as in any encoder of UTF-8.
     * JTokkit has an assertion against it, whose error quotes the whole text.
     */
    private static String withoutLoneSurrogates(String text) {
        StringBuilder replaced = null;
        for (int i = 0; i < text.length(); i++) {
            if (!Character.isSurrogate(text.charAt(i))) {
                continue;
            }
            if (Character.isSupplementaryCodePoint(text.codePointAt(i))) {
                i++;
                continue;
            }
            if (replaced == null) {
                replaced = new StringBuilder(text);
            }
            replaced.setCharAt(i, '?');
        }
        return replaced == null ? text : replaced.toString();
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
     * Where a piece should end. Between a letter and a space every encoding splits anyway, so a cut there changes no count;
     * only a text without one in reach is cut anywhere, though never within a surrogate pair.
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
