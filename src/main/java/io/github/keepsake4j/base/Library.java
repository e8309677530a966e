package io.github.keepsake4j.base;

import io.github.keepsake4j.message.KeepsakeException;

/** The optional libraries. An error names the artifact of one that is missing. */
public enum Library {
    /** The command line. */
    PICOCLI("the command line", "picocli.CommandLine", "info.picocli:picocli"),
    /** The driver of SQLite. */
    SQLITE("sqlite:", "org.sqlite.JDBC", "org.xerial:sqlite-jdbc"),
    /** The driver of PostgreSQL. */
    POSTGRESQL("jdbc:postgresql:", "org.postgresql.Driver", "org.postgresql:postgresql"),
    /** The pool of our own for PostgreSQL. */
    HIKARI("jdbc:postgresql:", "com.zaxxer.hikari.HikariDataSource", "com.zaxxer:HikariCP"),
    /** The client of Redis. */
    REDIS("redis:", "redis.clients.jedis.UnifiedJedis", "redis.clients:jedis"),
    /** The client of S3. */
    S3("s3:", "software.amazon.awssdk.services.s3.S3Client", "software.amazon.awssdk:s3"),
    /** The HTTP client for S3 if no client is given. */
    S3_HTTP("s3:", "software.amazon.awssdk.http.apache5.Apache5HttpClient", "software.amazon.awssdk:apache5-client");

    private final String user;
    private final String className;
    private final String artifact;

    Library(String user, String className, String artifact) {
        this.user = user;
        this.className = className;
        this.artifact = artifact;
    }

    /**
     * Returns whether the library is on the class path.
     *
     * @return whether it is
     */
    public boolean isThere() {
        try {
            Class.forName(className, false, Library.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /**
     * Returns the error for a library that is missing.
     *
     * @return the text
     */
    public String missing() {
        return user + " needs a library that is not on the class path; add the artifact " + artifact;
    }

    /**
     * Checks that libraries are on the class path.
     *
     * @param libraries the libraries
     */
    public static void require(Library... libraries) {
        for (Library library : libraries) {
            if (!library.isThere()) {
                throw new KeepsakeException(library.missing());
            }
        }
    }
}
