package com.example.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.example.chat.Browser.Tab;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page, in a real browser. Skipped where there is none. */
class PageTest {

    private static final String LAST = "[...document.querySelectorAll('#said > li')].at(-1)";

    private static final String LONG = "Say something long.";

    private static final String AXE = "4.6.3";

    /** The tokens of all parts of a request, and those that the model reported. */
    private static final String PARTS = "[...document.querySelectorAll('#panel .key')].reduce((sum, key) => sum"
            + " + Number(key.textContent.match(/[\\d,]+$/)[0].replace(',', '')), 0)";

    private static final String READ =
            "Number(document.querySelector('.facts').textContent.match(/([\\d,]+) read/)[1].replace(',', ''))";

    @TempDir
    static Path directory;

    private static Browser browser;
    private static ConfigurableApplicationContext application;

    private final List<Tab> tabs = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        if (Browser.program().isPresent()) {
            browser = Browser.start(directory.resolve("browser"));
            application = serve(0, "page");
        }
    }

    /** In each test, so that the report counts what was not tested. */
    @BeforeEach
    void needs_a_browser() {
        assumeTrue(browser != null, "There is no Chromium: apt-get install chromium-headless-shell");
    }

    private static ConfigurableApplicationContext serve(int port, String name, String... more) {
        List<String> all = new ArrayList<>(List.of(
                "--server.port=" + port,
                "--server.shutdown=immediate",
                "--chat.millis-per-word=5",
                "--keepsake4j.sqlite.file=" + directory.resolve(name + ".db"),
                "--keepsake4j.index.file=" + directory.resolve(name + "-index.db")));
        all.addAll(List.of(more));
        return SpringApplication.run(ChatApplication.class, all.toArray(String[]::new));
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
        tab.run("[..." + within + ".querySelectorAll('button')].filter(b => (b.ariaLabel ?? b.textContent) === '"
                + label + "').at(-1).click()");
    }

    @Test
    void an_answer_is_streamed_and_the_next_request_is_beside_it() throws Exception {
        Tab tab = open("streamed");
        String question = "I keep bees" + " and more bees".repeat(40);
        ask(tab, question);
        tab.await("document.querySelector('.pending.ai p')?.textContent.startsWith('Noted. ') && "
                + "document.querySelector('.pending.user p').textContent === '" + question + "'");
        tab.await("!document.querySelector('.busy, .pending')");
        tab.await("document.querySelectorAll('.lines > li').length === 2");
        assertThat(tab.text("document.querySelector('#sum').textContent")).contains("2 messages", "None is hidden");
        assertThat(tab.text("document.querySelector('figcaption').textContent")).contains("Chat");
        tab.await("document.querySelector('#status').textContent === 'The answer is complete.'");
        tab.await("document.querySelector('#status').textContent === ''");
    }

    @Test
    void an_answer_is_stopped_by_a_key_and_what_came_is_kept() throws Exception {
        Tab tab = open("stopped");
        ask(tab, LONG);
        tab.await("document.querySelector('.pending.ai p')?.textContent.length > 10");
        tab.key("Escape");
        tab.await("!document.querySelector('.busy, .pending') && document.querySelector('.outcome')");
        assertThat(tab.text("document.querySelector('.outcome').textContent")).startsWith("It ended here");
        assertThat(tab.text(LAST + ".querySelector('p').textContent")).startsWith("This is a long answer");
        assertThat(tab.text("document.querySelector('#status').textContent")).contains("stopped");
        tab.write(LONG);
        tab.run("document.querySelector('#send').focus()");
        tab.key("Enter");
        tab.await("document.querySelector('.pending.ai') && document.activeElement.id === 'question'");
        tab.run("document.querySelector('#stop').focus()");
        tab.key("Enter");
        tab.await("!document.querySelector('.busy, .pending') && document.activeElement.id === 'question'");
    }

    @Test
    void a_failed_question_shows_its_reason_and_is_retried() throws Exception {
        Tab tab = open("failed");
        ask(tab, "Please fail");
        tab.await("document.querySelector('.outcome')");
        assertThat(tab.text("document.querySelector('.outcome').textContent"))
                .isEqualTo("The answer failed, because you asked for that.");
        assertThat(tab.text("document.querySelector('.lines').textContent")).contains("Not seen: its answer failed");
        press(tab, LAST, "Try again");
        tab.await("!document.querySelector('.busy, .pending') && "
                + "document.querySelector('#status').textContent.includes('failed')");
        assertThat(count(tab, "#said > li")).isEqualTo(1);
        chat(tab, "I go on.");
        assertThat(tab.text(LAST + ".querySelector('p').textContent")).isEqualTo("Noted. You go on.");
        String failed = "document.querySelector('#said > li')";
        tab.run("[..." + failed + ".querySelectorAll('button')].at(-1).focus()");
        tab.key("Enter");
        tab.await("!document.querySelector('.busy') && document.querySelectorAll('#said > li').length === 3");
        tab.await(failed + ".contains(document.activeElement)");
        assertThat(tab.text("document.activeElement.textContent")).isEqualTo("Try again");
    }

    @Test
    void a_reload_before_the_first_question_is_a_first_visit() throws Exception {
        Tab tab = open("");
        chat(tab, "Hello.");
        assertThat(tab.text("location.hash")).hasSizeGreaterThan(30);
        tab.run("document.querySelector('#new').click()");
        tab.await("document.querySelectorAll('#said > li').length === 0");
        tab.send("Page.reload", Map.of());
        tab.await("document.querySelectorAll('#list li').length > 0 && document.querySelector('#tries button')");
        assertThat(tab.text("document.querySelector('#status').textContent")).isEmpty();
        assertThat(tab.text("location.hash")).isEmpty();
        tab.run("history.back()");
        tab.await("document.querySelectorAll('#said > li').length === 2");
        tab.run("history.forward()");
        tab.await("document.querySelectorAll('#said > li').length === 0");
    }

    @Test
    void another_answer_is_the_second_of_two_and_keys_bring_the_first_back() throws Exception {
        Tab tab = open("versions");
        chat(tab, "My name is Bo.");
        tab.run(LAST + ".querySelector('.buttons button').focus()");
        tab.key("Enter");
        tab.await("!document.querySelector('.busy, .pending') && document.querySelector('.versions')");
        assertThat(tab.text(LAST + ".querySelector('.versions').textContent")).contains("2 of 2");
        tab.await("document.activeElement.ariaLabel === 'Previous version'");
        assertThat(tab.text(LAST + ".querySelector('p').textContent")).isEqualTo("Once more: Noted. Your name is Bo.");
        String second = tab.text(LAST + ".dataset.id");

        tab.run(LAST + ".querySelector('button').focus()");
        tab.run(LAST + ".querySelector('.buttons button').focus()");
        tab.key("ArrowLeft");
        tab.await(LAST + ".querySelector('.versions').textContent.includes('1 of 2')");
        assertThat(tab.text(LAST + ".dataset.id")).isNotEqualTo(second);
        // The focus stays in the message, so that the next key works too.
        assertThat(tab.run(LAST + ".contains(document.activeElement)").asBoolean())
                .isTrue();
        tab.key("ArrowRight");
        tab.await(LAST + ".dataset.id === '" + second + "'");
        press(tab, LAST, "Previous version");
        tab.await(LAST + ".querySelector('.versions').textContent.includes('1 of 2')");
    }

    @Test
    void a_question_is_edited() throws Exception {
        Tab tab = open("edited");
        chat(tab, "My name is Alice.");
        tab.run("document.querySelectorAll('#said > li')[0].querySelector('.buttons button').click()");
        tab.await("document.querySelector('#question').value === 'My name is Alice.'");
        tab.run("document.querySelector('#question').select()");
        tab.write("My name is Bob.");
        tab.key("Enter");
        tab.await("document.querySelector('.versions') && !document.querySelector('.busy, .pending')");
        assertThat(tab.text("document.querySelector('#said > li p').textContent"))
                .isEqualTo("My name is Bob.");
        assertThat(tab.text("document.querySelector('.versions').textContent")).contains("2 of 2");
        assertThat(tab.run("document.querySelector('#mode').hidden").asBoolean())
                .isTrue();
        chat(tab, "Who am I?");
        assertThat(tab.text(LAST + ".querySelector('p').textContent"))
                .isEqualTo("Your name is Bob. You said so in this chat.");
    }

    @Test
    void what_was_typed_stays_with_its_conversation_and_comes_back_after_an_edit() throws Exception {
        Tab tab = open("drafts");
        chat(tab, "Hello.");
        tab.run("document.querySelector('#question').focus()");
        tab.write("half a question");
        press(tab, "document.querySelector('#said > .user')", "Edit");
        tab.await("document.querySelector('#question').value === 'Hello.'");
        tab.key("Escape");
        tab.await("document.querySelector('#question').value === 'half a question'");
        tab.run("document.querySelector('#new').click()");
        tab.await("location.hash !== '#drafts' && document.querySelector('#question').value === '' && "
                + "document.querySelector('[data-id=drafts]')");
        tab.run("document.querySelector('[data-id=drafts]').click()");
        tab.await("location.hash === '#drafts' && document.querySelector('#question').value === 'half a question'");
    }

    @Test
    void another_answer_before_other_messages_says_where_they_are() throws Exception {
        Tab tab = open("moved");
        chat(tab, "My name is Bo.");
        chat(tab, "I keep bees.");
        press(tab, "document.querySelectorAll('#said > li')[1]", "Another answer");
        tab.await("document.querySelector('#status').textContent.endsWith('are on another branch.')");
        assertThat(count(tab, "#said > li")).isEqualTo(2);
    }

    @Test
    void as_many_conversations_as_were_shown_stay_in_the_list() throws Exception {
        for (int i = 0; i < 45; i++) {
            memory("listed-" + i).add(UserMessage.from("question " + i), AiMessage.from("answer " + i));
            application.getBean(Keepsake.class).conversation("listed-" + i).mergeMetadata(Map.of("owner", "local"));
        }
        Tab tab = open("");
        tab.await("document.querySelectorAll('#list li').length === 20");
        tab.run("document.querySelector('#more').click()");
        tab.await("document.querySelectorAll('#list li').length === 40");
        chat(tab, "Hello.");
        tab.await("document.querySelector('#list').textContent.includes('Hello.')");
        assertThat(count(tab, "#list li")).isEqualTo(40);
        for (int i = 0;
                i < 30 && !tab.run("document.querySelector('#more').hidden").asBoolean();
                i++) {
            int before = count(tab, "#list li");
            tab.run("document.querySelector('#more').focus()");
            tab.key("Enter");
            tab.await("document.querySelectorAll('#list li').length > " + before);
        }
        assertThat(tab.text("document.activeElement.id")).isEqualTo("list");
    }

    @Test
    void labels_cut_no_character_in_two_and_code_is_text_of_its_own() throws Exception {
        String family = "\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67";
        memory("code")
                .add(
                        UserMessage.from(family.repeat(50)),
                        AiMessage.from("So:\n```java\n<b>int i;</b>\n```\nDone. ```x```"));
        Tab tab = open("code");
        tab.await("document.querySelector('#said pre')");
        assertThat(tab.text("document.querySelector('#said pre').textContent")).isEqualTo("<b>int i;</b>\n");
        assertThat(tab.text("document.querySelector('#said .ai .text').textContent"))
                .isEqualTo("So:\n<b>int i;</b>\nDone. ```x```");
        view(tab, "tree", "document.querySelectorAll('svg .node').length === 2");
        assertThat(tab.text("document.querySelector('svg .node text').textContent"))
                .matches("You: (" + family + ")+…");
        assertThat(tab.text("document.querySelector('svg .node').ariaLabel")).matches("You: (" + family + ")+….*");
    }

    @Test
    void a_conversation_that_cannot_be_loaded_says_so() throws Exception {
        Tab tab = open("unloaded");
        chat(tab, "Hello there.");
        tab.run("document.querySelector('#new').click()");
        tab.await("document.querySelectorAll('#said > li').length === 0"
                + " && document.querySelector('[data-id=unloaded]')");
        tab.network(true, 0);
        tab.run("document.querySelector('[data-id=unloaded]').click()");
        tab.await("document.querySelector('#panel').textContent.includes('cannot be loaded')");
        tab.await("document.querySelector('#status').textContent.startsWith('The server does not answer')");
        assertThat(tab.run("document.querySelector('#welcome').hidden").asBoolean())
                .isTrue();
        tab.network(false, 0);
        tab.await("document.querySelectorAll('#said > li').length === 2");
    }

    @Test
    void a_conversation_that_was_erased_elsewhere_leaves_the_list_when_the_page_gets_the_focus() throws Exception {
        Tab tab = open("erased");
        chat(tab, "Erase me.");
        tab.await("document.querySelector('#list').textContent.includes('Erase me.')");
        tab.run("document.querySelector('#new').click()");
        application.getBean(Keepsake.class).conversation("erased").erase();
        tab.run("document.querySelector('[data-id=erased]').click()");
        tab.await("document.querySelector('#status').textContent.startsWith('There is no such conversation')");
        tab.run("dispatchEvent(new Event('focus'))");
        tab.await("!document.querySelector('#list').textContent.includes('Erase me.')");
    }

    @Test
    void a_tool_is_a_card_with_its_call_and_its_result_in_every_view() throws Exception {
        Tab tab = open("tool");
        ask(tab, "Please use a tool.");
        tab.await("document.querySelectorAll('#said > li').length === 4 && !document.querySelector('.busy, .pending')");
        String call = "Called temperature(city: Paris)";
        assertThat(tab.text("document.querySelector('#said > .ai .call').textContent"))
                .isEqualTo(call);
        assertThat(tab.text("document.querySelector('#said > .tool').innerText"))
                .contains("temperature returned", "Temperature in Paris by hour");
        assertThat(tab.text("document.querySelector('figcaption').textContent")).contains("Tool results");
        for (String name : List.of("seen", "why", "tree")) {
            view(tab, name, "document.querySelector('#panel').textContent.includes('" + call + "')");
            assertThat(tab.text("document.querySelector('#panel').textContent")).contains("temperature returned");
        }
        view(tab, "tokens", "document.querySelector('#dearest')?.textContent.includes('" + call + "')");
        // The conversation is named by its question, and not by what a tool said, in both places.
        assertThat(tab.text("document.querySelector('#title').textContent")).isEqualTo("Please use a tool.");
        tab.await("document.querySelector('#list b')?.textContent === 'Please use a tool.'");
    }

    @Test
    void a_first_visit_asks_for_nothing_that_is_not_there() throws Exception {
        Tab tab = open("");
        Tab.pause(1_500);
        assertThat(tab.requests)
                .isNotEmpty()
                .allMatch(request -> request.matches("GET .*/(|\\w+\\.(css|js|svg)|conversations)"));
        assertThat(tab.run("Promise.all(['', 'icon.svg', 'conversations'].map(each => fetch(each).then(r =>"
                                + " r.status)))")
                        .toString())
                .isEqualTo("[200,200,200]");
        assertThat(tab.text("document.activeElement.id")).isEqualTo("question");
        press(tab, "document", "My name is Ada.");
        tab.await("document.querySelectorAll('#said > li:not(.pending)').length === 2");
        assertThat(tab.text("document.activeElement.id")).isEqualTo("question");
        assertThat(tab.text("document.querySelector('#title').textContent")).isEqualTo("My name is Ada.");
        choose(tab, "#filter", "zzz", "input");
        tab.await("document.querySelector('#no-match').textContent.startsWith("
                + "document.querySelector('#more').hidden ? 'No conv' : 'None of the 20')");
        assertThat(tab.run("document.querySelector('#no-match').hidden").asBoolean())
                .isFalse();
    }

    /** A conversation in which the name has left the view. */
    private static void forgetful(String conversation) {
        ChatMemory memory = memory(conversation);
        memory.add(UserMessage.from("My name is Alice, and I keep bees."), AiMessage.from("Nice to meet you, Alice!"));
        for (String thing : List.of(
                "honey", "wax", "pollen", "queens", "drones", "hives", "frames", "smoke", "clover", "winter",
                "swarms")) {
            memory.add(
                    UserMessage.from("What should I know about " + thing + "?"),
                    AiMessage.from("A lot can be said about " + thing + ". Begin with small steps and keep notes."));
        }
    }

    @Test
    void messages_that_the_model_does_not_see_are_grey_with_the_reason() throws Exception {
        forgetful("grey");
        Tab tab = open("grey");
        chat(tab, "I live in Lisbon.");
        chat(tab, "My favourite colour is green.");
        tab.send("Page.reload", Map.of());
        tab.await("document.querySelector('#tries button')?.textContent === 'Where do I live?'");
        tab.run("requestAnimationFrame(() => requestAnimationFrame(() => { window.isDrawn = true; }))");
        tab.await("window.isDrawn");
        tab.await("(e => e.scrollHeight - e.scrollTop - e.clientHeight < 2)(document.querySelector('#said'))");
        tab.await("document.querySelectorAll('#said > .hidden').length === 8");
        assertThat(tab.text("document.querySelector('#said > .hidden .mark').textContent"))
                .startsWith("Not seen: ");
        assertThat(tab.text("document.querySelector('.lines > .hidden .mark').textContent"))
                .isEqualTo("Not seen: more messages than the limit allows");
        assertThat(count(tab, ".lines > li:not(.hidden)")).isEqualTo(20);
    }

    @Test
    void a_slider_tries_another_window_and_nothing_is_written() throws Exception {
        forgetful("slider");
        Tab tab = open("slider");
        String state = tab.text("fetch('/conversations/slider/state').then(r => r.text())");
        choose(tab, "#strategy", "messages", "change");
        tab.await("!document.querySelector('#size').disabled");
        for (int size : new int[] {4, 12, 24}) {
            choose(tab, "#size", Integer.toString(size), "input");
            tab.await("document.querySelectorAll('.lines > li:not(.hidden)').length === " + size
                    + " && document.querySelectorAll('#said > li:not(.hidden)').length === " + size);
        }
        assertThat(tab.text("document.querySelector('#sum').textContent")).contains("None is hidden");
        choose(tab, "#size", "4", "input");
        tab.await("document.querySelectorAll('#said > .hidden').length === 20");
        view(tab, "tokens", "document.querySelectorAll('#said > .hidden').length === 4");
        view(tab, "seen", "document.querySelectorAll('#said > .hidden').length === 20");
        assertThat(tab.text("document.querySelector('#configured').textContent"))
                .isEqualTo("As configured: the newest 20 messages.");
        choose(tab, "#strategy", "summary", "change");
        tab.await("document.querySelector('#due')?.textContent.includes('those before it')");
        assertThat(tab.text("document.querySelector('fieldset').textContent")).contains("Summarize from 20messages");
        assertThat(count(tab, ".lines > li .mark")).isPositive();
        choose(tab, "#strategy", "tokens", "change");
        tab.await("document.querySelector('figcaption').textContent.includes('Free')");
        assertThat(tab.text("fetch('/conversations/slider/state').then(r => r.text())"))
                .isEqualTo(state);
        assertThat(tab.requests).allMatch(request -> request.startsWith("GET "));
    }

    private static void choose(Tab tab, String selector, String value, String event) {
        tab.run("{const e = document.querySelector('" + selector + "'); e.value = '" + value
                + "'; e.dispatchEvent(new Event('" + event + "', {bubbles: true}))}");
    }

    private static void view(Tab tab, String name, String shown) {
        tab.run("document.querySelector('#tab-" + name + "').click()");
        tab.await(shown);
    }

    @Test
    void why_this_answer_shows_what_the_model_saw_then() throws Exception {
        forgetful("why");
        Tab tab = open("why");
        chat(tab, "Who am I?");
        chat(tab, "Nobody told you.");
        press(tab, LAST, "Why this answer?");
        tab.await("document.querySelector('#saw')");
        tab.await("document.activeElement.id === 'panel'");
        assertThat(count(tab, "#saw > li")).isBetween(18, 21);
        assertThat(tab.text("document.querySelector('#saw').textContent")).doesNotContain("My name is Alice");
        assertThat(tab.text("document.querySelector('.facts').textContent")).contains("scripted", "read", "Normally");
        assertThat(tab.text("document.querySelector('#prefix').textContent"))
                .contains("The request begins otherwise than the one before");
        assertThat(tab.text("document.querySelector('#unseen').textContent")).contains("the model still saw");
        String now = tab.text("document.querySelector('blockquote').textContent");
        choose(tab, "#turn", "13", "input");
        tab.await("document.querySelector('#panel output')?.textContent.startsWith('13 of')");
        assertThat(tab.text("document.querySelector('blockquote').textContent")).isNotEqualTo(now);
    }

    @Test
    void a_request_that_goes_on_from_the_one_before_can_be_cached() throws Exception {
        Tab tab = open("cached");
        chat(tab, "Hello.");
        chat(tab, "I keep bees.");
        press(tab, LAST, "Why this answer?");
        tab.await("document.querySelector('#prefix')?.textContent.startsWith('The request begins with the whole one')");
        assertThat(tab.text("document.querySelector('#panel figcaption').textContent"))
                .startsWith("Chat ");
    }

    @Test
    void the_tree_shows_all_branches_and_a_click_switches() throws Exception {
        Tab tab = open("tree");
        chat(tab, "My name is Alice.");
        press(tab, LAST, "Another answer");
        tab.await("!document.querySelector('.busy, .pending') && document.querySelector('.versions')");
        view(tab, "tree", "document.querySelectorAll('svg .node').length === 3");
        assertThat(count(tab, "svg .node.current")).isEqualTo(2);
        assertThat(tab.text("document.querySelector('svg .node text').textContent"))
                .isEqualTo("You: My name is Alice.");
        String other = tab.text("document.querySelector('svg .node:not(.current)').id");
        tab.run("document.querySelector('svg .node:not(.current)').focus()");
        tab.key("Enter");
        tab.await("document.getElementById('" + other + "')?.classList.contains('current')");
        tab.await(LAST + ".querySelector('.versions').textContent.includes('1 of 2')");
        assertThat(tab.text("document.activeElement.id")).isEqualTo(other);
        tab.run("document.querySelector('svg .node:not(.current)').dispatchEvent(new MouseEvent('click'))");
        tab.await(LAST + ".querySelector('.versions').textContent.includes('2 of 2')");
        tab.await("document.querySelector('svg .node[tabindex=\"0\"]').matches('.current:last-of-type')");
        tab.run("document.querySelector('svg .node[tabindex=\"0\"]').focus()");
        tab.key("ArrowUp");
        assertThat(tab.text("document.activeElement.id")).isEqualTo(other);
        assertThat(count(tab, "svg .node[tabindex='0']")).isEqualTo(1);
    }

    @Test
    void words_are_found_and_recalled() throws Exception {
        forgetful("found");
        Tab tab = open("found");
        view(tab, "find", "document.querySelector('#words')");
        tab.run("document.querySelector('#words').focus()");
        tab.write("name");
        tab.key("Enter");
        tab.await("document.querySelector('#found mark')");
        assertThat(tab.text("document.querySelector('#found mark').textContent"))
                .isEqualTo("name");
        assertThat(tab.text("document.querySelector('#found').textContent")).doesNotContain("false");
        press(tab, "document.querySelector('#found')", "Show in chat");
        tab.await("document.activeElement.closest('#said li')?.textContent.includes('My name is Alice')");
        press(tab, "document.querySelector('#panel')", "Recall");
        tab.await("document.querySelector('#found meter')");
        assertThat(tab.text("document.querySelector('#found').textContent")).contains("Alice", "ms", "token");
        memory("other").add(UserMessage.from("Hello."), AiMessage.from("Hi."));
        tab.run("location.hash = '#other'");
        tab.await("document.querySelectorAll('#said > li').length === 2 && document.querySelector('#words')?.value"
                + " === ''");
    }

    @Test
    void the_dearest_answer_is_first_and_the_data_are_checked() throws Exception {
        Tab tab = open("tokens");
        chat(tab, "Hello.");
        view(tab, "memories", "document.querySelector('#panel').textContent.includes('run.profiles=all')");
        chat(tab, "Tell me something long");
        view(tab, "tokens", "document.querySelector('#check')");
        assertThat(tab.text("document.querySelector('#check').textContent")).isEqualTo("The stored data are sound.");
        assertThat(tab.text("document.querySelector('#dearest > li p').textContent"))
                .startsWith("This is a long answer.");
        assertThat(tab.text("document.querySelector('#paid').textContent"))
                .matches("\\d+ tokens read and \\d+ written .*");
        tab.run("document.querySelector('#dearest button').focus()");
        tab.key("Enter");
        tab.await("document.querySelector('#saw') && document.activeElement.id === 'panel'");
        view(tab, "tokens", "document.querySelector('#paid')");
        tab.run("document.querySelector('#fork').click()");
        tab.await("document.querySelector('#paid')?.textContent.includes('has cost nothing')");
    }

    @Test
    void a_conversation_is_renamed_forked_listed_and_erased_after_a_question() throws Exception {
        Tab tab = open("begun");
        chat(tab, "Hello.");
        tab.run("document.querySelector('#rename').click()");
        tab.write("Greetings");
        tab.key("Enter");
        tab.await("document.querySelector('#title').textContent === 'Greetings' && "
                + "document.querySelector('#list').textContent.includes('Greetings')");
        tab.run("document.querySelector('#fork').click()");
        tab.await("location.hash !== '#begun' && document.querySelectorAll('#said > li').length === 2");
        assertThat(tab.text("document.querySelector('#title').textContent")).isEqualTo("Copy of Greetings");
        tab.run("document.querySelector('#erase').click()");
        tab.key("Escape");
        tab.await("!document.querySelector('dialog').open");
        Tab.pause(100);
        assertThat(count(tab, "#said > li")).isEqualTo(2);
        tab.run("document.querySelector('#erase').click()");
        tab.key("Enter");
        tab.await("!document.querySelector('dialog').open");
        assertThat(count(tab, "#said > li")).isEqualTo(2);
        // The question is asked again before the browser tells of the end of the dialog.
        tab.run("document.querySelector('#erase').click(); document.querySelector('dialog').close();"
                + " document.querySelector('#erase').click()");
        press(tab, "document.querySelector('dialog')", "Erase");
        tab.await("document.querySelectorAll('#said > li').length === 0 && document.activeElement.id === 'question'");
        assertThat(application.getBean(Keepsake.class).conversation("begun").info())
                .isPresent();
    }

    @Test
    void a_second_tab_sees_a_turn_soon_and_nothing_twice() throws Exception {
        Tab one = open("both");
        chat(one, "First.");
        Tab two = open("both");
        two.await("document.querySelectorAll('#said > li').length === 2");
        chat(one, "Second.");
        two.await("document.querySelectorAll('#said > li').length === 4");
        chat(two, "Third.");
        one.await("document.querySelectorAll('#said > li').length === 6");
        ask(one, LONG);
        two.await("document.querySelectorAll('#said > li').length === 7 && " + LAST
                + ".textContent.includes('An answer is running')");
        assertThat(two.text(LAST + ".querySelector('.buttons').textContent")).doesNotContain("Try again", "Edit");
        one.key("Escape");
        two.await("document.querySelectorAll('#said > li').length === 8");
        two.await("!document.querySelector('#said').textContent.includes('An answer is running')");
        String ids = "new Set([...document.querySelectorAll('#said > li')].map(li => li.dataset.id)).size";
        one.await("document.querySelectorAll('#said > li').length === 8");
        assertThat(one.run(ids).asInt()).isEqualTo(8);
        assertThat(two.run(ids).asInt()).isEqualTo(8);
        application.getBean(Keepsake.class).conversation("both").erase();
        one.await("document.querySelectorAll('#said > li').length === 0");
        two.await("document.querySelector('#title').textContent === 'New conversation'");
    }

    @Test
    void after_a_restart_in_the_middle_of_an_answer_the_page_says_so_and_goes_on() throws Exception {
        Tab tab = open("restart");
        chat(tab, "Hello.");
        ask(tab, LONG);
        tab.await("document.querySelector('.pending.ai p')?.textContent.length > 10");
        view(tab, "why", "document.querySelector('#saw')");
        view(tab, "seen", "document.querySelector('#sum')");
        assertThat(count(tab, "#said > .hidden")).isZero();
        int port = port();
        application.close();
        tab.await("document.querySelector('#status').textContent.includes('went away')");
        application = serve(port, "page");
        tab.await("document.querySelector('#status').textContent.includes('back')");
        assertThat(count(tab, ".pending")).isZero();
        assertThat(tab.text("document.querySelector('#said').textContent")).contains(LONG);
        chat(tab, "I go on.");
        assertThat(tab.text(LAST + ".textContent")).contains("You go on.");
    }

    @Test
    void a_long_conversation_opens_fast_and_keeps_few_nodes() throws Exception {
        ChatMemory memory = memory("long");
        for (int batch = 0; batch < 5_000; batch += 250) {
            memory.add(IntStream.range(batch, batch + 250)
                    .boxed()
                    .flatMap(i -> Stream.of(UserMessage.from("question " + i), AiMessage.from("answer " + i)))
                    .toArray(ChatMessage[]::new));
        }
        Tab tab = open("long");
        String bytes = "(async () => (await (await fetch('/conversations/long/page')).arrayBuffer()).byteLength)()";
        assertThat(tab.run(bytes).asInt()).isBetween(5_000, 50_000);
        tab.requests.clear();
        for (int i = 0; i < 6; i++) {
            String first = tab.text("document.querySelector('#said > li').dataset.id");
            tab.run("document.querySelector('#older').focus()");
            tab.key("Enter");
            tab.await("document.querySelector('#said > li').dataset.id !== '" + first + "'");
            assertThat(tab.text("document.activeElement.id")).isEqualTo("older");
            assertThat(count(tab, "#said > li, .lines > li")).isLessThanOrEqualTo(300);
        }
        assertThat(tab.requests.stream().filter(request -> request.contains("/page?upTo=")))
                .hasSize(6);
        assertThat(tab.text("document.querySelector('#said > li p').textContent"))
                .isEqualTo("question 4825");
        tab.run("document.querySelector('#newest').focus()");
        tab.key("Enter");
        tab.await(LAST + "?.textContent.includes('answer 4999')");
        assertThat(tab.text("document.activeElement.id")).isEqualTo("said");
        view(tab, "find", "document.querySelector('#words')");
        tab.run("document.querySelector('#words').focus()");
        tab.write("4000");
        tab.key("Enter");
        tab.await("document.querySelector('#found p')");
        // A slow index is behind for a while, and the page says so.
        while (tab.text("document.querySelector('#found').textContent").contains("still being indexed")) {
            press(tab, "document.querySelector('#panel')", "Search");
            Tab.pause(100);
        }
        tab.await("document.querySelector('#found mark')");
        press(tab, "document.querySelector('#found')", "Show in chat");
        tab.await("document.activeElement.closest('#said li')?.textContent.includes(' 4000')");
    }

    private static final List<String> HOSTILE = List.of(
            "<img src=x onerror=\"document.title='run'\">",
            "</script><script>document.title='run'</script>",
            "\u202Eevil\u202C \u2066isolate",
            "a\u0000b",
            "'\"><svg onload=document.title='run'> ${1} {{1}} javascript:alert(1)",
            "\uD83D\uDC1D \uD800 lone");

    @Test
    void hostile_texts_are_only_text() throws Exception {
        for (int i = 0; i < HOSTILE.size(); i++) {
            String hostile = HOSTILE.get(i);
            String id = "hostile-" + i;
            ChatMemory memory = memory(id);
            ToolExecutionRequest call = ToolExecutionRequest.builder()
                    .id("1")
                    .name("tool")
                    .arguments(hostile)
                    .build();
            String stored = hostile.replace("\uD800", "?");
            memory.add(
                    UserMessage.from(stored + " findable"),
                    AiMessage.from(call),
                    ToolExecutionResultMessage.from(call, stored),
                    AiMessage.from(stored));
            if (stored.indexOf(0) < 0) {
                application.getBean(Keepsake.class).conversation(id).setTitle(stored);
            }
            Tab tab = open(id);
            tab.await("document.querySelectorAll('#said > li').length === 4");
            String expected = new JsonMapper().writeValueAsString(stored);
            for (String part : List.of(".user p", ".tool p", ".ai:last-child > p")) {
                assertThat(tab.run("document.querySelector('#said > " + part + "').textContent.startsWith(" + expected
                                        + ")")
                                .asBoolean())
                        .as(id + part)
                        .isTrue();
            }
            if (stored.indexOf(0) < 0) {
                assertThat(tab.run("document.querySelector('#title').textContent === " + expected)
                                .asBoolean())
                        .isTrue();
            }
            for (String view : List.of("why", "tree", "tokens", "seen")) {
                view(tab, view, "document.querySelector('#tab-" + view + "').ariaSelected === 'true'");
                Tab.pause(100);
            }
            view(tab, "find", "document.querySelector('#words')");
            tab.run("document.querySelector('#words').focus()");
            tab.write("findable");
            tab.key("Enter");
            tab.await("document.querySelector('#found mark')");
            assertThat(tab.run("document.querySelector('#found p.text').textContent === " + expected + " + ' findable'")
                            .asBoolean())
                    .isTrue();
            assertThat(tab.text("document.title")).endsWith(" – Keepsake4j");
            assertThat(count(tab, "img, #said script, #panel script")).isZero();
        }
    }

    @Test
    void a_phone_shows_the_page_in_its_width() throws Exception {
        forgetful("phone");
        Tab tab = open("phone");
        tab.size(390, 844, true);
        tab.await("document.querySelector('#send').getBoundingClientRect().bottom <= 844 && scrollY === 0");
        tab.run("document.querySelector('#conversations').open = true");
        tab.await("document.querySelector('[data-id=phone]')");
        tab.run("document.querySelector('[data-id=phone]').click()");
        tab.await("!document.querySelector('#conversations').open");
        tab.size(375, 700, true);
        for (String name : List.of("seen", "why", "tree", "find", "tokens")) {
            view(tab, name, "document.querySelector('#tab-" + name + "').ariaSelected === 'true'");
            Tab.pause(200);
            assertThat(tab.run("innerWidth").asInt()).isEqualTo(375);
            assertThat(tab.run("document.documentElement.scrollWidth").asInt())
                    .as(name)
                    .isLessThanOrEqualTo(375);
            assertThat(tab.run("document.querySelector('#panel .narrow').offsetHeight > 0")
                            .asBoolean())
                    .as(name)
                    .isTrue();
            assertThat(tab.run("[...document.querySelectorAll('button')].filter(b => b.offsetParent && "
                            + "b.offsetHeight < 41).map(b => b.textContent)"))
                    .as(name)
                    .isEmpty();
        }
        view(tab, "seen", "document.querySelector('#sum')");
        tab.await("Math.abs(document.querySelector('#views').getBoundingClientRect().top) < 2");
        view(tab, "tree", "document.querySelector('.scroll').scrollTop > 0");
        tab.await("(e => e.bottom <= innerHeight)(document.querySelector('.node[tabindex=\"0\"]')"
                + ".getBoundingClientRect())");
        view(tab, "why", "document.querySelector('blockquote')");
        press(tab, "document.querySelector('#panel')", "Back to the chat");
        tab.await("document.activeElement.closest('#said li')");
    }

    @Test
    void the_keyboard_alone_is_enough_and_every_control_has_a_name() throws Exception {
        Tab tab = open("keys");
        for (int i = 0; i < 30 && !"question".equals(tab.text("document.activeElement.id")); i++) {
            tab.key("Tab");
        }
        assertThat(tab.text("document.activeElement.id")).isEqualTo("question");
        tab.write("Hello by key.");
        tab.key("Enter");
        tab.await("document.querySelectorAll('#said > li:not(.pending)').length === 2");
        for (int i = 0; i < 30 && !"tab-seen".equals(tab.text("document.activeElement.id")); i++) {
            tab.key("Tab");
        }
        tab.key("ArrowRight");
        tab.await("document.querySelector('#tab-why').ariaSelected === 'true' && document.querySelector('#saw')");
        assertThat(tab.accessible())
                .contains("textbox: Question", "tab: Why", "button: Send", "list: Messages")
                .doesNotContain("button: ", "textbox: ", "slider: ", "combobox: ", "link: ");
    }

    @Test
    void with_all_features_a_summary_memories_and_recall_are_shown_and_memories_are_changed() throws Exception {
        try (ConfigurableApplicationContext all = serve(
                0,
                "all",
                "--spring.profiles.active=all",
                "--keepsake4j.memories.directory=" + directory.resolve("memories"))) {
            Keepsake keepsake = all.getBean(Keepsake.class);
            ChatMemory memory = keepsake.chatMemory("all");
            memory.add(UserMessage.from("My name is Alice."), AiMessage.from("Hello Alice."));
            for (int i = 0; i < 12; i++) {
                memory.add(
                        UserMessage.from("What about hive " + i + "?"),
                        AiMessage.from("Hive " + i + " is fine. ".repeat(4)));
            }
            keepsake.conversation("all").summarizeNow();
            Tab tab =
                    browser.open("http://localhost:" + all.getEnvironment().getProperty("local.server.port") + "/#all");
            tabs.add(tab);
            tab.await("document.querySelector('.lines > .summary')");
            assertThat(tab.text("document.querySelector('#said > .hidden .mark').textContent"))
                    .isEqualTo("Not seen: covered by the summary");
            assertThat(tab.text("document.querySelector('figcaption').textContent"))
                    .contains("Summary");
            ask(tab, "Please fail");
            tab.await("!document.querySelector('.busy, .pending') && document.querySelector('.outcome')");
            for (int i = 0; i < 12; i++) {
                memory.add(UserMessage.from("Is hive " + i + " well?"), AiMessage.from("It is. ".repeat(12)));
            }
            keepsake.conversation("all").summarizeNow();
            tab.await("document.querySelector('.outcome').closest('li').nextElementSibling?.querySelector('.mark')"
                    + ".textContent === 'Not seen: covered by the summary'");
            assertThat(tab.text("document.querySelector('.outcome').closest('li').querySelector('.mark').textContent"))
                    .isEqualTo("Not seen: its answer failed");

            view(tab, "memories", "document.querySelector('#make')");
            press(tab, "document.querySelector('#panel')", "Make memories now");
            tab.await("document.querySelector('#panel').textContent.includes('My name is Alice.')");
            tab.run("document.querySelector('[id^=pin]').focus()");
            tab.key("Enter");
            tab.await("document.querySelector('#panel .mark')?.textContent === 'Pinned'");
            assertThat(tab.text("document.activeElement.textContent")).isEqualTo("Unpin");
            press(tab, "document.querySelector('#panel li')", "Correct");
            assertThat(tab.text("document.querySelector('#dialog-label').textContent"))
                    .startsWith("Memory");
            tab.write("My name is Alicia.");
            press(tab, "document.querySelector('dialog')", "Correct");
            tab.await("document.querySelector('#panel li')?.textContent.includes('Alicia')");
            assertThat(tab.text("document.querySelector('#panel li details').textContent"))
                    .contains("is Alice.");

            chat(tab, "What is my name?");
            assertThat(tab.text(LAST + ".querySelector('p').textContent"))
                    .isEqualTo("Your name is Alicia. A long-term memory says so.");
            view(tab, "seen", "document.querySelector('#panel').textContent.includes('that recall finds for it')");
            assertThat(tab.text("document.querySelector('.lines > .memories').textContent"))
                    .contains("Alicia");
            assertThat(tab.text("document.querySelector('#configured').textContent"))
                    .endsWith("; summary from 400 tokens, keeps about 100; long-term memories up to 150 tokens.");
            press(tab, LAST, "Why this answer?");
            tab.await("document.querySelector('#saw')");
            assertThat(tab.run(PARTS).asInt()).isCloseTo(tab.run(READ).asInt(), within(5));
            assertThat(tab.text("document.querySelector('#panel').textContent"))
                    .contains(
                            " messages, a summary and long-term memories",
                            "Summary",
                            "Alicia",
                            "Recalled for this question",
                            "user: My name is Alice.")
                    .doesNotContain("user: What about");
            press(tab, LAST, "Another answer");
            tab.await("!document.querySelector('.busy, .pending') && " + LAST + ".querySelector('.versions')");
            press(tab, LAST, "Why this answer?");
            tab.await("document.querySelector('#panel blockquote').textContent.startsWith('Once more')");
            assertThat(tab.text("document.querySelector('#panel').textContent"))
                    .contains("Recalled for this question")
                    .doesNotContain("The application changed");
            view(tab, "memories", "document.querySelector('#panel li.memories')");
            assertThat(tab.text("document.querySelector('#panel li.memories h3').textContent"))
                    .isEqualTo("Corrected");
            press(tab, "document.querySelector('#panel li.memories')", "Forget");
            assertThat(tab.text("document.querySelector('#dialog-text').textContent"))
                    .isEqualTo("Forget “My name is Alicia.”? The messages stay in the chat.");
            press(tab, "document.querySelector('dialog')", "Forget");
            tab.await("!document.querySelector('#panel').textContent.includes('Alicia')");
            assertThat(tab.errors).isEmpty();

            tab.run("document.querySelector('#new').click()");
            for (int answer = 1; answer <= 4; answer++) {
                chat(tab, "I live in Ulm.");
                view(tab, "memories", "document.querySelector('#none')");
                press(tab, "document.querySelector('#panel')", "Make memories now");
                if (answer < 4) {
                    tab.await("document.querySelector('#status').textContent === 'No memory is due yet.'");
                }
            }
            tab.await("document.querySelector('#panel li')?.textContent.includes('I live in Ulm.')");
        }
    }

    @Test
    void a_bad_network_doubles_and_loses_nothing() throws Exception {
        ChatMemory memory = memory("network");
        for (int i = 0; i < 60; i++) {
            memory.add(UserMessage.from("question " + i), AiMessage.from("answer " + i));
        }
        Tab tab = open("network");
        tab.network(false, 500);
        tab.run("for (let i = 0; i < 3; i++) document.querySelector('#older').click()");
        tab.await("document.querySelectorAll('#said > li').length > 50");
        Tab.pause(1_000);
        assertThat(tab.run("new Set([...document.querySelectorAll('#said > li')].map(li => li.dataset.id)).size")
                        .asInt())
                .isEqualTo(count(tab, "#said > li"))
                .isEqualTo(100);
        tab.network(true, 0);
        ask(tab, "I heard an echo.");
        tab.await("document.querySelector('#question').value === 'I heard an echo.'");
        tab.await("document.querySelector('#status').textContent.includes('Your question is still in the field')");
        assertThat(count(tab, ".pending")).isZero();
        assertThat(count(tab, "#said > li")).isEqualTo(100);
        tab.network(false, 0);
        tab.await("document.querySelector('#status').textContent.includes('back')");
        tab.run("document.querySelector('#send').click()");
        tab.await("!document.querySelector('.busy, .pending') && " + LAST
                + ".textContent.includes('You heard an echo.')");
        assertThat(application
                        .getBean(Keepsake.class)
                        .conversation("network")
                        .info()
                        .orElseThrow()
                        .messages())
                .isEqualTo(122);
    }

    @Test
    void a_huge_message_is_whole_and_keeps_the_width() throws Exception {
        String huge = "x".repeat(100_000) + " " + "word ".repeat(100_000);
        memory("huge").add(UserMessage.from(huge), AiMessage.from("Oh."));
        Tab tab = open("huge");
        tab.await("document.querySelectorAll('#said > li').length === 2");
        assertThat(tab.run("document.querySelector('#said p').textContent.length")
                        .asInt())
                .isEqualTo(huge.length());
        assertThat(tab.run("document.documentElement.scrollWidth <= innerWidth").asBoolean())
                .isTrue();
        assertThat(tab.run("document.querySelector('#said > li').offsetHeight").asInt())
                .isLessThan(600);
    }

    @Test
    void an_address_that_names_no_conversation_does_no_harm() throws Exception {
        for (String hash : List.of("%", "..", "a%2Fb%3Bc", "%00", "%E2%80%AE")) {
            Tab tab = open(hash);
            Tab.pause(200);
            tab.run("document.querySelector('#new').click()");
            tab.await("document.querySelector('#title').textContent === 'New conversation'");
            assertThat(tab.errors).as(hash).isEmpty();
        }
    }

    @Test
    void axe_finds_nothing_serious() throws Exception {
        String axe = new ClassPathResource("META-INF/resources/webjars/axe-core/" + AXE + "/axe.min.js")
                .getContentAsString(StandardCharsets.UTF_8);
        forgetful("axe");
        Tab tab = open("axe");
        chat(tab, "Please use a tool.");
        for (boolean dark : new boolean[] {false, true}) {
            tab.dark(dark);
            for (String name : List.of("seen", "why", "tree", "find", "tokens")) {
                view(tab, name, "document.querySelector('#tab-" + name + "').ariaSelected === 'true'");
                Tab.pause(200);
                tab.run(axe);
                tab.await("(of => axe.commons.color.getContrast(of('body', 'backgroundColor'), of('#question', "
                        + "'borderTopColor')) > 3)((e, name) => (c => (c.parseString(getComputedStyle("
                        + "document.querySelector(e))[name]), c))(new axe.commons.color.Color()))");
                JsonNode found = tab.run("axe.run().then(r => r.violations.map(v => v.impact + ' ' + v.id + ': ' + "
                        + "v.nodes.map(n => n.html.slice(0, 200) + n.failureSummary).join('; ')))");
                assertThat(found)
                        .as(name + (dark ? " dark" : " light"))
                        .noneMatch(each -> each.asString().startsWith("serious")
                                || each.asString().startsWith("critical"));
            }
        }
    }

    @Test
    void pictures_are_small_and_can_be_kept() throws Exception {
        forgetful("Bees");
        application.getBean(Keepsake.class).conversation("Bees").setTitle("Keeping bees");
        Tab tab = open("Bees");
        chat(tab, "Why do you not know my name?");
        tab.run("document.querySelector('#said').scrollTop = 0; document.querySelector('#panel').scrollTop = 0; "
                + "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        picture(tab, "page-seen");
        press(tab, LAST, "Why this answer?");
        tab.await("document.querySelector('#saw')");
        tab.run("document.querySelector('#said').scrollTop = 1e6");
        picture(tab, "page-why");

        Tab other = open("Tree");
        chat(other, "My name is Alice.");
        press(other, LAST, "Another answer");
        other.await("!document.querySelector('.busy, .pending') && document.querySelector('.versions')");
        chat(other, "Who am I?");
        application.getBean(Keepsake.class).conversation("Tree").setTitle("Two answers");
        other.await("document.querySelector('#title').textContent === 'Two answers'");
        view(other, "tree", "document.querySelectorAll('svg .node').length === 5");
        picture(other, "page-tree");
    }

    private static void picture(Tab tab, String name) throws IOException {
        tab.size(1040, 640, false);
        tab.run("document.querySelector('#conversations').open = false; document.querySelector('#status').textContent"
                + " = ''");
        for (boolean dark : new boolean[] {false, true}) {
            tab.dark(dark);
            Tab.pause(100);
            byte[] picture = tab.picture();
            assertThat(picture.length).as(name).isBetween(10_000, 150_000);
            String back = tab.text("getComputedStyle(document.body).backgroundColor");
            assertThat(back).isEqualTo(dark ? "rgb(20, 24, 27)" : "rgb(247, 246, 243)");
            if (Boolean.getBoolean("keepsake.write")) {
                Path pictures = Path.of("../../src/docs/pictures");
                Files.write(pictures.resolve(name + (dark ? "-dark" : "-light") + ".png"), picture);
            }
        }
    }
}
