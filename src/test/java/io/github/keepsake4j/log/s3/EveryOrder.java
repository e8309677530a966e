package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.s3.ScriptedBucket.Answer;
import io.github.keepsake4j.log.s3.ScriptedBucket.Request;
import io.github.keepsake4j.log.s3.ScriptedBucket.Served;
import io.github.keepsake4j.message.KeepsakeException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tries every order in which a bucket can serve the requests of some programs. A program's next request depends on nothing but
 * the answers that it has got. So a state is the objects and the answers, and each is looked at once, however many orders lead
 * to it. A program is run again from its beginning for each answer that is new to it; nothing is simulated but the server.
 *
 * <p>Some requests may fail too: the answer is lost, and the client or the program asks again; or the request is late: it is
 * served once more at any later time.
 */
final class EveryOrder {

    /** A program: works with a log that has read nothing, and returns a result. */
    interface Program extends Function<S3MessageLog, String> {}

    /** How requests may fail. */
    enum Fault {
        /** It was served. The client did not learn it and sends it again. */
        ANSWER_LOST_CLIENT_REPEATS,
        /** It was served. The program does not learn it. */
        ANSWER_LOST_PROGRAM_FAILS,
        /** It was not served. The program fails. */
        REQUEST_LOST_PROGRAM_FAILS,
        /** The others are slow: a program that waits for them looks as often as it does, and sees nothing new. */
        OTHERS_ARE_SLOW,
        /** It is served twice: once at any later time. Only requests with a condition are. */
        LATE_CLIENT_REPEATS
    }

    /** Where all programs have ended. */
    record End(SortedMap<String, String> objects, List<String> results, boolean late) {}

    /** What was tried. */
    record Tried(int states, int ends, int requests) {}

    private static final String BUCKET = "bucket";

    /** Stops a program whose next request has no answer yet. No code of ours catches it. */
    private static final class Parked extends Error {
        private static final long serialVersionUID = 1L;
        private final transient Request request;

        Parked(Request request) {
            super(null, null, false, false);
            this.request = request;
        }
    }

    /** A program after some answers: it waits for the next one, or it has ended. */
    private final class Progress {
        private final int program;
        private final List<Answer> answers;
        private final Map<Answer, Progress> next = new HashMap<>();
        private @Nullable Request before;
        private boolean waits;
        private @Nullable Request request;
        private @Nullable String result;

        Progress(int program, List<Answer> answers) {
            this.program = program;
            this.answers = answers;
            runs++;
            Iterator<Answer> script = answers.iterator();
            Function<Request, Answer> server = asked -> {
                if (!script.hasNext()) {
                    throw new Parked(asked);
                }
                before = asked;
                waits = false;
                return script.next();
            };
            S3MessageLog log = log(program, server, () -> waits = true);
            try {
                result = programs.get(program).apply(log);
            } catch (Parked e) {
                request = e.request;
            }
        }

        /** Tells whether it only waits for others, and would see what it has just seen. */
        boolean waitsFor(Answer answer) {
            return waits && request.equals(before) && answer.equals(answers.get(answers.size() - 1));
        }

        /** Returns where it gives up waiting. */
        Progress afterAllLooks(Answer answer) {
            Progress progress = this;
            while (progress.request != null && progress.waitsFor(answer)) {
                progress = progress.after(answer);
            }
            return progress;
        }

        Progress after(Answer answer) {
            return next.computeIfAbsent(answer, a -> {
                List<Answer> more = new ArrayList<>(answers);
                more.add(a);
                return new Progress(program, List.copyOf(more));
            });
        }
    }

    /** The objects at a time. There is one for each different content, so that two are equal only if they are the same. */
    private final class Contents {
        private final SortedMap<String, String> texts;
        private final Map<Request, Outcome> served = new HashMap<>();

        Contents(SortedMap<String, String> texts) {
            this.texts = texts;
        }

        Outcome serve(Request request) {
            return served.computeIfAbsent(request, r -> {
                Served one = ScriptedBucket.serve(texts, r);
                return new Outcome(one.objects() == texts ? this : objects(one.objects()), one.answer());
            });
        }
    }

    /** A step, for the path to an end. */
    private record Did(Object who, Request request, Object outcome) {
        @Override
        public String toString() {
            return who + ": " + request + " -> " + outcome;
        }
    }

    private record Outcome(Contents objects, Answer answer) {}

    /** All that the future depends on, and how it was reached first. */
    private record State(
            Contents objects,
            List<Progress> programs,
            List<Request> late,
            int faults,
            @Nullable State from,
            Object what) {

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof State state
                    && objects == state.objects
                    && faults == state.faults
                    && programs.equals(state.programs)
                    && late.equals(state.late);
        }

        @Override
        public int hashCode() {
            return ((System.identityHashCode(objects) * 31 + programs.hashCode()) * 31 + late.hashCode()) * 31 + faults;
        }

        List<String> path() {
            List<String> steps = new ArrayList<>();
            for (State at = this; at != null; at = at.from) {
                steps.add(at.what.toString());
            }
            Collections.reverse(steps);
            return steps;
        }
    }

    private final List<Program> programs;
    private final List<Fault> faults;
    private final Consumer<S3MessageLog.Builder> settings;
    private final Map<SortedMap<String, String>, Contents> known = new HashMap<>();
    private int runs;

    EveryOrder(List<Program> programs, List<Fault> faults, Consumer<S3MessageLog.Builder> settings) {
        this.programs = programs;
        this.faults = faults;
        this.settings = settings;
    }

    private Contents objects(SortedMap<String, String> texts) {
        return known.computeIfAbsent(texts, Contents::new);
    }

    private S3MessageLog log(int program, Function<Request, Answer> server, Runnable pause) {
        RandomChoices chance = new RandomChoices() {
            private int writes;

            @Override
            public String writeId() {
                return "w" + program + "." + writes++;
            }

            @Override
            public void pause(String what, int atMostMillis) {
                pause.run();
            }
        };
        S3MessageLog.Builder builder = S3MessageLog.builder()
                .client(ScriptedBucket.client(server))
                .bucket(BUCKET)
                .gzipAbove(Long.MAX_VALUE)
                .clock(Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC))
                .chance(chance);
        settings.accept(builder);
        return builder.build();
    }

    /** Runs a program alone, and leaves in the map what it makes of the objects. */
    <T> T alone(SortedMap<String, String> objects, Function<S3MessageLog, T> program) {
        return program.apply(log(
                99,
                request -> {
                    Served served = ScriptedBucket.serve(new TreeMap<>(objects), request);
                    objects.clear();
                    objects.putAll(served.objects());
                    return served.answer();
                },
                () -> {}));
    }

    /**
     * Tries all.
     *
     * @param headStarts how many requests of each program are served before all others, in the order of the programs
     * @param atMostFaults how many requests fail in one order
     * @param check looks at an end, and throws an {@link AssertionError} if it must not be
     */
    Tried all(List<Integer> headStarts, int atMostFaults, Consumer<End> check) {
        State first = first(headStarts, atMostFaults);
        Set<State> reached = new HashSet<>(Set.of(first));
        Deque<State> open = new ArrayDeque<>(reached);
        int ends = 0;
        while (!open.isEmpty()) {
            State state = open.remove();
            List<State> next = next(state);
            if (next.isEmpty()) {
                ends++;
                check(state, check);
            }
            for (State one : next) {
                if (reached.add(one)) {
                    open.add(one);
                }
            }
        }
        return new Tried(reached.size(), ends, runs);
    }

    /** Tries some orders at random, and does otherwise what {@link #all} does. */
    Tried some(List<Integer> headStarts, int atMostFaults, int orders, Random random, Consumer<End> check) {
        State first = first(headStarts, atMostFaults);
        int states = 0;
        for (int i = 0; i < orders; i++) {
            State state = first;
            for (List<State> next = next(state); !next.isEmpty(); next = next(state)) {
                int faultsLeft = state.faults();
                List<State> sound =
                        next.stream().filter(one -> one.faults() == faultsLeft).toList();
                List<State> chosen = random.nextInt(8) == 0 ? next : sound;
                state = chosen.get(random.nextInt(chosen.size()));
                states++;
            }
            check(state, check);
        }
        return new Tried(states, orders, runs);
    }

    private State first(List<Integer> headStarts, int atMostFaults) {
        Contents objects = objects(new TreeMap<>());
        List<Progress> first = new ArrayList<>();
        for (int i = 0; i < programs.size(); i++) {
            Progress progress = new Progress(i, List.of());
            for (int served = 0; served < headStarts.get(i); served++) {
                Outcome one = objects.serve(progress.request);
                objects = one.objects();
                progress = progress.after(one.answer());
            }
            first.add(progress);
        }
        return new State(objects, first, List.of(), atMostFaults, null, "begin");
    }

    private static void check(State end, Consumer<End> check) {
        List<String> results = end.programs().stream().map(one -> one.result).toList();
        List<String> path = end.path();
        try {
            check.accept(
                    new End(end.objects().texts, results, path.stream().anyMatch(step -> step.startsWith("late"))));
        } catch (AssertionError e) {
            throw new AssertionError(String.join("\n", path) + "\n" + results + "\n" + e.getMessage(), e);
        }
    }

    private List<State> next(State state) {
        List<State> next = new ArrayList<>();
        List<State> waiting = new ArrayList<>();
        for (int i = 0; i < programs.size(); i++) {
            Progress progress = state.programs().get(i);
            Request request = progress.request;
            if (request == null) {
                continue;
            }
            Outcome outcome = state.objects().serve(request);
            if (progress.waitsFor(outcome.answer())) {
                waiting.add(to(state, i, outcome.objects(), progress.afterAllLooks(outcome.answer()), null));
            } else {
                next.add(to(state, i, outcome.objects(), progress.after(outcome.answer()), null));
            }
            if (state.faults() > 0) {
                for (Fault fault : faults) {
                    State failed = failed(state, fault, i, progress, outcome, request);
                    if (failed != null) {
                        next.add(failed);
                    }
                }
            }
        }
        for (Request late : state.late()) {
            Outcome outcome = state.objects().serve(late);
            List<Request> left = new ArrayList<>(state.late());
            left.remove(late);
            Did did = new Did("late", late, outcome.answer().status());
            next.add(new State(outcome.objects(), state.programs(), left, state.faults(), state, did));
        }
        // Nobody else does anything, so they look until they give up.
        return next.stream().allMatch(one -> one.faults() < state.faults()) ? join(next, waiting) : next;
    }

    private static List<State> join(List<State> some, List<State> others) {
        List<State> all = new ArrayList<>(some);
        all.addAll(others);
        return all;
    }

    private static @Nullable State failed(
            State state, Fault fault, int program, Progress progress, Outcome outcome, Request request) {
        return switch (fault) {
            case ANSWER_LOST_CLIENT_REPEATS ->
                request.isRead() ? null : to(state, program, outcome.objects(), progress, fault);
            case ANSWER_LOST_PROGRAM_FAILS ->
                request.isRead() ? null : to(state, program, outcome.objects(), progress.after(Answer.of(500)), fault);
            case REQUEST_LOST_PROGRAM_FAILS ->
                to(state, program, state.objects(), progress.after(Answer.of(503)), fault);
            case OTHERS_ARE_SLOW ->
                progress.waitsFor(outcome.answer())
                        ? to(state, program, outcome.objects(), progress.afterAllLooks(outcome.answer()), fault)
                        : null;
            case LATE_CLIENT_REPEATS -> {
                if (request.ifMatch() == null && (request.isRead() || request.ifNoneMatch() == null)) {
                    yield null;
                }
                List<Request> late = new ArrayList<>(state.late());
                late.add(request);
                yield new State(
                        state.objects(),
                        state.programs(),
                        late,
                        state.faults() - 1,
                        state,
                        new Did(program, request, fault));
            }
        };
    }

    private static State to(State from, int program, Contents objects, Progress progress, @Nullable Fault fault) {
        List<Progress> next = new ArrayList<>(from.programs());
        Request request = next.set(program, progress).request;
        Object answered = fault == null
                ? progress.answers.get(progress.answers.size() - 1).status()
                : fault;
        return new State(
                objects,
                next,
                from.late(),
                from.faults() - (fault == null ? 0 : 1),
                from,
                new Did(program, request, answered));
    }

    /** Repeats a call as a caller does until it is known to have succeeded. */
    static <T> T until(Function<S3MessageLog, T> call, S3MessageLog log) {
        for (int i = 0; i < 20; i++) {
            try {
                return call.apply(log);
            } catch (KeepsakeException e) {
                if (!e.isRetryable()) {
                    throw e;
                }
            }
        }
        throw new AssertionError("20 times in vain");
    }
}
