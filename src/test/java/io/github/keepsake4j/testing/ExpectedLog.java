package io.github.keepsake4j.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Says what is logged during a test. It is not printed, and the test fails if it is not logged. Everything else is printed
 * as always, and if the test fails all is. Not for tests that run at the same time as others.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ExtendWith(ExpectedLog.Capture.class)
public @interface ExpectedLog {

    /** A part of the line, of which at least one is logged. */
    String[] value() default {};

    /** A part of a line that may be logged or not, such as by another thread. */
    String[] maybe() default {};

    /** Captures what is logged, which goes to the standard error stream. */
    final class Capture implements BeforeTestExecutionCallback, AfterTestExecutionCallback {

        private static final Pattern BEGIN = Pattern.compile("\\[.*] (TRACE|DEBUG|INFO|WARN|ERROR) \\S+ - .*");

        private PrintStream before;
        private ByteArrayOutputStream bytes;

        @Override
        public void beforeTestExecution(ExtensionContext context) {
            before = System.err;
            bytes = new ByteArrayOutputStream();
            System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        }

        @Override
        public void afterTestExecution(ExtensionContext context) {
            System.setErr(before);
            ExpectedLog expected = AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), ExpectedLog.class)
                    .orElseThrow();
            String all = bytes.toString(StandardCharsets.UTF_8);
            if (context.getExecutionException().isPresent()) {
                before.print(all);
                return;
            }
            List<String> missing = new ArrayList<>(List.of(expected.value()));
            boolean hidden = false;
            for (String line : all.lines().toList()) {
                if (BEGIN.matcher(line).matches()) {
                    missing.removeIf(line::contains);
                    hidden = contains(line, expected.value()) || contains(line, expected.maybe());
                } else if (line.startsWith("Exception in thread")) {
                    hidden = false;
                }
                // The other lines are the stack trace of the event before them.
                if (!hidden) {
                    before.println(line);
                }
            }
            if (!missing.isEmpty()) {
                throw new AssertionError("was not logged: " + missing);
            }
        }

        private static boolean contains(String line, String[] parts) {
            for (String part : parts) {
                if (line.contains(part)) {
                    return true;
                }
            }
            return false;
        }
    }
}
