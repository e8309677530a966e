/**
 * Chat memory for LangChain4j that keeps every message. Start with {@link io.github.keepsake4j.Keepsake}.
 *
 * <pre>
 * writing: AiServices ─▶ chat ─▶ tokens (counts) ─▶ log ─▶ codec (stored form) ─▶ log.jdbc, log.s3 or log.inmemory
 * reading: AiServices ◀─ chat ◀─ context (selects) ◀─ view (what is shown) ◀─ log ◀─ codec ◀─ the same backend
 * setting: AiServices ─▶ chat ─▶ view (compares the list with what is shown) ─▶ log
 * </pre>
 *
 * <p>The log is an append-only tree of messages with a head. Windows, token limits and the lists that a framework sets
 * are views of the log. So neither a model nor a framework can lose a message.
 *
 * <p>{@code turn} excludes other turns of a conversation by a lease in the log. {@code summary} writes summaries in the
 * background and stores them in the log. {@code metrics} receives the events. {@code workflow} offers the memories to
 * the language model nodes of a workflow engine, and {@code workflow.files} converts the file references in their
 * histories. {@code retention} removes memories that are no longer needed. {@code transfer} imports the conversations
 * of other stores and copies memories between logs. {@code component} offers the memories to low-code hosts as one
 * component with four actions. {@code cli} is the command line. {@code spring} is the auto-configuration for Spring
 * Boot. {@code recall} finds messages by their words, into which {@code recall.words} splits texts. {@code memories}
 * creates long-term memories from them.
 *
 * <p>Packages depend in one direction only:
 *
 * <ul>
 * <li>{@code message} and {@code metrics} depend on no other package.
 * <li>{@code codec} and {@code tokens} depend on {@code message}, and {@code log} on {@code codec}.
 * <li>{@code sql}, which creates all statements, depends on {@code message}.
 * <li>The backends depend on {@code log} and {@code codec}, and those with SQL on {@code sql}.
 * <li>{@code context} depends on {@code message} and {@code tokens}.
 * <li>{@code view} depends on {@code codec}, {@code log} and {@code context}.
 * <li>{@code turn} depends on {@code log}.
 * <li>{@code summary} depends on {@code log}, {@code tokens} and {@code metrics}.
 * <li>{@code retention} depends on {@code log} and {@code metrics}.
 * <li>{@code recall.words} depends on {@code message}.
 * <li>{@code recall} depends on {@code log}, {@code tokens} and {@code recall.words}; its indexes on {@code recall} and
 *     {@code log}.
 * <li>{@code memories} depends on {@code codec}, {@code log}, {@code context}, {@code summary} and {@code recall}; its
 * stores are in {@code memories.file}, {@code memories.jdbc} and {@code memories.inmemory}.
 * <li>{@code chat} depends on {@code view}, {@code turn}, {@code summary} and the packages below them.
 * <li>{@code workflow.files} depends on {@code message}, its lookup in a database also on {@code log}.
 * <li>{@code workflow} depends on {@code view} and the packages below it, and on {@code workflow.files}.
 * <li>The root package may depend on all packages except {@code component}, {@code cli} and {@code spring}.
 * <li>{@code component} depends on the root package, {@code chat} and the packages below it, and on no backend.
 * <li>{@code cli} and {@code spring} may depend on all packages.
 * </ul>
 */
@NullMarked
package io.github.keepsake4j;

import org.jspecify.annotations.NullMarked;
