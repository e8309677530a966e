package com.example.league;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What was run on what. */
final class Machine {

    private Machine() {}

    static List<String> describe(Server server) throws Exception {
        List<String> lines = new ArrayList<>();
        lines.add("Date: " + LocalDate.now(ZoneOffset.UTC));
        lines.add("Subjects: `"
                + String.join(
                        "`, `",
                        jar(io.github.keepsake4j.Keepsake.class),
                        jar(dev.langchain4j.memory.chat.MessageWindowChatMemory.class),
                        jar(org.springframework.ai.chat.client.ChatClient.class),
                        jar(org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository.class),
                        jar(org.springframework.ai.session.jdbc.JdbcSessionRepository.class))
                + "`");
        lines.add("Below them: `"
                + String.join(
                        "`, `",
                        jar(org.springframework.jdbc.core.JdbcTemplate.class),
                        jar(com.zaxxer.hikari.HikariDataSource.class),
                        jar(org.postgresql.Driver.class),
                        jar(org.sqlite.JDBC.class))
                + "`");
        lines.add("Server: PostgreSQL " + server.value("SHOW server_version")
                + " on the same machine, `fsync=on`, `synchronous_commit=on`, `full_page_writes=on`,"
                + " otherwise its defaults");
        lines.add("Machine: " + Runtime.getRuntime().availableProcessors() + " cores, "
                + System.getProperty("os.name") + ", " + System.getProperty("java.vm.name") + " "
                + System.getProperty("java.vm.version"));
        lines.add("Load average at the end: " + load());
        return lines;
    }

    /** Returns how many threads wanted a core in the last minute. */
    static String load() {
        return String.format(
                Locale.ROOT,
                "%.1f",
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String jar(Class<?> type) throws Exception {
        Path file =
                Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        return file.getFileName().toString().replaceFirst("\\.jar$", "");
    }
}
