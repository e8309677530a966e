package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A process that moves memories into a database and prints a line for each batch. Arguments: what it does, the source, the database's
 * file, and after how many lines it waits to be killed.
 */
final class MovingProcess {

    private MovingProcess() {}

    public static void main(String[] arguments) throws Exception {
        int[] left = {Integer.parseInt(arguments[3])};
        Consumer<MemoryCopy.Progress> tell = progress -> {
            System.out.println(progress.memory());
            if (--left[0] == 0) {
                new CompletableFuture<>().join();
            }
        };
        move(arguments[0], Path.of(arguments[1]), Path.of(arguments[2]), tell);
    }

    static void move(String what, Path source, Path database, Consumer<MemoryCopy.Progress> tell) throws Exception {
        try (MessageLog target = SqliteMessageLog.open(database)) {
            if (what.equals("copy")) {
                try (MessageLog log = FileMessageLog.in(source)) {
                    MemoryCopy.between(log, target).onProgress(tell).tenant("acme");
                }
            } else {
                try (InputStream in = Files.newInputStream(source)) {
                    NdjsonExport.of(target).onProgress(tell).read(in);
                }
            }
        }
    }
}
