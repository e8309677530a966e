package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Messages;
import io.github.keepsake4j.view.ViewReader;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The document that other programs also read and write. */
@Timeout(600)
class DocumentTest extends BucketFixture {

    @Test
    void the_public_example_is_read() {
        put(NODE_OBJECT, resource("node-memory-v1.json"));

        List<LoggedMessage> messages = log.read(NODE, ReadQuery.wholeBranch()).messages();

        Map<String, Object> file = Map.of(
                "type",
                "image",
                "transfer_method",
                "local_file",
                "upload_file_id",
                "file-uuid-123",
                "belongs_to",
                "user");
        UserMessage question = UserMessage.builder()
                .addContent(TextContent.from("What is on this picture?"))
                .attributes(Map.of("files", List.of(file)))
                .build();
        assertThat(messages)
                .containsExactly(
                        new LoggedMessage(
                                "msg-001", null, 1, question, 15, "unknown", Instant.parse("2026-01-07T10:00:00Z")),
                        new LoggedMessage(
                                "msg-002",
                                "msg-001",
                                2,
                                AiMessage.from("A lake between mountains."),
                                50,
                                "unknown",
                                Instant.parse("2026-01-07T10:00:01.123456Z")));
    }

    @Test
    void the_public_example_keeps_its_meaning_when_something_is_added() throws Exception {
        put(NODE_OBJECT, resource("node-memory-v1.json"));

        AppendResult result = log.append(NODE, batch("msg-003"));

        assertThat(result.previousHead()).isEqualTo("msg-002");
        JsonNode before = PlainProgram.tree(resource("node-memory-v1.json"));
        JsonNode after = PlainProgram.tree(text(NODE_OBJECT));
        assertThat(after.get("version")).isEqualTo(before.get("version"));
        for (int i = 0; i < 2; i++) {
            assertThat(after.get("messages").get(i))
                    .isEqualTo(before.get("messages").get(i));
        }
        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("msg-001", "msg-002", "msg-003");
    }

    @Test
    void a_plain_message_looks_as_if_a_plain_program_had_written_it() throws Exception {
        log.append(NODE, Append.under(Parent.head(), List.of(user("a"), answer("b"), system("c"))));

        for (JsonNode element : PlainProgram.tree(text(NODE_OBJECT)).get("messages")) {
            assertThat(element.fieldNames())
                    .toIterable()
                    .containsExactly(
                            "message_id", "parent_message_id", "role", "content", "files", "token_count", "created_at");
        }
        assertThat(PlainProgram.read(text(NODE_OBJECT)))
                .extracting(PlainProgram.Message::role)
                .containsExactly("user", "assistant", "system");
    }

    @Test
    void what_plain_fields_cannot_say_is_in_one_more_field() throws Exception {
        List<ChatMessage> messages = List.of(
                UserMessage.from(
                        TextContent.from("look"),
                        ImageContent.from("https://example.org/a.png"),
                        TextContent.from("well")),
                AiMessage.builder()
                        .text("thinking")
                        .thinking("deeply")
                        .toolExecutionRequests(List.of(ToolExecutionRequest.builder()
                                .id("1")
                                .name("weather")
                                .arguments("{}")
                                .build()))
                        .build(),
                ToolExecutionResultMessage.from("1", "weather", "rain"));
        log.append(
                NODE,
                Append.under(
                        Parent.head(),
                        IntStream.range(0, 3)
                                .mapToObj(i -> message("m" + i, messages.get(i), 1))
                                .toList()));

        List<PlainProgram.Message> plain = PlainProgram.read(text(NODE_OBJECT));
        assertThat(plain).extracting(PlainProgram.Message::role).containsExactly("user", "assistant", "tool");
        assertThat(plain).extracting(PlainProgram.Message::content).containsExactly("look\nwell", "thinking", "rain");
        assertThat(plain.get(0).files().get(0).get("url").textValue()).isEqualTo("https://example.org/a.png");
        assertThat(plain.get(0).files().get(0).get("transfer_method").textValue())
                .isEqualTo("remote_url");
        JsonNode element = PlainProgram.tree(text(NODE_OBJECT)).get("messages").get(1);
        assertThat(element.fieldNames())
                .toIterable()
                .containsExactly(
                        "message_id",
                        "parent_message_id",
                        "role",
                        "content",
                        "files",
                        "token_count",
                        "created_at",
                        "keepsake");
        assertThat(another().read(NODE, ReadQuery.wholeBranch()).messages())
                .extracting(LoggedMessage::message)
                .isEqualTo(messages);
    }

    @Test
    void an_edit_by_a_plain_program_counts_and_takes_our_field_with_it() {
        AiMessage call = AiMessage.from(
                "old text",
                List.of(ToolExecutionRequest.builder().name("weather").build()));
        log.append(NODE, Append.under(Parent.head(), List.of(message("a", call, 1))));
        put(NODE_OBJECT, text(NODE_OBJECT).replace("\"content\":\"old text\"", "\"content\":\"new text\""));

        assertThat(log.read(NODE, ReadQuery.newest(1)).messages().get(0).message())
                .isEqualTo(AiMessage.from("new text"));
    }

    @Test
    void token_counters_are_kept_for_what_we_wrote() throws Exception {
        log.append(
                NODE,
                Append.under(Parent.head(), List.of(counted("a", "one"), counted("b", "one"), counted("c", "two"))));
        put(NODE_OBJECT, PlainProgram.appendKeeping(text(NODE_OBJECT), PlainProgram.message("d", "c", "user", "hi")));
        log.append(NODE, Append.under(Parent.head(), List.of(counted("e", "one"))));

        assertThat(history(another(), NODE))
                .extracting(LoggedMessage::tokenCounter)
                .containsExactly("one", "one", "two", "unknown", "one");
    }

    @Test
    void a_plain_program_that_keeps_our_field_moves_the_head_and_nothing_else() throws Exception {
        log.append(NODE, batch("a", "b", "c"));
        Logs.moveHead(log, NODE, "b", null);
        Logs.describe(log, NODE, "title", Map.of("k", "v"));
        long epoch = log.read(NODE, ReadQuery.newest(0)).epoch();
        Logs.putSummary(log, NODE, new Summary("a", "sum", 1, "counter", 1, 1, null, Instant.EPOCH), epoch);
        Tail before = log.read(NODE, ReadQuery.newest(0));

        put(
                NODE_OBJECT,
                PlainProgram.appendKeeping(text(NODE_OBJECT), PlainProgram.message("x", "c", "assistant", "hi")));

        Tail after = log.read(NODE, ReadQuery.wholeBranch());
        assertThat(before.head()).isEqualTo("b");
        assertThat(after.head()).isEqualTo("x");
        assertThat(ids(after.messages())).containsExactly("a", "b", "c", "x");
        assertThat(after.epoch()).isEqualTo(epoch);
        assertThat(after.revision()).isNotEqualTo(before.revision());
        assertThat(log.read(NODE, ReadQuery.newest(1).upToSummary()).summary().text())
                .isEqualTo("sum");
        assertThat(list(log, "default", 10)).extracting(MemoryInfo::title).containsExactly("title");
    }

    @Test
    void a_plain_program_that_drops_our_fields_loses_no_message() throws Exception {
        log.append(NODE, batch("a", "b"));
        put(
                NODE_OBJECT,
                PlainProgram.appendForgetting(text(NODE_OBJECT), PlainProgram.message("x", "b", "assistant", "hi")));

        assertThat(branch(log, NODE)).containsExactly("a", "b", "x");
        assertThat(log.append(NODE, batch("c")).previousHead()).isEqualTo("x");
        assertThat(log.append(NODE, batch("a", "b")).replayed()).isTrue();
    }

    @Test
    void a_head_that_was_moved_back_is_honoured_until_another_writer_writes() {
        log.append(NODE, batch("a", "b"));
        Logs.moveHead(log, NODE, "a", null);

        assertThat(branch(another(), NODE)).containsExactly("a");
    }

    @Test
    void fields_of_others_stay_to_the_last_character() throws Exception {
        String document =
                "{\"version\":1,\"owner\" : {\"a\": [1.50, 1e3, \"\\u00e9\"]},\"messages\":[{\"message_id\":\"a\","
                        + "\"parent_message_id\":null,\"role\":\"user\",\"content\":\"hi\",\"files\":[],\"token_count\":1,"
                        + "\"created_at\":\"2026-01-07T10:00:00Z\", \"rating\" : 4.50 ,\"tags\":[ ]}],\"z\":null}";
        put(NODE_OBJECT, document);

        log.append(NODE, batch("b"));
        log.append(NODE, clear());
        log.append(NODE, batch("c"));
        Logs.moveHead(log, NODE, "a", null);

        assertThat(text(NODE_OBJECT))
                .contains("{\"a\": [1.50, 1e3, \"\\u00e9\"]}", "\"rating\" : 4.50 ,\"tags\":[ ]", "\"z\":null");
        assertThat(ids(history(another(), NODE))).containsExactly("a", "b", "c");
    }

    @Test
    void fields_that_a_newer_release_put_beside_the_messages_stay() {
        log.append(NODE, batch("a"));
        put(NODE_OBJECT, text(NODE_OBJECT).replace("\"epoch\":", "\"pinned\":[\"a\"],\"epoch\":"));

        log.append(NODE, batch("b"));

        assertThat(text(NODE_OBJECT)).contains("\"pinned\":[\"a\"]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"head\":\"gone\",", "\"head\":null,", ""})
    void a_head_that_is_not_there_gives_way_to_the_last_message(String head) {
        put(
                NODE_OBJECT,
                """
                {"version":1,"messages":[
                {"message_id":"a","parent_message_id":null,"role":"user","content":"a"},
                {"message_id":"b","parent_message_id":"a","role":"assistant","content":"b"}],
                "keepsake":{%s"last":"b","epoch":3,"title":"title"}}
                """
                        .formatted(head));

        Tail tail = log.read(NODE, ReadQuery.wholeBranch());
        assertThat(tail.head()).isEqualTo("b");
        assertThat(tail.epoch()).isEqualTo(3);
        assertThat(ids(tail.messages())).containsExactly("a", "b");
        assertThat(log.append(NODE, batch("c")).previousHead()).isEqualTo("b");
        assertThat(branch(another(), NODE)).containsExactly("a", "b", "c");
        assertThat(list(another(), "default", 1)).extracting(MemoryInfo::title).containsExactly("title");
    }

    @Test
    void parents_that_lead_forward_or_round_in_a_circle_end_the_branch() throws Exception {
        put(
                NODE_OBJECT,
                """
                {"version":1,"messages":[
                {"message_id":"a","parent_message_id":"c","role":"user","content":"a"},
                {"message_id":"b","parent_message_id":"a","role":"assistant","content":"b"},
                {"message_id":"c","parent_message_id":"b","role":"user","content":"c"},
                {"message_id":"d","parent_message_id":"d","role":"user","content":"d"}],
                "keepsake":{"last":"d","head":"c","views":[{"anchor":"b","runs":[]},
                {"anchor":"d","runs":[{"after":"c","last":"a"}]}]}}
                """);

        Tail tail = log.read(NODE, ReadQuery.wholeBranch());
        assertThat(ids(tail.messages())).containsExactly("a", "b", "c");
        assertThat(tail.missingParent()).isEqualTo("c");
        assertThat(ids(history(log, NODE))).containsExactly("a", "b", "c", "d");
        assertThat(leaves(log.branches(NODE))).containsExactly("d", "c");
        // A change searches along parents and runs for the messages that a plain reader must not see.
        Logs.moveHead(log, NODE, "d", null);
        assertThat(branch(another(), NODE)).containsExactly("d");
        Logs.moveHead(log, NODE, "c", null);
        assertThat(text(NODE_OBJECT)).doesNotContain("\"message_id\":\"a\"").contains("\"message_id\":\"c\"");
        assertThat(ids(history(another(), NODE))).containsExactly("a", "b", "c", "d");
    }

    @Test
    void parents_that_are_not_there_are_reported() throws Exception {
        put(
                NODE_OBJECT,
                PlainProgram.appendForgetting(
                        "{\"version\":1,\"messages\":[]}",
                        PlainProgram.message("a", "gone", "user", "hi"),
                        PlainProgram.message("b", "a", "assistant", "ho")));

        Tail tail = log.read(NODE, ReadQuery.wholeBranch());

        assertThat(ids(tail.messages())).containsExactly("a", "b");
        assertThat(tail.missingParent()).isEqualTo("gone");
    }

    @Test
    void what_a_plain_program_may_leave_out_is_made_up_for() {
        put(
                NODE_OBJECT,
                "\ufeff{\"messages\":[{\"message_id\":\"a\",\"role\":\"user\",\"content\":\"twelve chars\"},"
                        + "{\"message_id\":\"b\",\"parent_message_id\":\"00000000-0000-0000-0000-000000000000\","
                        + "\"role\":\"assistant\",\"content\":null,\"files\":null,\"token_count\":null,\"created_at\":1767780000.25},"
                        + "{\"message_id\":\"c\",\"parent_message_id\":\"\",\"role\":\"developer\",\"content\":\"x\","
                        + "\"created_at\":\"2026-01-07T12:00:00+02:00\"},"
                        + "{\"message_id\":\"d\",\"role\":\"user\",\"content\":\"\",\"created_at\":\"2026-01-07T10:00:00\"}],\"version\":1}");

        List<LoggedMessage> all = history(log, NODE);
        Instant ten = Instant.parse("2026-01-07T10:00:00Z");
        assertThat(all).extracting(LoggedMessage::parentId).containsExactly(null, "a", null, null);
        assertThat(all)
                .extracting(LoggedMessage::createdAt)
                .containsExactly(Instant.EPOCH, ten.plusMillis(250), ten, ten);
        assertThat(all.get(0).tokens()).as("an estimate").isEqualTo(7);
        assertThat(all).extracting(LoggedMessage::tokenCounter).containsOnly("estimate");
        assertThat(all.get(1).message()).isEqualTo(AiMessage.from(""));
        assertThat(all.get(2).message()).isInstanceOf(UnknownMessage.class);
        assertThat(all.get(3).message()).isEqualTo(UserMessage.from(TextContent.from("")));
    }

    @Test
    void the_shape_with_turns_is_read_and_becomes_messages_with_the_next_change() throws Exception {
        put(NODE_OBJECT, resource("turns-v1.json"));

        assertThat(branch(log, NODE)).containsExactly("run-1#user", "run-1", "run-2#user", "run-2");
        assertThat(text(NODE_OBJECT)).as("a read changes nothing").isEqualTo(resource("turns-v1.json"));
        List<LoggedMessage> before = history(log, NODE);
        log.append(NODE, batch("next"));

        assertThat(text(NODE_OBJECT)).doesNotContain("\"turns\"");
        assertThat(PlainProgram.thread(text(NODE_OBJECT)))
                .containsExactly("run-1#user", "run-1", "run-2#user", "run-2", "next");
        assertThat(PlainProgram.read(text(NODE_OBJECT))
                        .get(2)
                        .files()
                        .get(0)
                        .get("url")
                        .textValue())
                .isEqualTo("https://example.org/a.png");
        assertThat(history(another(), NODE)).startsWith(before.toArray(LoggedMessage[]::new));
    }

    @Test
    void clearing_empties_the_document_and_keeps_what_was_there_beside_it() throws Exception {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, clear());

        assertThat(PlainProgram.read(text(NODE_OBJECT))).isEmpty();
        assertThat(text(NODE_OBJECT)).doesNotContain(SECRET);
        assertThat(objects()).hasSize(2).contains(NODE_OBJECT);
        assertThat(ViewReader.read(log, NODE, ReadQuery.wholeBranch()).messages())
                .isEmpty();
        assertThat(ids(history(another(), NODE))).containsExactly("a", "b");
        assertThat(leaves(another().branches(NODE))).containsExactly("b");
        String beside = objects().stream()
                .filter(name -> !name.equals(NODE_OBJECT))
                .findFirst()
                .orElseThrow();
        assertThat(PlainProgram.thread(text(beside)))
                .as("a document like any other")
                .containsExactly("a", "b");
    }

    @Test
    void after_clearing_a_plain_program_sees_a_new_thread() throws Exception {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, clear());
        log.append(NODE, batch("c", "d"));

        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("c", "d");
        assertThat(PlainProgram.read(text(NODE_OBJECT)).get(0).parent()).isNull();
        assertThat(branch(another(), NODE)).containsExactly("a", "b", "c", "d");
        assertThat(ids(ViewReader.read(another(), NODE, ReadQuery.wholeBranch()).messages()))
                .containsExactly("c", "d");
    }

    @Test
    void what_is_shown_again_goes_back_into_the_document() throws Exception {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, clear());
        log.append(NODE, batch("c"));
        Logs.moveHead(log, NODE, "a", null);

        assertThat(PlainProgram.read(text(NODE_OBJECT)))
                .extracting(PlainProgram.Message::id)
                .containsExactly("a", "b", "c");
        assertThat(PlainProgram.read(text(NODE_OBJECT)).get(2).parent()).isEqualTo("b");
        assertThat(objects()).containsExactly(NODE_OBJECT);
        Logs.moveHead(log, NODE, "c", null);
        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("c");
        assertThat(branch(another(), NODE)).containsExactly("a", "b", "c");
    }

    @Test
    void a_view_of_cleared_messages_shows_them_to_all() throws Exception {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, clear());
        log.append(NODE, Append.viewOnly(View.of(null, List.of(new View.Run(null, "a")))));

        assertThat(PlainProgram.read(text(NODE_OBJECT))).hasSize(2);
        assertThat(objects()).containsExactly(NODE_OBJECT);
    }

    @Test
    void a_document_from_before_views_stood_behind_summaries_is_read() {
        log.append(NODE, batch("a", "b"));
        log.append(
                NODE,
                Append.viewOnly(View.of(null, List.of(new View.Run(null, "a"))).behindSummary("a")));
        String now = text(NODE_OBJECT);
        assertThat(now).contains(",\"summary\":\"a\"").doesNotContain("sequence");
        put(NODE_OBJECT, now.replace(",\"summary\":\"a\"", ""));

        View view = another().read(NODE, ReadQuery.newest(0)).view();
        assertThat(view.runs()).containsExactly(new View.Run(null, "a"));
        assertThat(view.summary()).isNull();
    }

    @Test
    void a_view_whose_summarized_message_another_program_removed_has_no_summary() {
        put(
                NODE_OBJECT,
                """
                {"version":1,"messages":[{"message_id":"b","parent_message_id":null,"role":"user","content":"b","files":[]}],
                "keepsake":{"last":"b","head":"b","views":[{"anchor":"b","runs":[],"cleared":[],"summary":"a"}]}}
                """);

        assertThat(log.read(NODE, ReadQuery.newest(0)).view().summary()).isNull();
    }

    @Test
    void messages_that_a_summary_replaces_are_not_hidden_from_a_plain_reader() throws Exception {
        log.append(NODE, batch("a", "b"));
        Logs.putSummary(log, NODE, new Summary("b", "text", 1, "c", 2, 2, null, Instant.EPOCH), 1);
        log.append(NODE, Append.viewOnly(View.of(null, List.of()).behindSummary("b")));

        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("a", "b");
        assertThat(objects()).containsExactly(NODE_OBJECT);
        log.append(NODE, clear());
        assertThat(PlainProgram.read(text(NODE_OBJECT))).isEmpty();
    }

    @Test
    void what_is_kept_beside_messages_is_in_our_own_fields_and_outlives_other_programs() throws Exception {
        log.append(NODE, batch("a"));
        log.append(
                NODE,
                Append.underHead(answer("b")
                        .withSeen(new Seen(List.of(new Seen.Range(1, 1)), List.of(), 0, false))
                        .withUsage(new Usage(7, 8, 9))));
        log.append(NODE, batch("c").onBranch("tab"));
        String before = text(NODE_OBJECT);
        Logs.setOutcome(log, NODE, "a", Outcome.failed("java.io.IOException"), null);

        String now = text(NODE_OBJECT);
        assertThat(before).contains("\"keepsake\":{\"made\":\"s1 u7,8,9\"}").doesNotContain("outcome");
        assertThat(now)
                .contains("\"keepsake\":{\"outcome\":\"failed java.io.IOException\"}")
                .contains("\"references\":{\"tab\":\"c\"}");
        assertThat(PlainProgram.read(now)).isEqualTo(PlainProgram.read(before));
        Logs.setOutcome(log, NODE, "a", null, null);
        assertThat(text(NODE_OBJECT)).doesNotContain("outcome");
        Logs.setOutcome(log, NODE, "a", Outcome.failed("x"), null);
        // Another program appends a message and keeps the fields that it does not know.
        put(
                NODE_OBJECT,
                text(NODE_OBJECT)
                        .replace(
                                "\n],",
                                ",\n{\"message_id\":\"d\",\"parent_message_id\":\"b\",\"role\":\"user\",\"content\":\"d\",\"files\":[]}\n],"));

        MessageLog other = another();
        assertThat(branch(other, NODE)).containsExactly("a", "b", "d");
        assertThat(Logs.find(other, NODE, List.of("a")).get(0).outcome()).isEqualTo(Outcome.failed("x"));
        assertThat(Logs.made(other, NODE, "b").orElseThrow().usage()).isEqualTo(new Usage(7, 8, 9));
        assertThat(ids(other.read(NODE, ReadQuery.wholeBranch().onBranch("tab")).messages()))
                .containsExactly("a", "b", "c");
    }

    @Test
    void an_outcome_of_a_cleared_message_leaves_one_object_beside_the_document() throws Exception {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, clear());
        log.append(NODE, batch("c"));
        Logs.setOutcome(log, NODE, "a", Outcome.failed("x"), null);
        Logs.setOutcome(log, NODE, "c", Outcome.failed("y"), null);

        assertThat(objects()).hasSize(2);
        assertThat(another().history(NODE, HistoryQuery.oldest(9)).messages())
                .extracting(LoggedMessage::outcome)
                .containsExactly(Outcome.failed("x"), null, Outcome.failed("y"));
        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("c");
    }

    @Test
    void clearing_twice_leaves_one_object_beside_the_document() throws Exception {
        for (String id : List.of("a", "b", "c")) {
            log.append(NODE, batch(id));
            log.append(NODE, clear());
        }

        assertThat(objects()).hasSize(2);
        assertThat(branch(another(), NODE)).containsExactly("a", "b", "c");
    }

    @Test
    void a_plain_program_that_writes_after_a_clear_brings_nothing_back_and_loses_nothing() throws Exception {
        for (boolean keeping : new boolean[] {true, false}) {
            log.erase(NODE);
            log.append(NODE, batch("a", "b"));
            log.append(NODE, clear());
            PlainProgram.Message added = PlainProgram.message("x", null, "user", "hi");
            put(
                    NODE_OBJECT,
                    keeping
                            ? PlainProgram.appendKeeping(text(NODE_OBJECT), added)
                            : PlainProgram.appendForgetting(text(NODE_OBJECT), added));

            assertThat(branch(log, NODE)).containsExactly("x");
            log.append(NODE, batch("c"));
            assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("x", "c");
            assertThat(ids(history(another(), NODE))).containsExactly("a", "b", "x", "c");
        }
    }

    @Test
    void a_document_from_before_the_clear_can_be_put_back() throws Exception {
        log.append(NODE, batch("a", "b"));
        String backup = PlainProgram.appendForgetting(text(NODE_OBJECT));
        log.append(NODE, clear());
        put(NODE_OBJECT, backup);

        assertThat(branch(another(), NODE)).containsExactly("a", "b");
        log.append(NODE, batch("c"));
        assertThat(branch(another(), NODE)).containsExactly("a", "b", "c");
    }

    @Test
    void erasing_leaves_no_text_anywhere() {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, clear());
        log.append(NODE, batch("c"));
        Logs.describe(log, NODE, SECRET, Map.of());
        log.erase(NODE);

        assertThat(objects()).isEmpty();
        assertThat(allObjects()).hasSize(1).allSatisfy(name -> assertThat(text(name))
                .doesNotContain(SECRET, "\"a\"", "\"c\""));
    }

    @Test
    void a_change_that_an_erasure_overtakes_leaves_no_text_either() {
        log.append(NODE, batch("a", "b"));
        another().erase(NODE);
        assertThatThrownBy(() -> log.append(NODE, clear())).isInstanceOf(InvalidInputException.class);
        assertThat(objects()).isEmpty();

        log.append(NODE, batch("c", "d"));
        log.append(NODE, clear());
        assertThat(objects()).as("what a clear puts beside the document stays").hasSize(2);
        another().append(NODE, batch("e"));
        log.append(NODE, clear());
        assertThat(objects()).as("nothing is left of a race").hasSize(2);
        assertThat(branch(another(), NODE)).containsExactly("c", "d", "e");
    }

    @Test
    void what_begins_while_an_erasure_goes_on_stays() {
        log.append(NODE, batch("a"));
        log.append(NODE, clear());
        MessageLog other = another();
        once("PUT", false, () -> {
            other.append(NODE, batch("b"));
            other.append(NODE, clear());
        });

        log.erase(NODE);

        assertThat(objects()).hasSize(2);
        assertThat(ids(history(another(), NODE))).containsExactly("b");
    }

    @Test
    void large_documents_are_compressed_and_small_ones_are_not() throws Exception {
        log.append(NODE, batch("a"));
        assertThat(bytes(NODE_OBJECT)[0]).isEqualTo((byte) '{');

        log.append(NODE, Append.under(Parent.head(), List.of(message("b", UserMessage.from("x".repeat(70_000)), 1))));

        byte[] stored = bytes(NODE_OBJECT);
        assertThat(stored[0]).isEqualTo((byte) 0x1f);
        assertThat(stored.length).isLessThan(10_000);
        assertThat(client.headObject(request -> request.bucket(bucket).key(NODE_OBJECT))
                        .contentEncoding())
                .isEqualTo("gzip");
        assertThat(branch(another(), NODE)).containsExactly("a", "b");
    }

    @Test
    void documents_that_others_compressed_are_read() throws Exception {
        put(NODE_OBJECT, gzip(resource("node-memory-v1.json").getBytes(java.nio.charset.StandardCharsets.UTF_8)));

        assertThat(branch(log, NODE)).containsExactly("msg-001", "msg-002");
    }

    @Test
    void nothing_is_written_that_would_be_too_large_to_be_read() {
        var small = another(builder -> builder.maxObjectBytes(4_000));
        small.append(NODE, batch("a"));
        List<NewMessage> large = List.of(message("b", UserMessage.from("x".repeat(5_000)), 1));

        assertThatThrownBy(() -> small.append(NODE, Append.under(Parent.head(), large)))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining(NODE.canonical());
        assertThat(branch(small, NODE)).containsExactly("a");
    }

    @Test
    void every_kind_of_message_survives_beside_text_in_other_alphabets() {
        List<ChatMessage> messages = Messages.sample(Messages.anyMessage(), 100, 7);
        List<NewMessage> batch = IntStream.range(0, messages.size())
                .mapToObj(i -> message("é" + i, messages.get(i), 1))
                .toList();
        log.append(NODE, Append.under(Parent.head(), batch));
        log.append(NODE, clear());
        Logs.moveHead(log, NODE, "é0", null);

        assertThat(history(another(), NODE)).extracting(LoggedMessage::message).isEqualTo(messages);
    }

    @Test
    void documents_that_others_made_are_listed_and_stay_in_their_place() throws Exception {
        for (int day = 1; day <= 9; day++) {
            String id = "c" + (10 - day);
            put(
                    "conversation_memory/" + id + ".json",
                    PlainProgram.appendForgetting(
                            "{\"version\":1,\"messages\":[]}",
                            new PlainProgram.Message(
                                    "m",
                                    null,
                                    "user",
                                    "hi",
                                    PlainProgram.tree("[]"),
                                    2,
                                    "2026-01-0" + day + "T00:00:00Z")));
        }
        put("conversation_memory/notes.txt", "not ours");
        put("conversation_memory/not decoded.json", "not ours");
        put("node_memory/too/short.json", "not ours");
        var first = log.list("default", ListQuery.first(5));
        log.append(first.memories().get(2).key(), batch("x"));

        var rest = log.list("default", first.next().orElseThrow());
        assertThat(first.memories())
                .extracting(i -> i.key().canonical())
                .containsExactly(
                        "conversation/default/c1",
                        "conversation/default/c2",
                        "conversation/default/c3",
                        "conversation/default/c4",
                        "conversation/default/c5");
        assertThat(rest.memories()).extracting(i -> i.key().canonical()).startsWith("conversation/default/c6");
        assertThat(list(log, "default", 3)).hasSize(9);
        assertThat(first.memories().get(0).createdAt()).isEqualTo(Instant.parse("2026-01-09T00:00:00Z"));
    }

    private static NewMessage counted(String id, String counter) {
        return new NewMessage(id, UserMessage.from("text"), 5, counter, null);
    }

    private static Append clear() {
        return Append.viewOnly(View.of(null, List.of()));
    }
}
