package io.github.keepsake4j.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** What holds for all tests of JUnit Jupiter, which finds this class by the service loader. */
public final class TestSettings implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    /** Only a hang takes so long, however busy the machine is. */
    private static final Duration HANGS = Duration.ofMinutes(2);

    private static final ExtensionContext.Namespace SPACE = ExtensionContext.Namespace.create(TestSettings.class);
    private static final String USED = "databases";

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(HANGS);
        beforeEach(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(SPACE).put(USED, Postgres.used());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Iterable<String> told = Tell.drain();
        if (context.getExecutionException().isPresent() && !Boolean.getBoolean("keepsake.tell")) {
            told.forEach(System.out::println);
        }
        afterAll(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Integer used = context.getStore(SPACE).remove(USED, Integer.class);
        // There is none if something failed before the test.
        if (used != null) {
            Postgres.giveBackTo(used);
        }
    }
}
