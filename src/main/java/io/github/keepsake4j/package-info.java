/**
 * Chat memory for LangChain4j that keeps every message. Start at {@link io.github.keepsake4j.Keepsake}.
 *
 * <pre>
 * AiServices ── add ──▶ chat (ChatMemory) ─▶ codec + tokens ─▶ log.append ─▶ a backend
 * AiServices ◀ messages ─ chat ◀─ context (what the model sees) ◀─ log.read (bounded) ◀─ a backend
 * </pre>
 *
 * <p>The log is the truth: an append-only tree of messages with a head. A window, a token limit or what a framework sets
 * is a view of it, so nothing that a model or a framework does can lose a message. Packages depend in one direction:
 * {@code message} on nothing, {@code codec} and {@code tokens} and {@code log} on it, backends on {@code log} and
 * {@code codec}, {@code context} on {@code message} and {@code tokens}, {@code view} on {@code log} and {@code context},
 * {@code turn} on {@code log}, {@code summary} on {@code log}, {@code tokens} and {@code metrics}, {@code chat},
 * {@code workflow} and {@code retention} on all these, {@code workflow} also on {@code workflow.files}, this one on all.
 */
@NullMarked
package io.github.keepsake4j;

import org.jspecify.annotations.NullMarked;
