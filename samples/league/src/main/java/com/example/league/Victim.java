package com.example.league;

import java.nio.file.Path;

/** A process that makes turns until it is killed, and says which of them were answered. */
public final class Victim {

    /** More messages than a victim makes. */
    static final int WINDOW = 100_000;

    static final String CONVERSATION = "c";

    private Victim() {}

    /** Arguments: subject, database, port, file or "-", number of the first turn. */
    public static void main(String[] arguments) {
        Subject subject = Subject.valueOf(arguments[0]);
        try (Chat chat = chat(subject, arguments[1], Integer.parseInt(arguments[2]), Path.of(arguments[3]))) {
            for (int turn = Integer.parseInt(arguments[4]); ; turn++) {
                chat.ask(CONVERSATION, Texts.question(turn, false));
                System.out.println(turn);
                System.out.flush();
            }
        }
    }

    static Chat chat(Subject subject, String database, int port, Path file) {
        return subject.open(new Home(Server.pool(Server.database(database, port), 1), file), WINDOW);
    }
}
