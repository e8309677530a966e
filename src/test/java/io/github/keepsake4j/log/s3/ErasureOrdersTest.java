package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.s3.EveryOrder.End;
import io.github.keepsake4j.log.s3.EveryOrder.Fault;
import io.github.keepsake4j.log.s3.EveryOrder.Program;
import io.github.keepsake4j.log.s3.EveryOrder.Tried;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Tell;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every order of the requests of a writer that read nothing, of a creator and of erasers leaves no id and no text. */
@Timeout(600)
class ErasureOrdersTest {

    private static final ConversationKey ALICE = ConversationKey.of("acme-tenant", "alice@example.org");
    private static final List<Fault> ALL = List.of(
            Fault.ANSWER_LOST_CLIENT_REPEATS, Fault.ANSWER_LOST_PROGRAM_FAILS, Fault.REQUEST_LOST_PROGRAM_FAILS);

    private static Program late(boolean bound) {
        return log -> {
            long before = log.read(ALICE, ReadQuery.newest(1)).epoch();
            Append write = Append.under(Parent.head(), List.of(message("late", UserMessage.from(SECRET + " late"), 1)));
            try {
                EveryOrder.until(l -> l.append(ALICE, bound ? write.inEpoch(before) : write), log);
                return "stayed";
            } catch (ErasedException e) {
                return "refused";
            }
        };
    }

    private static Program creator(int number) {
        String id = SECRET + " created " + number;
        UserMessage message =
                UserMessage.from(TextContent.from(id), ImageContent.from("c2VjcmV0".repeat(40), "image/png"));
        Append append = Append.under(Parent.head(), List.of(message(id, message, 1)));
        return log -> {
            EveryOrder.until(l -> l.append(ALICE, append), log);
            return "" + EveryOrder.until(l -> l.erase(ALICE), log);
        };
    }

    private static Tried tried(boolean bound, int creators, boolean moving, int faults, int some) {
        List<Program> programs = new ArrayList<>();
        programs.add(late(bound));
        for (int i = 1; i <= creators; i++) {
            programs.add(creator(i));
        }
        EveryOrder orders =
                new EveryOrder(programs, ALL, builder -> builder.moveContentsAbove(moving ? 128 : Long.MAX_VALUE));
        List<Integer> headStarts = new ArrayList<>(Collections.nCopies(programs.size(), 0));
        headStarts.set(0, 2);
        return some == 0
                ? orders.all(headStarts, faults, end -> check(orders, end, bound))
                : orders.some(headStarts, faults, some, new java.util.Random(), end -> check(orders, end, bound));
    }

    private static void check(EveryOrder orders, End end, boolean bound) {
        SortedMap<String, String> objects = new TreeMap<>(end.objects());
        long epoch =
                end.results().stream().skip(1).mapToLong(Long::parseLong).max().orElseThrow();
        boolean stays = !bound && end.results().get(0).equals("stayed");
        List<String> there = orders.alone(objects, log -> {
            assertThat(log.read(ALICE, ReadQuery.newest(0)).epoch()).isEqualTo(epoch);
            return ids(history(log, ALICE));
        });
        assertThat(there).isSubsetOf(stays ? List.of("late") : List.of());
        if (!there.isEmpty()) {
            orders.alone(objects, log -> log.erase(ALICE));
        }
        assertThat(objects.keySet() + " " + objects.values())
                .doesNotContainIgnoringCase("alice", "example.org", "acme-tenant", SECRET, "c2VjcmV0");
    }

    private static void go(int creators, int faults, boolean bound, boolean moving, int some) {
        long t = System.nanoTime();
        String what = "creators " + creators + " faults " + faults + " bound " + bound + " moving " + moving + " some "
                + some + " ";
        try {
            Tell.line((what + tried(bound, creators, moving, faults, some) + " " + (System.nanoTime() - t) / 1000000
                            + " ms")
                    .replace("%", "%%"));
        } catch (AssertionError e) {
            Tell.line((what + "FAILED " + e.getMessage()).replace("%", "%%"));
        }
    }

    @Test
    void try_() {
        String[] p = System.getProperty("go").split(",");
        for (String one : p) {
            String[] a = one.split(":");
            go(
                    Integer.parseInt(a[0]),
                    Integer.parseInt(a[1]),
                    a[2].equals("b"),
                    a[3].equals("m"),
                    Integer.parseInt(a[4]));
        }
    }
}
