package io.github.keepsake4j.recall.words;

import java.lang.Character.UnicodeScript;

/** How the characters of a script become terms. */
enum Script {
    /** Not part of any term. */
    NONE,

    /** Letters and digits that make up words. */
    ALPHABET,

    /** Characters of a script whose words are not separated. */
    CHARACTERS,

    /** Emoji. */
    EMOJI;

    static final int APOSTROPHE = '\'';
    static final int TYPOGRAPHIC_APOSTROPHE = '\u2019';

    private static final int PROLONGED_SOUND = 0x30FC;

    static Script of(int c) {
        if (c < 0x80) {
            return Character.isLetterOrDigit(c) ? ALPHABET : NONE;
        }
        if (c == PROLONGED_SOUND) {
            return CHARACTERS;
        }
        if (isEmoji(c)) {
            return EMOJI;
        }
        if (!Character.isLetterOrDigit(c)) {
            return NONE;
        }
        return switch (UnicodeScript.of(c)) {
            case HAN, HIRAGANA, KATAKANA, HANGUL, BOPOMOFO -> CHARACTERS;
            default -> ALPHABET;
        };
    }

    /**
     * Returns whether a character is in a block of emoji. These are numbers since a Java version does not know the emoji of
     * later ones, and the terms must not depend on it.
     */
    private static boolean isEmoji(int c) {
        return (c >= 0x2300 && c <= 0x23FF)
                || (c >= 0x2600 && c <= 0x27BF)
                || (c >= 0x2B00 && c <= 0x2BFF)
                || (c >= 0x1F000 && c <= 0x1FAFF);
    }

    /** Returns whether a character changes the skin of the emoji before it. */
    static boolean isSkin(int c) {
        return c >= 0x1F3FB && c <= 0x1F3FF;
    }

    /** Returns whether a character is one of two letters that make a flag. */
    static boolean isFlagLetter(int c) {
        return c >= 0x1F1E6 && c <= 0x1F1FF;
    }

    static boolean isHiragana(int c) {
        return c >= 0x3041 && c <= 0x309F;
    }

    /**
     * Returns whether a character other than a letter belongs to the word before it: a mark, or an invisible character.
     */
    static boolean belongsToWord(int c) {
        return isMark(c) || Character.getType(c) == Character.FORMAT;
    }

    static boolean isMark(int c) {
        return switch (Character.getType(c)) {
            case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK -> true;
            default -> false;
        };
    }
}
