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
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every order of the requests of a writer that read nothing, of a creator and of erasers leaves no id and no text. */
@Tag("landing")
@Timeout(1_800)
class ErasureOrdersTest {

    private static final ConversationKey ALICE = ConversationKey.of("acme-tenant", "alice@example.org");
    private static final List<Fault> ALL = List.of(
            Fault.ANSWER_LOST_CLIENT_REPEATS,
            Fault.ANSWER_LOST_PROGRAM_FAILS,
            Fault.REQUEST_LOST_PROGRAM_FAILS,
            Fault.OTHERS_ARE_SLOW);

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
        if (some == 0) {
            return orders.all(headStarts, faults, end -> check(orders, end, bound));
        }
        long seed = System.nanoTime();
        Tell.line("seed %d", seed);
        return orders.some(headStarts, faults, some, new Random(seed), end -> check(orders, end, bound));
    }

    private static void check(EveryOrder orders, End end, boolean bound) {
        SortedMap<String, String> objects = new TreeMap<>(end.objects());
        long epoch =
                end.results().stream().skip(1).mapToLong(Long::parseLong).max().orElseThrow();
        assertThat(end.results().subList(1, end.results().size()))
                .as("each erasure has its own epoch")
                .doesNotHaveDuplicates();
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

    @Test
    void one_request_fails_or_the_others_are_slow() {
        tell("one creator, one fault, bound, moving", tried(true, 1, true, 1, 0));
        if (Counts.of(0, 1) == 1) {
            tell("bound", tried(true, 1, false, 1, 0));
            tell("moving", tried(false, 1, true, 1, 0));
            tell("neither", tried(false, 1, false, 1, 0));
            tell("two faults, bound", tried(true, 1, false, 2, 0));
            tell("two faults, moving", tried(false, 1, true, 2, 0));
        }
    }

    @Test
    void two_create_and_erase() {
        if (Counts.of(0, 1) == 1) {
            tell("two creators, no fault", tried(true, 2, false, 0, 0));
        }
        int some = Counts.of(50, 20_000);
        tell("bound", tried(true, 2, false, 3, some));
        tell("not bound, moving", tried(false, 2, true, 3, some));
    }

    private static void tell(String what, Tried tried) {
        Tell.line("%s: %d states, %d ends, %d runs of a program", what, tried.states(), tried.ends(), tried.requests());
    }
}
