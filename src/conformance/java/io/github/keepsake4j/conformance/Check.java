package io.github.keepsake4j.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;

/** Marks a check: a test for JUnit, a row of a report. */
@Test
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Check {

    /** Returns what a subject needs to pass it. */
    ConformanceReport.Level value();
}
