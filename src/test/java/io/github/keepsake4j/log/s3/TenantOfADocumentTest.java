package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.ids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.TenantMismatchException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.transfer.MemoryCopy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two logs that name the same documents for different tenants. */
class TenantOfADocumentTest extends BucketFixture {

    private static final ConversationKey ACME = ConversationKey.of("acme", "42");
    private static final ConversationKey GLOBEX = ConversationKey.of("globex", "42");
    private static final String OBJECT = "conversation_memory/42.json";
    private static final String PLAIN =
            """
            {"version": 1, "messages": [{"message_id": "plain", "parent_message_id": null, "role": "user", "content": "hello",
             "files": [], "token_count": 1, "created_at": "2026-01-07T10:00:00Z"}]}
            """;

    private MessageLog acme;
    private MessageLog globex;

    @BeforeEach
    void openBoth() {
        acme = another(builder -> builder.defaultTenant("acme"));
        globex = another(builder -> builder.defaultTenant("globex"));
    }

    @Test
    void what_one_tenant_wrote_is_neither_read_nor_changed_by_another() {
        acme.append(ACME, batch("a"));
        byte[] before = bytes(OBJECT);
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> globex.read(GLOBEX, ReadQuery.wholeBranch()),
                () -> globex.history(GLOBEX, HistoryQuery.newest(9)),
                () -> globex.append(GLOBEX, batch("b")),
                () -> Logs.setTitle(globex, GLOBEX, "title"),
                () -> globex.acquireLease(GLOBEX, "work", "me", Duration.ofHours(1)),
                () -> globex.list("globex", ListQuery.first(9)),
                () -> globex.repair(GLOBEX),
                () -> globex.eraseIfIdle(GLOBEX, Instant.MAX),
                () -> globex.erase(GLOBEX),
                () -> ((S3MessageLog) globex).quarantine(OBJECT))) {
            if (!refused(call)) {
                throw new AssertionError("a call reached the other tenant's document");
            }
        }
        assertThat(bytes(OBJECT)).isEqualTo(before);
        assertThat(ids(history(acme, ACME))).containsExactly("a");
    }

    private boolean refused(ThrowingCallable call) {
        try {
            call.call();
            return false;
        } catch (TenantMismatchException e) {
            assertThat(e).hasMessageContaining("defaultTenant");
            assertThat(e.getMessage()).doesNotContain("acme");
            assertThat(e.isRetryable()).isFalse();
            return true;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void the_tenant_counts_also_after_another_program_has_written() throws Exception {
        acme.append(ACME, batch("a"));
        put(OBJECT, PlainProgram.appendKeeping(text(OBJECT), PlainProgram.message("plain", "a", "user", "hello")));
        assertThat(ids(history(acme, ACME))).hasSize(2);
        assertMismatch(() -> globex.read(GLOBEX, ReadQuery.wholeBranch()));
    }

    @Test
    void cleared_messages_of_one_tenant_are_not_shown_to_another() {
        acme.append(ACME, batch("a"));
        acme.append(ACME, Append.viewOnly(View.of(null, List.of())));
        put(OBJECT, PLAIN);
        assertMismatch(() -> history(globex, GLOBEX));
        assertThat(ids(history(acme, ACME))).containsExactly("a", "plain");
    }

    @Test
    void what_an_erasure_left_is_its_tenants() {
        acme.append(ACME, batch("a"));
        acme.erase(ACME);
        assertMismatch(() -> globex.read(GLOBEX, ReadQuery.wholeBranch()));
        assertMismatch(() -> globex.append(GLOBEX, batch("b")));
        assertMismatch(() -> globex.removeTombstones("globex", Instant.MAX));
        assertThat(acme.removeTombstones("acme", Instant.MAX)).isEqualTo(1);
        globex.append(GLOBEX, batch("b"));
        assertMismatch(() -> acme.read(ACME, ReadQuery.wholeBranch()));
    }

    @Test
    void a_turn_that_waits_is_not_written_over_another_tenants_document() {
        MessageLog waiting = another(builder -> builder.defaultTenant("globex").turnMode());
        waiting.append(GLOBEX, batch("b"));
        acme.append(ACME, batch("a"));
        assertMismatch(() -> waiting.flush(GLOBEX));
        assertThat(ids(history(acme, ACME))).containsExactly("a");
    }

    @Test
    void a_document_that_says_no_tenant_is_taken_for_the_default_tenants_and_the_first_write_says_so() {
        put(OBJECT, PLAIN);
        assertThat(ids(history(acme, ACME))).containsExactly("plain");
        acme.append(ACME, batch("a"));
        assertThat(ids(history(acme, ACME))).containsExactly("plain", "a");
        assertMismatch(() -> globex.read(GLOBEX, ReadQuery.wholeBranch()));
    }

    /** Without a default tenant, the memories of a tenant have names of their own. */
    @Test
    void old_documents_are_copied_to_the_tenants_own_names() {
        acme.append(ACME, batch("a", "b"));
        put(OBJECT, text(OBJECT).replaceAll(",\\s*\"tenant\":\\s*\"acme\"", ""));
        assertThat(text(OBJECT)).doesNotContain("acme");
        MessageLog old = another(builder -> builder.defaultTenant("acme"));
        assertThat(MemoryCopy.between(old, log).tenant("acme").memories()).isEqualTo(1);
        assertThat(ids(history(log, ACME))).containsExactly("a", "b");
        assertThat(allObjects()).contains("tenants/acme/conversation_memory/42.json");
    }

    private static void assertMismatch(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(TenantMismatchException.class).isInstanceOf(KeepsakeException.class);
    }
}
