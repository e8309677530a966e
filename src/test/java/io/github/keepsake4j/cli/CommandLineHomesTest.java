package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.cli.Shell.Result;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The addresses of servers: each leads to its log. */
class CommandLineHomesTest {

    @TempDir
    Path directory;

    private final Shell shell = new Shell();

    /** Uses a log by two addresses, and copies it out. What is in another log of the same server is not in it. */
    private void isALog(String uri, String other, String elsewhere, String... makeTables) {
        shell.good(with(
                new String[] {"add", "--session", "elsewhere", "--content", "Hi", "--log", elsewhere}, makeTables));
        shell.good(with(new String[] {"add", "--session", "a b/ü", "--content", "Hi", "--log", uri}, makeTables));
        String files = "file:" + directory.resolve("copy");
        assertThat(shell.good("copy", "--from", uri, "--to", files).out())
                .isEqualTo("1 memory with 1 message copied and compared\n");
        Result shown = shell.good("get", "--session", "a b/ü", "--log", files);
        assertThat(shown.lines()).startsWith("user       Hi");

        assertThat(shell.good("get", "--session", "a b/ü", "--log", other)).isEqualTo(shown);
        assertThat(shell.good("check", "--log", other).out()).isEqualTo("1 memory checked, 0 damaged\n");
        assertThat(shell.good("list", "--log", other).out()).contains("  a b/ü  1 message");
        shell.good("erase", "--session", "a b/ü", "--log", other);
        assertThat(shell.run("list", "--log", uri).out()).isEmpty();
    }

    private static String[] with(String[] some, String[] more) {
        return java.util.stream.Stream.concat(List.of(some).stream(), List.of(more).stream())
                .toArray(String[]::new);
    }

    @Test
    void postgresql() throws Exception {
        Postgres server = Postgres.newest();
        String database = "127.0.0.1:" + server.port() + "/" + server.newDatabase();
        shell.with("PGUSER", "postgres").with("PGPASSWORD", "none");

        Result without = shell.run("list", "--log", "postgresql://" + database);
        assertThat(without.code()).isEqualTo(1);
        assertThat(without.err())
                .contains("V1__keepsake.sql", "only with --make-tables, an option of add")
                .doesNotContain("SchemaMode");
        String other = "127.0.0.1:" + server.port() + "/" + server.newDatabase();
        isALog(
                "jdbc:postgresql://" + database,
                "postgresql://postgres:n%40ne@" + database,
                "postgresql://" + other,
                "--make-tables");
    }

    /** In full runs only: the pool asks again until its time-out. */
    @Test
    void a_refused_password_is_not_told() throws Exception {
        if (Counts.of(0, 1) == 0) {
            return;
        }
        Postgres server = Postgres.newest();
        Result refused =
                shell.run("list", "--log", "postgresql://nobody:secret@127.0.0.1:" + server.port() + "/postgres");
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err()).doesNotContain("secret").hasLineCount(1);
    }

    @Test
    void redis() {
        String prefixed = Redis.shared().uri() + "?prefix=";
        String server = prefixed + Redis.newPrefix();
        isALog(server, server + "&time-to-live=1d", prefixed + Redis.newPrefix());
    }

    /** Credentials come as the SDK takes them. */
    @Test
    void s3() throws Exception {
        S3Server server = S3Server.shared();
        String all = "s3://" + server.newBucket();
        String bucket = all + "/chat/prod";
        System.setProperty("aws.accessKeyId", S3Server.ACCESS_KEY);
        System.setProperty("aws.secretAccessKey", S3Server.SECRET_KEY);
        System.setProperty("aws.region", S3Server.REGION);
        try {
            shell.with("AWS_ENDPOINT_URL", server.endpoint().toString());
            isALog(
                    bucket,
                    bucket + "/?endpoint=" + server.endpoint() + "&region=us-east-1&path-style=true"
                            + "&quoted-etags=true&chunked-signing=true",
                    all + "/chat/test");
        } finally {
            System.clearProperty("aws.accessKeyId");
            System.clearProperty("aws.secretAccessKey");
            System.clearProperty("aws.region");
        }
    }
}
