package io.github.keepsake4j.chat.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.TokenWindowChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.conformance.ChatMemoryConformance;
import io.github.keepsake4j.conformance.ChatMemoryStoreConformance;
import io.github.keepsake4j.conformance.ConformanceReport;
import io.github.keepsake4j.conformance.ConformanceReport.Level;
import io.github.keepsake4j.conformance.ConformanceReport.Result;
import io.github.keepsake4j.conformance.ConformanceReport.Status;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.TenEach;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * What LangChain4j's own store and memories pass. What they fail with one thread is known; whether threads lose a message
 * depends on the schedule and is reported only.
 */
class LangChain4jConformanceTest {

    @Test
    void its_store_in_memory_shares_its_lists() throws Exception {
        ConformanceReport report = new Store().report();
        assertThat(failed(report))
                .as(report.text())
                .containsExactlyInAnyOrder(
                        "a_failed_update_leaves_the_old_list",
                        "a_list_of_the_caller_is_not_a_list_of_the_store",
                        "an_unknown_id_has_an_empty_list");
    }

    @Test
    void its_window_of_messages_does_all_with_one_thread() throws Exception {
        ConformanceReport report =
                new Memory("MessageWindowChatMemory", store -> id -> Dialogue.window(id, 60, store)).report();
        assertThat(failed(report)).as(report.text()).isEmpty();
    }

    @Test
    void its_window_of_tokens_does_all_with_one_thread() throws Exception {
        ConformanceReport report = new Memory(
                        "TokenWindowChatMemory",
                        store -> id -> TokenWindowChatMemory.builder()
                                .id(id)
                                .maxTokens(600, new TenEach())
                                .chatMemoryStore(store)
                                .build())
                .report();
        assertThat(failed(report)).as(report.text()).isEmpty();
    }

    private static List<String> failed(ConformanceReport report) throws Exception {
        ConformanceReport.write(Path.of("target/conformance", report.subject() + ".md"), report);
        return report.results().stream()
                .filter(result -> result.status() == Status.FAILED && result.level() == Level.BASIC)
                .map(Result::check)
                .toList();
    }

    /** LangChain4j's store. */
    static final class Store extends ChatMemoryStoreConformance {
        @Override
        protected ChatMemoryStore open() {
            return new InMemoryChatMemoryStore();
        }

        @Override
        protected String subject() {
            return "InMemoryChatMemoryStore";
        }
    }

    /** LangChain4j's memories over its store. */
    static final class Memory extends ChatMemoryConformance {
        private final String subject;
        private final Function<ChatMemoryStore, ChatMemoryProvider> provider;

        Memory(String subject, Function<ChatMemoryStore, ChatMemoryProvider> provider) {
            this.subject = subject;
            this.provider = provider;
        }

        @Override
        protected ChatMemoryProvider open() {
            return provider.apply(new InMemoryChatMemoryStore());
        }

        @Override
        protected int count(int stated) {
            return Counts.of(Math.max(1, stated / 10), stated);
        }

        @Override
        protected String subject() {
            return subject;
        }
    }
}
