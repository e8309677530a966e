package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.system;
import static io.github.keepsake4j.log.LogTesting.user;
import static io.github.keepsake4j.log.LogTesting.users;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Logs;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Branches with names, which their own appends move. */
interface ReferenceContract extends LogUnderTest {

    String TAB = "tab \u00e9\ud83d\ude00/2";

    private List<String> tab(MessageLog log, String name) {
        return ids(log.read(KEY, ReadQuery.wholeBranch().onBranch(name)).messages());
    }

    private AppendResult onTab(String... ids) {
        return log().append(KEY, batch(ids).onBranch(TAB));
    }

    @Test
    default void a_named_branch_begins_at_the_head_and_does_not_move_it() throws Exception {
        log().append(KEY, batch("a", "b"));
        assertThat(tab(log(), TAB)).containsExactly("a", "b");

        AppendResult first = onTab("c", "d");
        AppendResult onHead = log().append(KEY, batch("e"));
        AppendResult second = onTab("f");

        assertThat(first.previousHead()).isEqualTo("b");
        assertThat(first.head()).isEqualTo("d");
        assertThat(first.lastSequence()).isEqualTo(4);
        assertThat(onHead.previousHead()).isEqualTo("b");
        assertThat(onHead.head()).isEqualTo("e");
        assertThat(second.previousHead()).isEqualTo("d");
        assertThat(second.position()).isEqualTo(new Position(1, 1, "f"));
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(tab(log, TAB)).containsExactly("a", "b", "c", "d", "f");
            assertThat(branch(log, KEY)).containsExactly("a", "b", "e");
            assertThat(log.read(KEY, ReadQuery.newest(1).onBranch(TAB)).position())
                    .isEqualTo(new Position(1, 1, "f"));
            assertThat(log.read(KEY, ReadQuery.newest(1)).position()).isEqualTo(new Position(1, 1, "e"));
            assertThat(tab(log, "tab 3")).containsExactly("a", "b", "e");
            assertThat(log.branches(KEY))
                    .extracting(Branch::leafId, Branch::names, Branch::current)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple("f", List.of(TAB), false),
                            org.assertj.core.groups.Tuple.tuple("e", List.of(), true));
            assertThat(log.check(KEY)).isEmpty();
        }
        assertThat(log().repair(KEY).droppedReferences()).isZero();
        assertThat(tab(log(), TAB)).endsWith("f");
    }

    @Test
    default void details_tell_what_is_beside_the_messages() throws Exception {
        assertThat(Logs.details(log(), KEY)).isEqualTo(MemoryDetails.NONE);
        log().append(KEY, batch("a", "b", "c"));
        onTab("d");
        Logs.moveBranch(log(), KEY, "inner", "b", null);
        Logs.describe(log(), KEY, "Bees", Map.of("project", "hive"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new View.Run("a", "b")))));
        Logs.moveHead(log(), KEY, "a", null);
        log().append(KEY, batch("e").withView(View.of("a", List.of()).behindSummary(null)));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new View.Run(null, "a")))));

        for (MessageLog log : List.of(log(), reopen())) {
            MemoryDetails details = Logs.details(log, KEY);
            assertThat(details.branches()).containsExactlyInAnyOrderEntriesOf(Map.of(TAB, "d", "inner", "b"));
            assertThat(details.views())
                    .extracting(View::anchor, View::runs)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple("a", List.of()),
                            org.assertj.core.groups.Tuple.tuple("c", List.of(new View.Run("a", "b"))),
                            org.assertj.core.groups.Tuple.tuple("e", List.of(new View.Run(null, "a"))));
            assertThat(details.info())
                    .isEqualTo(log.list(KEY.tenant(), ListQuery.first(10))
                            .memories()
                            .get(0));
            assertThat(details.info()).isNotNull();
            assertThat(details.info().title()).isEqualTo("Bees");
        }
        log().erase(KEY);
        assertThat(Logs.details(log(), KEY)).isEqualTo(MemoryDetails.NONE);
    }

    @Test
    default void a_named_branch_may_begin_an_empty_memory() {
        assertThat(log().read(KEY, ReadQuery.wholeBranch().onBranch(TAB)).position())
                .isEqualTo(Position.NONE);
        AppendResult first = onTab("a");
        assertThat(first.previousHead()).isNull();
        assertThat(first.head()).isEqualTo("a");
        assertThat(log().read(KEY, ReadQuery.wholeBranch()).position()).isEqualTo(new Position(1, 1, null));
        assertThat(branch(log(), KEY)).isEmpty();
        assertThat(tab(log(), TAB)).containsExactly("a");

        AppendResult onHead = log().append(KEY, batch("b"));

        assertThat(onHead.previousHead()).isNull();
        assertThat(branch(log(), KEY)).containsExactly("b");
        assertThat(onTab("c").previousHead()).isEqualTo("a");
        assertThat(log().check(KEY)).isEmpty();
    }

    @Test
    default void an_expected_head_means_the_branch() {
        log().append(KEY, batch("a", "b"));
        Position before = log().read(KEY, ReadQuery.newest(0).onBranch(TAB)).position();
        onTab("c");
        log().append(KEY, batch("d"));

        assertThatThrownBy(() -> log().append(KEY, batch("x").at(before).onBranch(TAB)))
                .isInstanceOf(HeadConflictException.class)
                .hasMessageContaining("c");
        AppendResult result =
                log().append(KEY, batch("e").at(new Position(1, 1, "c")).onBranch(TAB));

        assertThat(result.head()).isEqualTo("e");
        assertThat(log().append(KEY, batch("f").expectingHead("d")).head()).isEqualTo("f");
    }

    @Test
    default void a_replay_tells_the_branch_s_position() {
        log().append(KEY, batch("a"));
        onTab("b");
        onTab("c");
        AppendResult replay = onTab("b");
        assertThat(replay.replayed()).isTrue();
        assertThat(replay.head()).isEqualTo("c");
        assertThat(tab(log(), TAB)).containsExactly("a", "b", "c");
    }

    @Test
    default void an_append_elsewhere_moves_the_branch_there_and_raises_the_revision() {
        log().append(KEY, batch("a", "b"));
        onTab("c");
        AppendResult moved =
                log().append(KEY, Append.under(Parent.of("a"), users("d")).onBranch(TAB));
        assertThat(moved.previousHead()).isEqualTo("c");
        assertThat(moved.revision()).isGreaterThan(1);
        assertThat(tab(log(), TAB)).containsExactly("a", "d");
        log().append(KEY, Append.under(Parent.root(), users("e")).onBranch(TAB));
        assertThat(tab(log(), TAB)).containsExactly("e");
        assertThat(branch(log(), KEY)).containsExactly("a", "b");
        assertThatThrownBy(() -> log().append(
                                KEY,
                                Append.under(Parent.of("nowhere"), users("f")).onBranch(TAB)))
                .isInstanceOf(UnknownParentException.class);
        assertThat(log().check(KEY)).isEmpty();
    }

    @Test
    default void a_head_that_moves_leaves_the_branch() {
        log().append(KEY, batch("a", "b"));
        onTab("c");
        Logs.moveHead(log(), KEY, "a", null);
        log().append(KEY, batch("d"));
        assertThat(onTab("e").previousHead()).isEqualTo("c");
        assertThat(tab(log(), TAB)).containsExactly("a", "b", "c", "e");
        assertThat(branch(log(), KEY)).containsExactly("a", "d");
        Logs.moveHead(log(), KEY, "e", null);
        log().append(KEY, batch("f"));
        assertThat(tab(log(), TAB)).containsExactly("a", "b", "c", "e");
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c", "e", "f");
        assertThat(log().check(KEY)).isEmpty();
    }

    @Test
    default void view_summary_system_and_bounds_are_the_branch_s() throws Exception {
        log().append(KEY, Append.underHead(system("s"), user("a"), answer("b")));
        log().append(
                        KEY,
                        Append.underHead(system("t"), user("c"), answer("d"), user("e"))
                                .onBranch(TAB));
        log().append(KEY, Append.underHead(user("f"), answer("g")));
        Logs.putSummary(log(), KEY, new Summary("c", "text", 1, "test-counter", 1, 1, null, Instant.EPOCH), 1);
        log().append(
                        KEY,
                        Append.viewOnly(View.of(null, List.of(new View.Run("t", "d"))))
                                .onBranch(TAB));

        for (MessageLog log : List.of(log(), reopen())) {
            Tail tab = log.read(
                    KEY, ReadQuery.newest(1).onBranch(TAB).upToSummary().alsoOldest(2));
            assertThat(ids(tab.messages())).containsExactly("e");
            assertThat(tab.system().id()).isEqualTo("t");
            assertThat(tab.user().id()).isEqualTo("e");
            assertThat(tab.view().anchor()).isEqualTo("e");
            assertThat(tab.summary().coversUpTo()).isEqualTo("c");
            assertThat(ids(tab.oldest())).containsExactly("s", "a");
            assertThat(tab.complete()).isFalse();
            Tail head = log.read(KEY, ReadQuery.newest(2).upToSummary());
            assertThat(ids(head.messages())).containsExactly("f", "g");
            assertThat(head.system().id()).isEqualTo("s");
            assertThat(head.view()).isNull();
            assertThat(head.summary()).isNull();
            Tail older = log.read(KEY, ReadQuery.wholeBranch().onBranch(TAB).endingIn("a"));
            assertThat(ids(older.messages())).containsExactly("s", "a");
            assertThat(older.head()).isEqualTo("e");
        }
        assertThat(log().check(KEY)).isEmpty();
    }

    @Test
    default void an_erasure_deletes_the_names() {
        log().append(KEY, batch("a"));
        onTab("b");
        long epoch = log().erase(KEY);
        assertThat(tab(log(), TAB)).isEmpty();
        log().append(KEY, batch("c").inEpoch(epoch));
        assertThat(tab(log(), TAB)).containsExactly("c");
        assertThatThrownBy(() -> log().append(KEY, batch("x").inEpoch(epoch - 1).onBranch(TAB)))
                .isInstanceOf(ErasedException.class);
    }

    @Test
    default void a_named_branch_is_moved_without_an_append() throws Exception {
        assertThat(Logs.branchEnd(log(), KEY, TAB)).isEmpty();
        assertThatThrownBy(() -> Logs.moveBranch(log(), KEY, TAB, "a", null))
                .isInstanceOf(UnknownMessageException.class);
        log().append(KEY, batch("a", "b", "c"));
        assertThat(Logs.branchEnd(log(), KEY, TAB)).isEmpty();

        Logs.moveBranch(log(), KEY, TAB, "b", null);
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.branchEnd(log, KEY, TAB)).contains("b");
            assertThat(Logs.branchEnd(log, KEY, "tab 3")).isEmpty();
            assertThat(tab(log, TAB)).containsExactly("a", "b");
            assertThat(log.read(KEY, ReadQuery.newest(1)).position()).isEqualTo(new Position(1, 1, "c"));
            assertThat(log.check(KEY)).isEmpty();
        }
        assertThat(onTab("d").previousHead()).isEqualTo("b");
        Logs.moveBranch(log(), KEY, TAB, "a", 1L);
        assertThat(Logs.branchEnd(reopen(), KEY, TAB)).contains("a");
        Logs.moveBranch(log(), KEY, TAB, "c", 1L);
        assertThat(tab(log(), TAB)).containsExactly("a", "b", "c");

        assertThatThrownBy(() -> Logs.moveBranch(log(), KEY, TAB, "nowhere", null))
                .isInstanceOf(UnknownMessageException.class);
        assertThatThrownBy(() -> Logs.moveBranch(log(), KEY, "", "a", null)).isInstanceOf(InvalidInputException.class);
        log().erase(KEY);
        assertThat(Logs.branchEnd(log(), KEY, TAB)).isEmpty();
        log().append(KEY, batch("a"));
        assertThatThrownBy(() -> Logs.moveBranch(log(), KEY, TAB, "a", 1L)).isInstanceOf(ErasedException.class);
        assertThat(Logs.branchEnd(reopen(), KEY, TAB)).isEmpty();
        assertThat(log().repair(KEY).droppedReferences()).isZero();
    }

    @Test
    default void a_name_is_checked() {
        for (String name : List.of("", "\0", "x".repeat(513))) {
            assertThatThrownBy(() -> batch("a").onBranch(name)).isInstanceOf(InvalidInputException.class);
            assertThatThrownBy(() -> ReadQuery.newest(1).onBranch(name)).isInstanceOf(InvalidInputException.class);
        }
        assertThat(batch("a").onBranch(TAB).onBranch(null)).isEqualTo(batch("a"));
    }

    @Test
    default void tabs_at_once_do_not_move_each_other() throws Exception {
        log().append(KEY, batch("root"));
        int tabs = 3;
        int turns = 12;
        CountDownLatch start = new CountDownLatch(1);
        ExecutorService threads = Executors.newFixedThreadPool(tabs);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int tab = 0; tab < tabs; tab++) {
                String name = tab == 0 ? null : "tab-" + tab;
                String prefix = tab + "-";
                done.add(threads.submit(() -> {
                    start.await();
                    String previous = null;
                    for (int turn = 0; turn < turns; turn++) {
                        AppendResult result = log().append(
                                        KEY,
                                        Append.underHead(user(prefix + turn + "u"), answer(prefix + turn + "a"))
                                                .onBranch(name));
                        if (previous != null) {
                            assertThat(result.previousHead()).isEqualTo(previous);
                        }
                        previous = result.head();
                    }
                    return null;
                }));
            }
            start.countDown();
            for (Future<?> each : done) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        for (int tab = 0; tab < tabs; tab++) {
            String name = tab == 0 ? null : "tab-" + tab;
            List<String> shown = tab(log(), name);
            String prefix = tab + "-";
            assertThat(shown.stream().filter(id -> id.startsWith(prefix))).hasSize(2 * turns);
            assertThat(shown.subList(shown.size() - 2 * turns + 2, shown.size()))
                    .allMatch(id -> id.startsWith(prefix));
        }
        assertThat(log().check(KEY)).isEmpty();
    }

    @Test
    default void random_appends_to_head_and_branches_agree_with_a_model() throws Exception {
        Random random = new Random(42);
        TreeMap<String, List<String>> model = new TreeMap<>();
        model.put("", List.of());
        for (int i = 0; i < 60; i++) {
            String name = List.of("", "x", "y").get(random.nextInt(3));
            List<String> before = model.getOrDefault(name, model.get(""));
            String id = "m" + i;
            int cut = before.isEmpty() || random.nextInt(4) > 0 ? before.size() : 1 + random.nextInt(before.size());
            Parent parent = cut == before.size() ? Parent.head() : Parent.of(before.get(cut - 1));
            AppendResult result =
                    log().append(KEY, Append.under(parent, users(id, id + "'")).onBranch(name.isEmpty() ? null : name));
            assertThat(result.previousHead()).isEqualTo(before.isEmpty() ? null : before.get(before.size() - 1));
            List<String> after = new ArrayList<>(before.subList(0, cut));
            after.addAll(List.of(id, id + "'"));
            model.put(name, after);
        }
        for (MessageLog log : List.of(log(), reopen())) {
            for (String name : List.of("", "x", "y")) {
                assertThat(tab(log, name.isEmpty() ? null : name)).isEqualTo(model.get(name));
            }
            assertThat(log.check(KEY)).isEmpty();
        }
    }
}
