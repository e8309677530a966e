package io.github.keepsake4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.spring.moving.Chat;
import io.github.keepsake4j.spring.moving.TableStore;
import io.github.keepsake4j.testing.Postgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/** An application with LangChain4j's window and a table of its own moves to Keepsake4j, and its conversations come along. */
class MovingTest {

    private static final String DEPENDENCY = "implementation 'io.github.keepsake4j:keepsake4j'";
    private static final List<String> PROPERTIES =
            List.of("keepsake4j.import-from=tableStore", "keepsake4j.jdbc.initialize-schema=always");

    private String url;

    private ConfigurableApplicationContext start(Class<?> application, List<String> properties) {
        SpringApplication spring = new SpringApplication(application);
        spring.setWebApplicationType(WebApplicationType.NONE);
        spring.setRegisterShutdownHook(false);
        return spring.run(Stream.concat(
                        Stream.of(
                                "spring.datasource.url=" + url,
                                "spring.datasource.username=postgres",
                                "spring.main.banner-mode=off",
                                Contexts.WITHOUT_OTHERS),
                        properties.stream())
                .map("--"::concat)
                .toArray(String[]::new));
    }

    @Test
    void an_application_moves_in_four_lines_with_its_conversations() throws Exception {
        List<String> diff = diff();
        System.out.println("Moved from LangChain4j's window:\n" + String.join("\n", diff));
        assertThat(diff).hasSizeLessThanOrEqualTo(5);

        url = "jdbc:postgresql://127.0.0.1:" + Postgres.newest().port() + "/"
                + Postgres.newest().newDatabase();
        try (var context = start(io.github.keepsake4j.spring.moving.before.App.class, List.of())) {
            Chat chat = context.getBean(Chat.class);
            assertThat(chat.chat("alice", "one")).isEqualTo("1 questions");
            assertThat(chat.chat("alice", "two")).isEqualTo("2 questions");
            assertThat(context.getBean(MemoriesInUse.class).logs()).isEmpty();
        }
        try (var context = start(io.github.keepsake4j.spring.moving.after.App.class, PROPERTIES)) {
            assertThat(context.getBean(Chat.class).chat("alice", "three")).isEqualTo("3 questions");
            assertThat(context.getBean(Keepsake.class)
                            .conversation("alice")
                            .history(HistoryQuery.oldest(10))
                            .messages())
                    .hasSize(6);
            assertThat(context.getBean(TableStore.class).getMessages("alice")).hasSize(4);
        }
    }

    /** Returns the lines that are other than before: in the class, in the properties and in the build. */
    private static List<String> diff() throws IOException {
        List<String> before = source("before");
        List<String> after = source("after");
        List<String> diff = new ArrayList<>();
        List<String> left = new ArrayList<>(after);
        before.stream().filter(line -> !left.remove(line)).forEach(line -> diff.add("- " + line));
        left.forEach(line -> diff.add("+ " + line));
        diff.add("+ " + DEPENDENCY);
        PROPERTIES.forEach(line -> diff.add("+ " + line));
        return diff;
    }

    private static List<String> source(String version) throws IOException {
        Path path = Path.of("src/test/java/io/github/keepsake4j/spring/moving", version, "App.java");
        return Files.readAllLines(path).stream()
                .filter(line -> !line.startsWith("package "))
                .toList();
    }
}
