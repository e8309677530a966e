package io.github.keepsake4j.conformance;

import io.github.keepsake4j.conformance.ConformanceReport.Result;
import io.github.keepsake4j.conformance.ConformanceReport.Status;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.opentest4j.TestAbortedException;

/**
 * What all suites share: how a subject is opened, here and in another process, and how its checks are run.
 *
 * @param <S> the interface that is checked
 */
abstract class Conformance<S> {

    private static final int LONGEST_LINE = 300;

    private final List<S> opened = new ArrayList<>();
    private String seen = "";

    /**
     * Opens the subject. Each check calls it at least once. Every call opens another instance over the same data. Checks
     * use new memory ids, so the data need not be empty.
     *
     * @return the instance
     * @throws Exception if it cannot be opened
     */
    protected abstract S open() throws Exception;

    /**
     * Closes an instance. Unless overridden, calls {@code close()} on an {@link AutoCloseable}.
     *
     * @param instance what {@link #open()} returned
     * @throws Exception if it cannot be closed
     */
    protected void close(S instance) throws Exception {
        if (instance instanceof AutoCloseable closeable) {
            closeable.close();
        }
    }

    /**
     * Returns the class that opens the subject in another process, over the same data. It needs a public constructor
     * without arguments. Unless overridden, returns null: the data belongs to one instance, and checks with other
     * instances and processes are not applicable.
     *
     * @return the class, or null
     */
    protected Class<? extends Supplier<? extends S>> factory() {
        return null;
    }

    /**
     * Returns the system properties of another process, which tell {@link #factory()} where the data is.
     *
     * @return names and values; none unless overridden
     */
    protected Map<String, String> properties() {
        return Map.of();
    }

    /**
     * Returns how many messages or rounds a check uses. Override it to spend less time.
     *
     * @param stated the number that the kit's page states
     * @return a number from 1 to the stated one
     */
    protected int count(int stated) {
        return stated;
    }

    /**
     * Returns the class path of another process. Unless overridden, it is this process's.
     *
     * @return the class path
     */
    protected String classPath() {
        if (getClass().getClassLoader() instanceof URLClassLoader loader) {
            return Stream.of(loader.getURLs())
                    .map(url -> Path.of(URI.create(url.toString())).toString())
                    .collect(Collectors.joining(File.pathSeparator));
        }
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /**
     * Returns the subject's name in reports. Unless overridden, the suite's class name.
     *
     * @return the name
     */
    protected String subject() {
        return getClass().getSimpleName();
    }

    /**
     * Ends a check as not applicable. A suite that waives a check overrides the check's method and calls this one.
     *
     * @param reason one line for the report
     */
    protected final void notApplicable(String reason) {
        Assumptions.abort(reason);
    }

    /**
     * Runs all checks, one after another, without JUnit. Never throws because of a failed check.
     *
     * @return the report
     */
    public final ConformanceReport report() {
        return new ConformanceReport(
                subject(),
                Stream.<Class<?>>iterate(getClass(), type -> type != Object.class, Class::getSuperclass)
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                        .filter(method -> method.isAnnotationPresent(Check.class))
                        .sorted(Comparator.<Method, ConformanceReport.Level>comparing(Conformance::level)
                                .thenComparing(Method::getName))
                        .map(this::run)
                        .toList());
    }

    private static ConformanceReport.Level level(Method check) {
        return check.getAnnotation(Check.class).value();
    }

    private Result run(Method check) {
        seen = "";
        Status status = Status.PASSED;
        String line;
        try {
            check.setAccessible(true);
            check.invoke(this);
            line = seen;
        } catch (InvocationTargetException e) {
            Throwable failure = e.getCause();
            status = failure instanceof TestAbortedException ? Status.NOT_APPLICABLE : Status.FAILED;
            boolean told = failure instanceof AssertionError || failure instanceof TestAbortedException;
            line = oneLine(told ? String.valueOf(failure.getMessage()) : "threw " + failure);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        try {
            closeOpened();
        } catch (Exception e) {
            status = Status.FAILED;
            line = oneLine("cannot be closed: " + e);
        }
        return new Result(check.getName(), level(check), status, line);
    }

    /**
     * Closes all instances of a check.
     *
     * @throws Exception if one cannot be closed
     */
    @AfterEach
    protected final void closeOpened() throws Exception {
        List<S> all = List.copyOf(opened);
        opened.clear();
        for (S instance : all) {
            close(instance);
        }
    }

    final S opened() throws Exception {
        S instance = open();
        opened.add(instance);
        return instance;
    }

    /** Returns a class for other instances and processes. Without one, the check ends. */
    final Class<? extends Supplier<? extends S>> shared() {
        Class<? extends Supplier<? extends S>> factory = factory();
        if (factory == null) {
            notApplicable("the data belongs to one instance");
        }
        return factory;
    }

    final ChildProcess child(String mode, Object... arguments) throws Exception {
        return ChildProcess.start(classPath(), properties(), shared(), mode, arguments);
    }

    /**
     * Lets another process make calls, kills it soon after some have returned, and returns the number of the last one that
     * had returned.
     */
    final int killed(String mode, String id, int calls) throws Exception {
        try (ChildProcess child = child(mode, id, "killed", Integer.MAX_VALUE)) {
            child.ready().go();
            int acknowledged = 0;
            for (int i = 0; i < calls; i++) {
                acknowledged = Integer.parseInt(child.line());
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(3_000_000));
            return child.kill(acknowledged);
        }
    }

    /** Says what was seen, if the check passes. */
    final void saw(String format, Object... values) {
        seen = oneLine(format.formatted(values));
    }

    /** Fails unless a problem is null. */
    static void expectNone(String problem) {
        if (problem != null) {
            Assertions.fail(oneLine(problem));
        }
    }

    static void expect(boolean condition, String otherwise, Object... values) {
        if (!condition) {
            Assertions.fail(oneLine(otherwise.formatted(values)));
        }
    }

    static String newId() {
        return UUID.randomUUID().toString();
    }

    /** What one of several threads does. */
    @FunctionalInterface
    interface Part {
        void run(int thread) throws Exception;
    }

    /** Runs threads that begin at the same time, and throws what one of them threw. */
    static void together(int threads, Part part) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                all.add(pool.submit(() -> {
                    await(start);
                    part.run(thread);
                    return null;
                }));
            }
            for (Future<?> each : all) {
                try {
                    each.get(2, TimeUnit.MINUTES);
                } catch (java.util.concurrent.ExecutionException e) {
                    if (e.getCause() instanceof Error error) {
                        throw error;
                    }
                    throw (Exception) e.getCause();
                }
            }
        } finally {
            pool.shutdownNow();
            // What the others still do belongs to this check.
            pool.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    private static void await(CyclicBarrier start) throws InterruptedException {
        try {
            start.await();
        } catch (BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    static String oneLine(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints()
                .limit(LONGEST_LINE)
                .forEach(c -> line.appendCodePoint(Character.isISOControl(c) || Character.getType(c) == 19 ? ' ' : c));
        return text.length() > LONGEST_LINE ? line + "…" : line.toString();
    }
}
