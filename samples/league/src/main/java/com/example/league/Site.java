package com.example.league;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** A chat of a subject with its database. */
final class Site implements AutoCloseable {

    private final HikariDataSource pool;
    private final Path file;
    private final Chat chat;

    private Site(HikariDataSource pool, Path file, Chat chat) {
        this.pool = pool;
        this.file = file;
        this.chat = chat;
    }

    /**
     * Opens a chat of a subject.
     *
     * @param database the name of the subject's database
     * @param port the port of the server, or of a link to it
     * @param connections the most connections at once
     * @param window how many messages are shown
     */
    static Site open(Subject subject, String database, int port, int connections, int window) {
        return open(subject, database, port, connections, window, source -> source);
    }

    static Site open(
            Subject subject, String database, int port, int connections, int window, UnaryOperator<DataSource> around) {
        boolean served = subject.place() == Subject.Place.SERVER;
        HikariDataSource pool = served ? Server.pool(Server.database(database, port), connections) : null;
        try {
            Path file = subject.place() == Subject.Place.FILE ? Files.createTempFile("league", ".db") : null;
            Home home = new Home(served ? around.apply(pool) : null, file);
            return new Site(pool, file, subject.open(home, window));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Chat chat() {
        return chat;
    }

    @Override
    public void close() {
        chat.close();
        if (pool != null) {
            pool.close();
        }
        if (file != null) {
            for (String end : new String[] {"", "-wal", "-shm"}) {
                file.resolveSibling(file.getFileName() + end).toFile().delete();
            }
        }
    }
}
