/**
 * Checks of any LangChain4j {@code ChatMemoryStore}, {@code ChatMemoryProvider} and {@code ChatMemory}, as JUnit suites
 * to extend and as a report.
 */
package io.github.keepsake4j.conformance;
