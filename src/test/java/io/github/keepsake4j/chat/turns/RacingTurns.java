package io.github.keepsake4j.chat.turns;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.turn.Turn;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A process with two threads that take turns in the conversations of another process, as fast as they can. Arguments: the
 * place of the log, the number of conversations, the seed, and the port at which the other process waits for each one.
 * Prints for each conversation what was acknowledged and what was wrong.
 */
final class RacingTurns {

    static final String KEPT = "+";
    static final String WRONG = "!";
    static final String END = "end";

    private static final int THREADS = 2;
    private static final int TURNS = 3;

    private RacingTurns() {}

    public static void main(String[] arguments) throws Exception {
        Threads.endIfOneFails();
        int count = Integer.parseInt(arguments[1]);
        long seed = Long.parseLong(arguments[2]);
        try (MessageLog log = Place.of(arguments[0]).open();
                Socket other = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[3]))) {
            Keepsake keepsake = World.library(log);
            for (int i = 0; i < count; i++) {
                meet(other);
                race(keepsake, log, id(i), "c", seed + i).forEach(System.out::println);
                System.out.println(END);
            }
        }
    }

    static Object id(int conversation) {
        return "c" + conversation;
    }

    /** Returns whether lists are set in a conversation. */
    static boolean mayList(Object id) {
        return id.hashCode() % 3 == 0;
    }

    /** Waits until both processes are here. */
    static void meet(Socket other) throws IOException {
        other.getOutputStream().write(1);
        if (other.getInputStream().read() < 0) {
            throw new IOException("the other process has ended");
        }
    }

    /** Takes turns in a conversation, and returns the lines that a process prints of it. */
    static List<String> race(Keepsake keepsake, MessageLog log, Object id, String process, long seed) throws Exception {
        List<String> lines = Collections.synchronizedList(new ArrayList<>());
        Threads.run(THREADS, thread -> {
            String name = "-" + process + thread;
            Random random = new Random(31 * seed + name.hashCode());
            List<String> acknowledged = new ArrayList<>();
            OtherTab tab = new OtherTab(random, id, true, name, acknowledged);
            MemoryKey key = keepsake.conversation(id).key();
            for (int i = 0; i < TURNS; i++) {
                Story before = Story.of(log, key, null);
                Turn begin = tab.begin(before);
                String question = tab.question(begin, before, "q" + i + name);
                ScriptedTurn turn = new ScriptedTurn(
                        keepsake, id, question, Said.TURN + i + name, ScriptedTurn.Plan.random(random), begin, random);
                turn.run();
                List<String> wrong = new ArrayList<>(TurnChecks.requests(turn, false, true));
                wrong.addAll(TurnChecks.ranOnce(turn));
                if (!turn.endedAsPlanned()) {
                    wrong.add(turn + " ended with " + turn.error);
                }
                wrong.forEach(each -> lines.add(WRONG + each));
                acknowledged.addAll(turn.acknowledged());
                if (random.nextBoolean()) {
                    tab.act(keepsake, log, Story.of(log, key, null), mayList(id));
                }
            }
            acknowledged.forEach(text -> lines.add(KEPT + text));
        });
        return lines;
    }
}
