package io.github.keepsake4j.samples;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Dialogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** README's picture is drawn from what a run counts. {@code -Dkeepsake.write=true} writes it. */
class PictureTest {

    private static final int TURNS = 60;
    private static final int WINDOW = 20;

    enum Theme {
        LIGHT("#1f2328", "#59636e", "#0969da", "#b6d7f9", "#d1d9e0"),
        DARK("#f0f6fc", "#9198a1", "#4493f8", "#1f4b85", "#3d444d");

        private final String text;
        private final String note;
        private final String shown;
        private final String kept;
        private final String lost;

        Theme(String text, String note, String shown, String kept, String lost) {
            this.text = text;
            this.note = note;
            this.shown = shown;
            this.kept = kept;
            this.lost = lost;
        }

        Path file() {
            return Path.of("src/docs/pictures/window-and-log-" + name().toLowerCase(Locale.ROOT) + ".svg");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_picture_has_the_numbers_of_a_run(Theme theme) throws IOException {
        ChatMemoryStore store = new InMemoryChatMemoryStore();
        ChatMemory window = Dialogue.window("c", WINDOW, store);
        try (MessageLog log = MessageLogs.inMemory()) {
            Keepsake keepsake =
                    Keepsake.builder().messageLog(log).maxMessages(WINDOW).build();
            ChatMemory ours = keepsake.chatMemory("c");
            for (int turn = 1; turn <= TURNS; turn++) {
                for (ChatMemory memory : new ChatMemory[] {window, ours}) {
                    memory.add(user("question " + turn));
                    memory.add(ai("answer " + turn));
                }
            }
            int stored = store.getMessages("c").size();
            int shown = ours.messages().size();
            long kept = keepsake.conversation("c")
                    .historyStream(HistoryQuery.newest(100))
                    .count();
            assertThat(window.messages()).hasSize(shown);

            String picture = picture(theme, 2 * TURNS, stored, shown, (int) kept);
            if (Boolean.getBoolean("keepsake.write")) {
                Files.writeString(theme.file(), picture);
            }
            assertThat(theme.file()).hasContent(picture);
        }
    }

    private static String picture(Theme theme, int said, int stored, int shown, int kept) {
        return String.format(
                Locale.ROOT,
                """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 200" role="img" \
                font-family="system-ui, sans-serif" font-size="15">
                <title>After %d messages, a window of %d has %d left in its store; the log of Keepsake4j has all %d</title>
                <text x="20" y="28" fill="%s" font-weight="600">LangChain4j's window</text>
                <text x="780" y="28" fill="%s" text-anchor="end">the model sees %d, the store keeps %d of %d</text>
                %s
                <text x="20" y="122" fill="%s" font-weight="600">Keepsake4j</text>
                <text x="780" y="122" fill="%s" text-anchor="end">the model sees %d, the log keeps %d of %d</text>
                %s
                </svg>
                """,
                said,
                shown,
                stored,
                kept,
                theme.text,
                theme.note,
                shown,
                stored,
                said,
                bars(said, said - stored, said - shown, 42, theme.lost, theme.lost, theme.shown),
                theme.text,
                theme.note,
                shown,
                kept,
                said,
                bars(said, said - kept, said - shown, 136, theme.lost, theme.kept, theme.shown));
    }

    /** Draws a bar for each message: outlined if it is lost, pale if it is kept, strong if a model sees it. */
    private static String bars(int said, int lost, int hidden, int top, String outline, String pale, String strong) {
        double step = 760.0 / said;
        return IntStream.range(0, said)
                .mapToObj(i -> String.format(
                        Locale.ROOT,
                        "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"40\" rx=\"1.5\" %s/>",
                        20 + i * step,
                        top,
                        step - 2,
                        i < lost
                                ? "fill=\"none\" stroke=\"" + outline + "\""
                                : "fill=\"" + (i < hidden ? pale : strong) + "\""))
                .collect(Collectors.joining("\n"));
    }
}
