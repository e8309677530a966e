package io.github.keepsake4j.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** A script that is changed raises the versions that it writes, so that no library takes other tables for its own. */
public class SchemaScriptsTest {

    static final List<String> SCRIPTS = List.of(
            "postgresql/V1__keepsake.sql",
            "sqlite/V1__keepsake.sql",
            "index/postgresql/V1__keepsake_index.sql",
            "index/sqlite/V1__keepsake_index.sql",
            "memories/postgresql/V1__keepsake_memories.sql",
            "memories/sqlite/V1__keepsake_memories.sql");

    /** What a first script writes of itself. */
    private static final Pattern VERSIONS =
            Pattern.compile("INSERT INTO \\w+_schema \\(version, oldest_writer\\) VALUES \\((\\d+), \\1\\);");

    @ParameterizedTest
    @FieldSource("SCRIPTS")
    void a_changed_script_has_another_version(String script) {
        assertThat(read("checksums.txt").lines())
                .as(
                        "%s was changed: raise version and oldest_writer in it and the version in its Schema class, and add the"
                                + " line to checksums.txt in the tests",
                        script)
                .contains(line(script, read(script)));
    }

    @Test
    void a_version_has_one_checksum() {
        assertThat(read("checksums.txt").lines().map(line -> line.substring(0, line.lastIndexOf(' '))))
                .doesNotHaveDuplicates();
    }

    @Test
    void a_change_of_one_letter_is_found() {
        String script = SCRIPTS.get(0);
        String changed = read(script).replace("tokens           bigint", "tokens           bigins");
        assertThat(changed).isNotEqualTo(read(script));
        assertThat(read("checksums.txt").lines()).doesNotContain(line(script, changed));
    }

    private static String line(String script, String text) {
        return script + " " + version(script) + " " + checksum(text);
    }

    /** Returns the version of the tables after a first script. */
    public static int version(String script) {
        Matcher versions = VERSIONS.matcher(read(script));
        assertThat(versions.find()).as("versions in " + script).isTrue();
        return Integer.parseInt(versions.group(1));
    }

    private static String checksum(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the text of a script. */
    public static String read(String name) {
        try (InputStream in = SchemaScriptsTest.class.getResourceAsStream("/io/github/keepsake4j/schema/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
