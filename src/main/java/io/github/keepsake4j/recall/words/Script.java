package io.github.keepsake4j.recall.words;

import java.lang.Character.UnicodeScript;

/** How the characters of a script become terms. */
enum Script {
    /** Not part of any term. */
    NONE,

    /** Letters and digits that make up words. */
    ALPHABET,

    /** Characters of a script whose words are not separated. */
    CHARACTERS;

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
        if (!Character.isLetterOrDigit(c)) {
            return NONE;
        }
        return switch (UnicodeScript.of(c)) {
            case HAN, HIRAGANA, KATAKANA, HANGUL, BOPOMOFO -> CHARACTERS;
            default -> ALPHABET;
        };
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
