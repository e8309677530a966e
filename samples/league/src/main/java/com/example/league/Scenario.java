package com.example.league;

import java.util.Locale;

/**
 * A length of conversations.
 *
 * @param messages how many messages a conversation has
 * @param window how many of them are shown
 */
record Scenario(int messages, int window) {

    static Scenario whole(int messages) {
        return new Scenario(messages, messages);
    }

    String title() {
        String length = String.format(Locale.ROOT, "%,d", messages);
        return window == messages ? length : String.format(Locale.ROOT, "%,d of %s", window, length);
    }
}
