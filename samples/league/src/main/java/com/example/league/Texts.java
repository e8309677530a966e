package com.example.league;

/** What is said. Each text has about 320 characters. */
final class Texts {

    /** A question that begins like this lets the model call two tools. */
    static final String WITH_TOOLS = "tools";

    /** To a question that begins like this, the model reports how many tokens it used. */
    static final String WITH_USAGE = "usage";

    static final String PLAIN = "plain";

    private static final String REST =
            " The hives at the edge of the orchard were opened in the morning, and the keeper noted the weight of each"
                    + " frame, the age of the queen, how many cells were sealed and how much syrup was left. Two colonies had"
                    + " swarmed in the week before. The weather was to stay dry until Friday, so the next visit can wait.";

    private Texts() {}

    static String question(long turn, boolean tools) {
        return question(turn, tools ? WITH_TOOLS : PLAIN);
    }

    static String question(long turn, String kind) {
        return kind + " question " + turn + "." + REST;
    }

    static String answer(String question) {
        return "answer to " + question;
    }

    static String result(String hive) {
        return "hive " + hive + "." + REST;
    }

    /** Returns the text of message {@code index} of a conversation of plain turns. */
    static String filled(int index) {
        String question = question(-1 - index / 2, false);
        return index % 2 == 0 ? question : answer(question);
    }
}
