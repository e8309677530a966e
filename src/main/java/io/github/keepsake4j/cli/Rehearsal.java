package io.github.keepsake4j.cli;

import io.github.keepsake4j.base.Library;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs the usual commands in a directory of its own, so that Java can make an archive of the classes that they use. The
 * script {@code keepsake} calls it once.
 */
final class Rehearsal {

    private Rehearsal() {}

    /**
     * Runs the commands.
     *
     * @param arguments an empty directory, in which SQLite's library stays, and a directory {@code rehearsal} that is not
     *     needed later
     * @throws IOException if the directory cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        boolean done = run(Files.createDirectory(directory.resolve("rehearsal")));
        keepSqlite(directory);
        for (Library library : Library.values()) {
            done &= library.isThere();
        }
        System.exit(done ? ExitCodes.OK : ExitCodes.FAILED);
    }

    /** Runs the commands, and returns whether all were successful. */
    static boolean run(Path directory) {
        String log = "sqlite:" + directory.resolve("chat.db");
        String copy = "file:" + directory.resolve("chats");
        String export = directory.resolve("export.ndjson").toString();
        List<List<String>> commands = List.of(
                List.of("--help"),
                List.of("add", "--log", log, "--session", "a", "--content", "My name is Ada."),
                List.of("add", "--log", log, "--session", "a", "--role", "assistant", "--content", "Hello!", "--json"),
                List.of("get", "--log", log, "--session", "a"),
                List.of("history", "--log", log, "--session", "a"),
                List.of("history", "--log", log, "--session", "a", "--newest", "1", "--json"),
                List.of("branches", "--log", log, "--session", "a"),
                List.of("list", "--log", log),
                List.of("list", "--log", log, "--json"),
                List.of("check", "--log", log),
                List.of("copy", "--from", log, "--to", copy),
                List.of("list", "--log", copy),
                List.of("export", "--log", log, ">" + export),
                List.of("import", "--log", "memory:", "--input", export),
                List.of("clean-up", "--log", log, "--idle", "1d", "--dry-run"),
                List.of("clear", "--log", log, "--session", "a"),
                List.of("erase", "--log", log, "--session", "a"));
        boolean done = true;
        for (List<String> command : commands) {
            done &= run(new ArrayList<>(command));
        }
        return done;
    }

    private static boolean run(List<String> command) {
        String last = command.get(command.size() - 1);
        Path output = last.startsWith(">") ? Path.of(last.substring(1)) : null;
        if (output != null) {
            command.remove(command.size() - 1);
        }
        try (OutputStream out = output == null ? OutputStream.nullOutputStream() : Files.newOutputStream(output)) {
            PrintStream err = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
            return Main.run(command.toArray(String[]::new), out, err) == ExitCodes.OK;
        } catch (IOException e) {
            return false;
        }
    }

    /** The driver unpacks its library each time that a process begins, unless it is told where the library is. */
    private static void keepSqlite(Path directory) throws IOException {
        String name = System.mapLibraryName("sqlitejdbc");
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            for (Path file : files.toList()) {
                if (file.toString().endsWith("-" + name)) {
                    Files.copy(file, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }
}
