package io.github.keepsake4j.codec;

import org.jspecify.annotations.Nullable;

/**
 * The location of a value in a message, such as {@code attributes.a[2].b}. The steps are linked and not concatenated,
 * because only an error needs the text.
 */
record JsonPath(@Nullable JsonPath parent, String step) {

    /**
     * The maximum length of a step in an error message. Keys are data, and a long or unprintable key must not clutter a
     * log.
     */
    private static final int MAX_STEP = 64;

    static JsonPath of(String field) {
        return new JsonPath(null, field);
    }

    JsonPath field(String name) {
        return new JsonPath(this, "." + name);
    }

    JsonPath index(int index) {
        return new JsonPath(this, "[" + index + "]");
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (JsonPath path = this; path != null; path = path.parent) {
            text.insert(0, printable(path.step));
        }
        return text.toString();
    }

    /**
     * Makes a name from stored data or user data safe for an error message: it is shortened, and unprintable characters
     * are replaced.
     */
    static String printable(String name) {
        StringBuilder text = new StringBuilder();
        int length = Math.min(name.length(), MAX_STEP);
        for (int i = 0; i < length; i++) {
            char c = name.charAt(i);
            text.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
        }
        return name.length() > MAX_STEP ? text.append('…').toString() : text.toString();
    }
}
