package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;

import io.github.keepsake4j.log.MessageLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** A directory with one memory whose files a test damages, moves or copies. */
final class FileFixture {

    private final Path root;

    FileFixture(Path directory) {
        this.root = directory.resolve("log");
    }

    Path root() {
        return root;
    }

    MessageLog open() {
        return FileMessageLog.builder().directory(root).fsync(false).build();
    }

    Names names() {
        return Names.of(root, KEY);
    }

    byte[] bytes() throws IOException {
        return Files.readAllBytes(names().data());
    }

    /** Replaces the content of the file that has the name. */
    void write(byte[] bytes) throws IOException {
        Files.write(names().data(), bytes);
    }

    void add(byte[] bytes) throws IOException {
        byte[] before = bytes();
        byte[] both = Arrays.copyOf(before, before.length + bytes.length);
        System.arraycopy(bytes, 0, both, before.length, bytes.length);
        write(both);
    }

    List<String> lines() throws IOException {
        return Files.readAllLines(names().data());
    }

    /** Writes rubbish over one line, which keeps its length. The first line has the number 0. */
    void spoil(int line) throws IOException {
        List<String> lines = lines();
        int from = lines.subList(0, line).stream()
                .mapToInt(each -> each.getBytes(StandardCharsets.UTF_8).length + 1)
                .sum();
        byte[] bytes = bytes();
        Arrays.fill(bytes, from + 1, from + lines.get(line).getBytes(StandardCharsets.UTF_8).length, (byte) '#');
        write(bytes);
    }

    /** Copies all files but the lock. */
    void copyTo(Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(root)) {
            paths.filter(Files::isRegularFile)
                    .filter(path -> !path.endsWith("keepsake.lock"))
                    .forEach(path -> copy(path, to.resolve(root.relativize(path).toString())));
        }
    }

    private static void copy(Path from, Path to) {
        try {
            Files.createDirectories(to.getParent());
            Files.copy(from, to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
