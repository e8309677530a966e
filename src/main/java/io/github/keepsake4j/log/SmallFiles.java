package io.github.keepsake4j.log;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Files that are read and replaced as a whole. An interrupted thread does so too. */
public final class SmallFiles {

    private SmallFiles() {}

    /**
     * Returns a file's bytes.
     *
     * @param path the file
     * @return the bytes, or null if there is no file
     * @throws IOException if it cannot be read
     */
    public static byte @Nullable [] read(Path path) throws IOException {
        if (!Files.exists(path)) {
            return null;
        }
        try (FileInputStream in = new FileInputStream(path.toFile())) {
            return in.readAllBytes();
        } catch (FileNotFoundException e) {
            if (Files.exists(path)) {
                throw e;
            }
            return null;
        }
    }

    /**
     * Replaces a file, so that each reader sees it as it was or as it is, also after a loss of power if it is forced. That it
     * is as it is now is sure after {@link #forceNames}.
     *
     * @param path the file
     * @param bytes its new content
     * @param force whether to wait until the content has reached the device
     * @throws IOException if it cannot be written
     */
    public static void replace(Path path, byte[] bytes, boolean force) throws IOException {
        Path made = made(path);
        try (FileOutputStream out = new FileOutputStream(made.toFile())) {
            out.write(bytes);
            if (force) {
                out.getFD().sync();
            }
        } catch (IOException e) {
            deleteAfter(e, made);
            throw e;
        }
        Files.move(made, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Returns the file in which the new content of another one is written.
     *
     * @param path the file to be replaced
     * @return the file beside it
     */
    public static Path made(Path path) {
        return path.resolveSibling(path.getFileName() + ".new");
    }

    private static void deleteAfter(IOException reason, Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    /**
     * Adds to the end of a file.
     *
     * @param path the file, which is made if it does not exist
     * @param bytes what to add
     * @param force whether to wait until it has reached the device
     * @throws IOException if it cannot be written
     */
    public static void add(Path path, byte[] bytes, boolean force) throws IOException {
        try (FileOutputStream out = new FileOutputStream(path.toFile(), true)) {
            out.write(bytes);
            if (force) {
                out.getFD().sync();
            }
        }
        if (force) {
            forceNames(path.getParent());
        }
    }

    /**
     * Waits until the names in a directory have reached the device. Windows does so by itself.
     *
     * @param directory the directory, or null for none
     * @throws IOException if it cannot be opened
     */
    public static void forceNames(@Nullable Path directory) throws IOException {
        if (directory == null || java.io.File.separatorChar == '\\') {
            return;
        }
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                    channel.force(true);
                    return;
                } catch (ClosedByInterruptException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
