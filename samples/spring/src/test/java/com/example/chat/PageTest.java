package com.example.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.example.chat.Browser.Tab;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The page, in a real browser. Skipped where there is none. */
class PageTest {

    private static final String LAST = "[...document.querySelectorAll('#said > li')].at(-1)";

    @TempDir
    static Path directory;

    private static Browser browser;
    private static ConfigurableApplicationContext application;

    private final List<Tab> tabs = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(Browser.program().isPresent(), "There is no Chromium: apt-get install chromium-headless-shell");
        browser = Browser.start(directory.resolve("browser"));
        application = serve(0);
    }

    private static ConfigurableApplicationContext serve(int port) {
        return SpringApplication.run(
                ChatApplication.class,
                "--server.port=" + port,
                "--keepsake4j.sqlite.file=" + directory.resolve("page.db"),
                "--keepsake4j.index.file=" + directory.resolve("page-index.db"));
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
            application.close();
        }
    }

    @AfterEach
    void nothing_went_wrong_in_the_page() {
        tabs.forEach(tab -> {
            assertThat(tab.errors).isEmpty();
            tab.close();
        });
    }

    private static int port() {
        return Integer.parseInt(application.getEnvironment().getProperty("local.server.port"));
    }

    private Tab open(String conversation) throws Exception {
        Tab tab = browser.open("http://localhost:" + port() + "/#" + conversation);
        tabs.add(tab);
        tab.await("document.querySelector('#panel')?.textContent && document.querySelector('#title')?.textContent");
        return tab;
    }

    private static ChatMemory memory(String conversation) {
        return application.getBean(Keepsake.class).chatMemory(conversation);
    }

    private static void ask(Tab tab, String question) {
        tab.run("document.querySelector('#question').focus()");
        tab.write(question);
        tab.key("Enter");
    }

    /** Asks, and waits for the end of the answer. */
    private static void chat(Tab tab, String question) {
        int before = count(tab, "#said > li");
        ask(tab, question);
        tab.await("document.querySelectorAll('#said > li:not(.pending)').length >= " + (before + 2)
                + " && !document.querySelector('.busy, .pending')");
    }

    private static int count(Tab tab, String selector) {
        return tab.run("document.querySelectorAll(\"" + selector + "\").length").asInt();
    }

    /** Presses a button of the newest message, or of the whole page. */
    private static void press(Tab tab, String within, String label) {
        tab.run("[..." + within + ".querySelectorAll('button')].filter(b => (b.ariaLabel ?? b.textContent) === '" + label
                + "').at(-1).click()");
    }

    @Test
    void an_answer_is_streamed_and_the_next_request_is_beside_it() throws Exception {
        Tab tab = open("streamed");
        ask(tab, "My name is Alice.");
        tab.await("document.querySelector('.pending.ai p')?.textContent.startsWith('You said: ')");
        assertThat(tab.text("document.querySelector('.pending.user p').textContent")).isEqualTo("My name is Alice.");
        tab.await("!document.querySelector('.busy, .pending')");
        tab.await("document.querySelectorAll('.lines > li').length === 2");
        assertThat(tab.text("document.querySelector('#sum').textContent")).contains("2 messages", "None is hidden");
        assertThat(tab.text("document.querySelector('figcaption').textContent")).contains("Turns", "Free");
    }
}
