package com.example.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.chat.Mode.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Services of a request and of the application, with answers, tools and streams, remember from one process to the next. */
class RestartTest {

    /** Keepsake4j's memories, and Quarkus's windows over its store. */
    private static final List<String> PACKAGED = List.of("quarkus-app", "windows");

    @TempDir
    Path directory;

    static Stream<Arguments> runs() {
        return PACKAGED.stream()
                .flatMap(packaged -> Arrays.stream(Mode.values()).map(mode -> Arguments.of(packaged, mode)));
    }

    @ParameterizedTest
    @MethodSource("runs")
    void the_next_process_remembers_what_was_said_but_not_what_a_user_removed(String packaged, Mode mode)
            throws Exception {
        try (Session first = mode.start(directory, packaged)) {
            assertThat(first.say("My name is Alice.")).isEqualTo("You said: My name is Alice.");
            assertThat(first.say("Please use a tool.")).isEqualTo("The tool says: \"21 °C in Paris\"");
            assertThat(first.stream("I like tea."))
                    .isEqualTo("You said: My name is Alice. | Please use a tool. | I like tea.");
            end(first, End.STOP);
        }
        String before = "My name is Alice. | Please use a tool. | I like tea. | Use a tool again. | Who am I?";
        try (Session afterStop = mode.start(directory, packaged)) {
            assertThat(afterStop.stream("Use a tool again.")).isEqualTo("The tool says: \"21 °C in Paris\"");
            assertThat(afterStop.say("Who am I?")).isEqualTo("You said: " + before);
            afterStop.forget();
            assertThat(afterStop.say("Who am I now?")).isEqualTo("You said: Who am I now?");
            end(afterStop, End.SIGTERM);
        }
        try (Session afterSigterm = mode.start(directory, packaged)) {
            assertThat(afterSigterm.say("I am Bob.")).isEqualTo("You said: Who am I now? | I am Bob.");
            end(afterSigterm, End.SIGKILL);
        }
        try (Session afterSigkill = mode.start(directory, packaged)) {
            assertThat(afterSigkill.stream("Is it so?")).isEqualTo("You said: Who am I now? | I am Bob. | Is it so?");
            assertThat(afterSigkill.history()).isEqualTo(before + " | Who am I now? | I am Bob. | Is it so?");
        }
    }

    private static void end(Session session, End end) throws Exception {
        end.begin(session);
        assertThat(session.process.exitCode()).as(end.name()).isEqualTo(end.exitCode);
        assertThat(session.process.rest())
                .as(end.name())
                .noneMatch(line -> line.contains("WARN") || line.contains("ERROR") || line.contains("Exception"));
    }

    @Test
    void the_version_of_langchain4j_is_the_one_that_was_asked_for() throws IOException {
        for (String packaged : PACKAGED) {
            try (Stream<Path> libraries = Files.list(Path.of("target", packaged, "lib", "main"))) {
                assertThat(libraries.map(each -> each.getFileName().toString()))
                        .contains("dev.langchain4j.langchain4j-core-" + System.getProperty("langchain4j-core.version")
                                + ".jar");
            }
        }
    }
}
