package com.example.league;

import java.util.List;

/** A chat with a scripted model and the memory of a subject, driven by the subject's own framework. */
interface Chat extends AutoCloseable {

    /** Stores plain turns without asking the model, as many messages as wanted or as the memory keeps. */
    void fill(String conversation, int messages);

    /** Makes one turn. Returns the answer. */
    String ask(String conversation, String question);

    /** Returns the texts of the messages that the next request would show, in order. */
    List<String> shown(String conversation);

    /** Returns the texts of all stored messages, in order. */
    List<String> stored(String conversation);

    @Override
    void close();
}
