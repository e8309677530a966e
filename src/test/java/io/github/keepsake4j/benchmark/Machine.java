package io.github.keepsake4j.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.util.DriverInfo;

/** The machine's properties on which the figures depend. */
final class Machine {

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    private Machine() {}

    static List<String> describe(DataSource database) throws SQLException, IOException {
        List<String> lines = describe();
        lines.add("Driver: " + DriverInfo.DRIVER_FULL_NAME);
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            lines.add("Server: " + value(statement, "SELECT version()") + ", on the same machine");
            List<String> settings = new ArrayList<>();
            for (String name : List.of(
                    "fsync",
                    "synchronous_commit",
                    "full_page_writes",
                    "wal_compression",
                    "shared_buffers",
                    "max_wal_size",
                    "autovacuum")) {
                settings.add("`" + name + "=" + value(statement, "SHOW " + name) + "`");
            }
            lines.add("Settings: " + String.join(", ", settings));
        }
        return lines;
    }

    /** Describes the machine without a database. */
    static List<String> describe() throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("Date: " + LocalDate.now(ZoneOffset.UTC));
        lines.add("Machine: " + Runtime.getRuntime().availableProcessors() + " cores (" + processor() + "), "
                + memory() + " GB of memory, " + System.getProperty("os.name") + " "
                + System.getProperty("os.version"));
        lines.add("JDK: " + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        return lines;
    }

    /** Returns how many threads want a core, as the operating system's average over the last minute. */
    static String load() {
        return String.format(
                java.util.Locale.ROOT,
                "%.1f",
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String value(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static String processor() throws IOException {
        if (!Files.exists(PROCESSORS)) {
            return System.getProperty("os.arch");
        }
        return Files.readAllLines(PROCESSORS).stream()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).trim())
                .findFirst()
                .orElse(System.getProperty("os.arch"));
    }

    private static long memory() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? Math.round(system.getTotalMemorySize() / 1e9)
                : 0;
    }
}
