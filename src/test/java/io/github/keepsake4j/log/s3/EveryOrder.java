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
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
        private final int id = all.size();
        private final int program;
        private final List<Answer> answers;
        private final Map<Answer, Progress> next = new HashMap<>();
        private @Nullable Request request;
        private @Nullable String result;

        Progress(int program, List<Answer> answers) {
            this.program = program;
            this.answers = answers;
            all.add(this);
            Iterator<Answer> script = answers.iterator();
            S3MessageLog log = log(program, request -> {
                if (!script.hasNext()) {
                    throw new Parked(request);
                }
                return script.next();
            });
            try {
                result = programs.get(program).apply(log);
            } catch (Parked e) {
                request = e.request;
            }
        }

        Progress after(Answer answer) {
            return next.computeIfAbsent(answer, a -> {
                List<Answer> more = new ArrayList<>(answers);
                more.add(a);
                return new Progress(program, List.copyOf(more));
            });
        }
    }

    /** All that the future depends on. The parts are numbers of what is kept once. */
    private record State(int objects, List<Integer> programs, List<Integer> late, int faults) {}

    /** How a state was reached first. */
    private record Step(@Nullable State from, String what) {}

    private final List<Program> programs;
    private final List<Fault> faults;
    private final Consumer<S3MessageLog.Builder> settings;
    private final List<Progress> all = new ArrayList<>();
    private final List<SortedMap<String, String>> buckets = new ArrayList<>();
    private final Map<SortedMap<String, String>, Integer> bucketNumbers = new HashMap<>();
    private final List<Request> lateRequests = new ArrayList<>();
    private final Map<Request, Integer> lateNumbers = new HashMap<>();
    private final Map<State, Step> reached = new LinkedHashMap<>();
    private final Deque<State> open = new ArrayDeque<>();

    EveryOrder(List<Program> programs, List<Fault> faults, Consumer<S3MessageLog.Builder> settings) {
        this.programs = programs;
        this.faults = faults;
        this.settings = settings;
    }

    private S3MessageLog log(int program, Function<Request, Answer> server) {
        Chance chance = new Chance() {
            private int writes;

            @Override
            public String writeId() {
                return "w" + program + "." + writes++;
            }

            @Override
            public void pause(String what, int atMostMillis) {}
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
        return program.apply(log(99, request -> {
            Served served = ScriptedBucket.serve(new TreeMap<>(objects), request);
            objects.clear();
            objects.putAll(served.objects());
            return served.answer();
        }));
    }

    /**
     * Tries all.
     *
     * @param headStarts how many requests of each program are served before all others, in the order of the programs
     * @param atMostFaults how many requests fail in one order
     * @param check looks at an end, and throws an {@link AssertionError} if it must not be
     */
    Tried run(List<Integer> headStarts, int atMostFaults, Consumer<End> check) {
        SortedMap<String, String> objects = new TreeMap<>();
        List<Integer> first = new ArrayList<>();
        for (int i = 0; i < programs.size(); i++) {
            Progress progress = new Progress(i, List.of());
            for (int served = 0; served < headStarts.get(i); served++) {
                Served one = ScriptedBucket.serve(objects, progress.request);
                objects = one.objects();
                progress = progress.after(one.answer());
            }
            first.add(progress.id);
        }
        reach(new State(bucket(objects), first, List.of(), atMostFaults), new Step(null, "begin"));
        int ends = 0;
        while (!open.isEmpty()) {
            State state = open.remove();
            if (step(state)) {
                continue;
            }
            ends++;
            List<String> results =
                    state.programs().stream().map(id -> all.get(id).result).toList();
            try {
                check.accept(new End(buckets.get(state.objects()), results, isLate(state)));
            } catch (AssertionError e) {
                throw new AssertionError(path(state) + "\n" + results + "\n" + e.getMessage(), e);
            }
        }
        return new Tried(reached.size(), ends, all.size());
    }

    private boolean isLate(State state) {
        for (Step step = reached.get(state); step != null && step.from() != null; step = reached.get(step.from())) {
            if (step.what().startsWith("late")) {
                return true;
            }
        }
        return false;
    }

    private String path(State end) {
        List<String> steps = new ArrayList<>();
        for (State at = end; at != null; at = reached.get(at).from()) {
            steps.add(reached.get(at).what());
        }
        Collections.reverse(steps);
        return String.join("\n", steps);
    }

    /** Takes all steps from a state. Returns whether there are any. */
    private boolean step(State state) {
        boolean any = false;
        SortedMap<String, String> objects = buckets.get(state.objects());
        for (int i = 0; i < programs.size(); i++) {
            Progress progress = all.get(state.programs().get(i));
            Request request = progress.request;
            if (request == null) {
                continue;
            }
            any = true;
            Served served = ScriptedBucket.serve(objects, request);
            String what = i + ": " + request + " -> " + served.answer().status();
            reach(to(state, i, served.objects(), progress.after(served.answer()), 0), new Step(state, what));
            if (state.faults() == 0) {
                continue;
            }
            for (Fault fault : faults) {
                State next = failed(state, fault, i, progress, served, request);
                if (next != null) {
                    reach(next, new Step(state, what + " " + fault));
                }
            }
        }
        for (int late : state.late()) {
            any = true;
            Served served = ScriptedBucket.serve(objects, lateRequests.get(late));
            List<Integer> left = new ArrayList<>(state.late());
            left.remove((Object) late);
            reach(
                    new State(bucket(served.objects()), state.programs(), left, state.faults()),
                    new Step(
                            state,
                            "late " + lateRequests.get(late) + " -> "
                                    + served.answer().status()));
        }
        return any;
    }

    private @Nullable State failed(
            State state, Fault fault, int program, Progress progress, Served served, Request request) {
        SortedMap<String, String> before = buckets.get(state.objects());
        return switch (fault) {
            case ANSWER_LOST_CLIENT_REPEATS ->
                request.isRead() ? null : to(state, program, served.objects(), progress, 1);
            case ANSWER_LOST_PROGRAM_FAILS ->
                request.isRead() ? null : to(state, program, served.objects(), progress.after(Answer.of(500)), 1);
            case REQUEST_LOST_PROGRAM_FAILS -> to(state, program, before, progress.after(Answer.of(503)), 1);
            case LATE_CLIENT_REPEATS -> {
                if (request.ifMatch() == null && (request.isRead() || request.ifNoneMatch() == null)) {
                    yield null;
                }
                List<Integer> late = new ArrayList<>(state.late());
                late.add(lateNumbers.computeIfAbsent(request, r -> {
                    lateRequests.add(r);
                    return lateRequests.size() - 1;
                }));
                Collections.sort(late);
                yield new State(state.objects(), state.programs(), late, state.faults() - 1);
            }
        };
    }

    private State to(State from, int program, SortedMap<String, String> objects, Progress progress, int faults) {
        List<Integer> next = new ArrayList<>(from.programs());
        next.set(program, progress.id);
        return new State(bucket(objects), next, from.late(), from.faults() - faults);
    }

    private int bucket(SortedMap<String, String> objects) {
        return bucketNumbers.computeIfAbsent(objects, o -> {
            buckets.add(o);
            return buckets.size() - 1;
        });
    }

    private void reach(State state, Step step) {
        if (reached.putIfAbsent(state, step) == null) {
            open.add(state);
        }
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
