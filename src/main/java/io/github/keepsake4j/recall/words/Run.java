package io.github.keepsake4j.recall.words;

/** Adjacent characters of one script. */
record Run(int start, int end, Script script) {

    private static final int MAX_AFTER_APOSTROPHE = 2;

    int length() {
        return end - start;
    }

    /** Finds the run that begins at a place. */
    static Run at(NormalizedText text, int start) {
        int first = text.codePointAt(start);
        Script script = Script.of(first);
        int at = start + Character.charCount(first);
        if (script == Script.NONE) {
            return new Run(start, at, script);
        }
        while (at < text.length()) {
            int c = text.codePointAt(at);
            if (Script.of(c) != script && !Script.belongsToWord(c)) {
                break;
            }
            at += Character.charCount(c);
        }
        return new Run(start, script == Script.ALPHABET ? withEnding(text, at) : at, script);
    }

    /** Adds an apostrophe with the one or two letters after it, as in "Anna's" and "we'll". */
    private static int withEnding(NormalizedText text, int end) {
        if (end >= text.length() || !isApostrophe(text.codePointAt(end))) {
            return end;
        }
        int at = end + 1;
        while (at < text.length() && Script.of(text.codePointAt(at)) == Script.ALPHABET) {
            at += Character.charCount(text.codePointAt(at));
            if (at > end + 1 + MAX_AFTER_APOSTROPHE) {
                return end;
            }
        }
        return at == end + 1 ? end : at;
    }

    private static boolean isApostrophe(int c) {
        return c == Script.APOSTROPHE || c == Script.TYPOGRAPHIC_APOSTROPHE;
    }
}
