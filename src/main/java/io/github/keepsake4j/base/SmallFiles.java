package io.github.keepsake4j.base;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** Reads and replaces whole files. Works in an interrupted thread too. */
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
     * Creates a file that only its owner may read and write, unless the file exists. On Windows, it has the rights of
     * its directory. Never fails: if the file cannot be created, the next attempt to open it reports the reason.
     *
     * @param path the file
     */
    public static void create(Path path) {
        try {
            if (!Files.exists(path)) {
                Files.createFile(path, forOwner(path, "rw-------"));
            }
        } catch (IOException e) {
            // Another writer was first, or the caller fails too when it opens the file next.
            return;
        }
    }

    /**
     * Returns whether the file system refuses to create files in a directory, as in {@code /proc}. Tries it.
     *
     * @param directory the directory, which exists
     * @return whether it does; false if another reason prevents it for now
     */
    public static boolean takesNoFiles(Path directory) {
        try {
            Files.delete(Files.createTempFile(directory, "keepsake", null));
            return false;
        } catch (IOException e) {
            return e instanceof NoSuchFileException || e instanceof AccessDeniedException;
        }
    }

    /**
     * Creates a directory that only its owner may use, and its parent directories, unless they exist. On Windows, it
     * has the rights of its parent directory.
     *
     * @param directory the directory
     * @throws IOException if it cannot be made
     */
    public static void createDirectories(Path directory) throws IOException {
        Files.createDirectories(directory, forOwner(directory, "rwx------"));
    }

    /**
     * Returns whether a file system is read-only.
     *
     * @param path a file or directory in it, which may not exist yet
     * @return whether it is; false if this is not known
     */
    public static boolean isReadOnly(Path path) {
        Path parent = path.toAbsolutePath().getParent();
        try {
            return (Files.exists(path) || parent == null)
                    ? Files.getFileStore(path).isReadOnly()
                    : isReadOnly(parent);
        } catch (IOException e) {
            return false;
        }
    }

    private static FileAttribute<?>[] forOwner(Path path, String rights) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))}
                : new FileAttribute<?>[0];
    }

    /**
     * Replaces a file. Each reader sees either the old or the new content, even after a loss of power if the content is
     * forced. Only {@link #forceNames} ensures that it is the new content after a loss of power.
     *
     * @param path the file
     * @param bytes its new content
     * @param force whether to wait until the content has reached the device
     * @throws IOException if it cannot be written
     */
    public static void replace(Path path, byte[] bytes, boolean force) throws IOException {
        Path made = made(path);
        try {
            write(made, false, bytes, force);
        } catch (IOException e) {
            AfterFailure.run(e, () -> Files.deleteIfExists(made));
            throw e;
        }
        move(made, path);
    }

    private static void write(Path path, boolean append, byte[] bytes, boolean force) throws IOException {
        create(path);
        try (FileOutputStream out = new FileOutputStream(path.toFile(), append)) {
            out.write(bytes);
            if (force) {
                out.getFD().sync();
            }
        }
    }

    /**
     * Identifies the file that has a name now.
     *
     * @param path the name
     * @return the identity, or null if the system has no such identity
     * @throws IOException if there is no such file
     */
    public static @Nullable Object identity(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    /**
     * Gives a file the name of another one, in one step.
     *
     * @param from the file
     * @param to its new name; a file of that name is replaced
     * @throws IOException if it cannot be moved
     */
    public static void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
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

    /**
     * Adds to the end of a file.
     *
     * @param path the file; it is created if it does not exist
     * @param bytes the bytes to add
     * @param force whether to wait until it has reached the device
     * @throws IOException if it cannot be written
     */
    public static void add(Path path, byte[] bytes, boolean force) throws IOException {
        write(path, true, bytes, force);
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
