package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.guardrail.OutputGuardrail;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.TrueReasons;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A conversation on one home, on which several tabs work at once. Texts of messages are those of {@link EndingTurns},
 * such as {@code U(one), A(yes)}.
 */
public final class Talk implements AutoCloseable {

    static final String ID = "c";
    static final MemoryKey KEY = ConversationKey.of("default", ID);

    final MessageLog log;
    final Keepsake keepsake;

    /** The same log as another process has it, which knows nothing of the turns of the first one. */
    final Keepsake other;

    private final Home.Storage storage;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Tab> tabs = new ArrayList<>();

    private Talk(Home.Storage storage, MessageLog log, UnaryOperator<Keepsake.Builder> settings) {
        this.storage = storage;
        this.log = log;
        this.keepsake = settings.apply(Keepsake.builder().messageLog(log)).build();
        this.other = settings.apply(Keepsake.builder().messageLog(log)).build();
    }

    public static Talk on(Home home) throws Exception {
        Home.Storage storage = home.storage();
        return new Talk(storage, storage.open(), builder -> builder);
    }

    /** Has the conversation zero, one and returns a tab that goes on with it. */
    Tab twoExchanges() {
        chat("zero", "a0");
        chat("one", "a1");
        return tab();
    }

    static Talk inMemory() {
        return inMemory(builder -> builder);
    }

    static Talk inMemory(UnaryOperator<Keepsake.Builder> settings) {
        InMemoryMessageLog log = new InMemoryMessageLog();
        return on(log, settings);
    }

    /** The log is the caller's. */
    static Talk on(MessageLog log, UnaryOperator<Keepsake.Builder> settings) {
        return new Talk(
                new Home.Storage() {
                    @Override
                    public MessageLog open() {
                        return log;
                    }

                    @Override
                    public void close() {}
                },
                log,
                settings);
    }

    /** Opens a tab of the first process. */
    Tab tab() {
        return tab(keepsake);
    }

    Tab tab(Keepsake of, OutputGuardrail... guardrails) {
        Tab tab = new Tab(of, threads, guardrails);
        tabs.add(tab);
        return tab;
    }

    /** Takes a whole turn in a tab of the other process and returns its last request. */
    String chat(String question, Object... replies) {
        return tab(other).chat(ID, question, null, replies);
    }

    Conversation conversation() {
        return other.conversation(ID);
    }

    List<LoggedMessage> logged() {
        return EndingTurns.logged(other, ID);
    }

    String history() {
        return EndingTurns.history(other, ID);
    }

    LoggedMessage message(String text) {
        return logged().stream()
                .filter(logged -> text(logged.message()).equals(text))
                .reduce((first, second) -> second)
                .orElseThrow(() -> new AssertionError(text + " is not in " + history()));
    }

    String id(String text) {
        return message(text).id();
    }

    /** Returns the text of a message's parent. */
    String parent(String text) {
        return textOf(message(text).parentId());
    }

    String head() {
        return textOf(Reads.position(log, KEY).head());
    }

    String textOf(@Nullable String id) {
        return id == null ? "" : text(Reads.message(log, KEY, id).orElseThrow().message());
    }

    /** Returns the messages of the branch that ends in a message. */
    String branch(String text) {
        return texts(log.read(KEY, ReadQuery.wholeBranch().endingIn(id(text))).messages());
    }

    String named(String branch) {
        return texts(log.read(KEY, ReadQuery.wholeBranch().onBranch(branch)).messages());
    }

    static String texts(List<LoggedMessage> logged) {
        return EndingTurns.text(logged.stream().map(LoggedMessage::message).toList());
    }

    static String text(ChatMessage message) {
        return EndingTurns.text(List.of(message));
    }

    /** Returns the reason why a message is not shown; null if it is shown, or if it is not on the branch. */
    @Nullable
    String reason(String text) {
        String id = id(text);
        return conversation().explain().omitted().stream()
                .filter(line -> line.messageId().equals(id))
                .map(Explanation.Line::reason)
                .map(Enum::name)
                .findFirst()
                .orElse(null);
    }

    /** Asserts what both processes show, and that the reasons for what is not shown are true. */
    void shows(String view) {
        shows(ID, view);
    }

    void shows(String id, String view) {
        Keepsake fresh = Keepsake.builder().messageLog(log).build();
        assertThat(EndingTurns.text(fresh.conversation(id).messages()))
                .as("shown to a reader; history: %s", EndingTurns.history(fresh, id))
                .isEqualTo(view);
        for (Keepsake known : List.of(keepsake, other)) {
            assertThat(EndingTurns.text(known.conversation(id).messages())).isEqualTo(view);
            assertThat(EndingTurns.view(known, id)).isEqualTo(view);
        }
        assertThat(TrueReasons.untrue(fresh.conversation(id))).isEmpty();
    }

    /** Asserts what is shown, and that the next requests of both processes show it too. */
    void goesOn(String view) {
        goesOn(ID, view);
    }

    void goesOn(String id, String view) {
        shows(id, view);
        String next = tab(other).chat(id, "next", null, "done");
        assertThat(next).as("the next request").isEqualTo(after(view, "U(next)"));
        String later = tab(keepsake).chat(id, "later", null, "over");
        assertThat(later).as("the request after the next").isEqualTo(after(view, "U(next), A(done), U(later)"));
        assertValid();
    }

    private static String after(String view, String more) {
        return view.isEmpty() ? more : view + ", " + more;
    }

    /** Asserts that no provider refuses a request, and that none has two assistant messages in a row. */
    void assertValid() {
        requests().forEach(Talk::assertValid);
    }

    Stream<List<ChatMessage>> requests() {
        return tabs.stream().flatMap(tab -> tab.requests.stream());
    }

    static void assertValid(List<ChatMessage> request) {
        assertThat(ProviderRules.request(request))
                .as("%s", EndingTurns.text(request))
                .isEmpty();
        assertThat(pairs(request)).as("%s", EndingTurns.text(request)).isEmpty();
    }

    /** Returns the assistant messages that directly follow another one. */
    static List<String> pairs(List<ChatMessage> messages) {
        return Stream.iterate(1, i -> i < messages.size(), i -> i + 1)
                .filter(i -> messages.get(i) instanceof AiMessage && messages.get(i - 1) instanceof AiMessage)
                .map(i -> text(messages.get(i)))
                .toList();
    }

    @Override
    public void close() {
        tabs.forEach(Tab::letGo);
        threads.shutdown();
        try {
            // Otherwise the turns' last writes would meet a closed log.
            assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        log.close();
        storage.close();
    }
}
