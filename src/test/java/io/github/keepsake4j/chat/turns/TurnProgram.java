package io.github.keepsake4j.chat.turns;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * One random conversation: turns that meet or not, and what other tabs do meanwhile. Its seed decides everything. It
 * checks after each step what can be checked then, and ends at the first thing that is wrong.
 */
final class TurnProgram {

    /** What is wrong, with the steps that led there. */
    static final class Wrong extends AssertionError {
        private static final long serialVersionUID = 1;

        Wrong(String text, Throwable cause) {
            super(text, cause);
        }
    }

    private final Random random;
    private final World world;
    private final Object id;
    private final boolean meets;

    /** Whether a small window cuts. Then most checks cannot be made. */
    private final boolean limited;

    private final boolean mayList;
    private final boolean hasConflicts;
    private final List<Keepsake> keepsakes;
    private final OtherTab tab;
    private final List<String> acknowledged = new ArrayList<>();
    private final List<ScriptedTurn> turns = new ArrayList<>();
    private final Map<ScriptedTurn, Steps> running = new LinkedHashMap<>();
    private final List<String> told = new ArrayList<>();
    private int names;

    TurnProgram(long seed, World world, Object id, boolean meets) {
        this.random = new Random(seed);
        this.world = world;
        this.id = id;
        this.meets = meets;
        limited = random.nextInt(8) == 0;
        mayList = random.nextInt(3) == 0;
        hasConflicts = random.nextBoolean();
        keepsakes = limited ? world.narrow() : world.wide();
        tab = new OtherTab(random, id, false, "", acknowledged);
    }

    /** Runs the program, and returns how many requests its models got. */
    int run() {
        int total = 3 + random.nextInt(5);
        int most = meets ? 2 + random.nextInt(3) : 1;
        try {
            if (hasConflicts) {
                boolean moves = random.nextBoolean();
                for (RaisedRevisions log : world.logs()) {
                    log.raise(keepsakes.get(0).conversation(id).key(), random, moves);
                }
            }
            while (turns.size() < total || !running.isEmpty()) {
                if (turns.size() < total && running.size() < most && (running.isEmpty() || random.nextInt(3) == 0)) {
                    begin();
                } else if (random.nextInt(4) > 0) {
                    step(tab.any(List.copyOf(running.keySet())));
                } else if (meets || random.nextInt(3) == 0) {
                    stopStreams();
                }
                if ((meets || running.isEmpty()) && random.nextInt(4) == 0) {
                    act();
                }
                if (running.isEmpty()) {
                    checkAll();
                }
            }
            fork();
            return turns.stream().mapToInt(turn -> turn.requests.size()).sum();
        } catch (Exception | AssertionError e) {
            Story story = story(null);
            throw new Wrong(
                    e.getMessage()
                            + System.lineSeparator()
                            + String.join(System.lineSeparator(), told)
                            + System.lineSeparator()
                            + story,
                    e);
        } finally {
            running.values().forEach(Steps::abandon);
            world.logs().forEach(RaisedRevisions::calm);
        }
    }

    private Keepsake any() {
        return tab.any(keepsakes);
    }

    private Story story(String branch) {
        return Story.of(world.log(), keepsakes.get(0).conversation(id).key(), branch);
    }

    private void begin() throws InterruptedException {
        Story before = story(null);
        Turn begin = tab.begin(before);
        String question = tab.question(begin, before, "q" + names++);
        ScriptedTurn turn = new ScriptedTurn(
                any(), id, question, Said.TURN + names++, ScriptedTurn.Plan.random(random), begin, random);
        told.add("begin " + turn);
        Context shown = begin == null && !limited ? any().conversation(id).context() : null;
        turns.add(turn);
        Steps steps = new Steps(turn::run);
        running.put(turn, steps);
        steps.step();
        check(turn.requests.isEmpty() ? List.of(turn + " has begun nothing: " + turn.error) : List.of());
        if (shown != null) {
            Explanation explanation = turn.keepsake.conversation(id).explain();
            check(TurnChecks.nothingDisappears(shown, turn, explanation, story(null), tab.hasListed()));
        } else if (turn.isAgain() && !limited) {
            check(TurnChecks.again(turn, before, tab.hasListed()));
        }
        check(turn);
    }

    private void step(ScriptedTurn turn) throws InterruptedException {
        told.add("step " + turn.by);
        // What a bucket in turn mode holds has no place before it is written.
        boolean isPlaced = world.home() != Home.S3_TURNS && !turn.isAgain() && !turn.stopped;
        Story before = isPlaced ? story(turn.branch()) : null;
        Steps steps = running.get(turn);
        steps.step();
        boolean hasMoved = false;
        for (RaisedRevisions log : world.logs()) {
            hasMoved |= log.hasMoved();
        }
        if (hasMoved) {
            told.add("moved within this step");
        } else if (isPlaced) {
            check(TurnChecks.inPlace(before, story(turn.branch()), turn));
        }
        check(turn);
        if (steps.isOver()) {
            told.add("end of " + turn.by + (turn.error == null ? "" : ": " + turn.error));
            running.remove(turn);
            check(turn.endedAsPlanned() ? List.of() : List.of(turn + " ended with " + turn.given + ", " + turn.error));
            check(TurnChecks.ranOnce(turn));
        }
    }

    private void check(ScriptedTurn turn) {
        check(TurnChecks.requests(turn, limited, tab.hasListed()));
    }

    private void act() {
        Keepsake keepsake = any();
        Story story = story(null);
        MessageLog log =
                world.logs().get(keepsakes.indexOf(keepsake) % world.logs().size());
        tab.act(keepsake, log, story, mayList);
        told.add("another tab made of it" + System.lineSeparator() + story(null));
    }

    private void stopStreams() {
        Keepsake keepsake = any();
        if (keepsake.conversation(id).stop() > 0) {
            running.keySet().stream()
                    .filter(turn -> turn.keepsake == keepsake && turn.isStreaming())
                    .forEach(turn -> {
                        turn.stopped = true;
                        told.add("stop " + turn.by);
                    });
        }
    }

    private void checkAll() {
        Story story = story(null);
        List<String> all = new ArrayList<>(acknowledged);
        turns.forEach(turn -> all.addAll(turn.acknowledged()));
        check(TurnChecks.all(any().conversation(id), story, all, limited, tab.hasListed()));
    }

    /** Forks the conversation at a message, and goes on there. */
    private void fork() throws InterruptedException {
        Story story = story(null);
        if (story.history.isEmpty() || random.nextInt(3) > 0) {
            return;
        }
        Conversation fork = any().conversation(id).fork(tab.any(story.history).id(), id + "-fork");
        told.add("fork");
        check(TurnChecks.all(fork, Story.of(world.log(), fork.key(), null), List.of(), limited, tab.hasListed()));
        Keepsake keepsake = any();
        Context shown = keepsake.conversation(id + "-fork").context();
        ScriptedTurn turn =
                new ScriptedTurn(keepsake, id + "-fork", "q", Said.TURN, ScriptedTurn.Plan.PLAIN, null, random);
        Steps steps = new Steps(turn::run);
        steps.step();
        Story now = Story.of(world.log(), fork.key(), null);
        if (!limited) {
            check(TurnChecks.nothingDisappears(shown, turn, fork.explain(), now, tab.hasListed()));
        }
        steps.step();
        check(TurnChecks.requests(turn, limited, tab.hasListed()));
        now = Story.of(world.log(), fork.key(), null);
        check(TurnChecks.all(fork, now, turn.acknowledged(), limited, tab.hasListed()));
    }

    private static void check(List<String> wrong) {
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join(System.lineSeparator(), wrong));
        }
    }
}
