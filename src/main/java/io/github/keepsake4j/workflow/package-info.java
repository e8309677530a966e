/**
 * The interface for the language model node of a workflow engine, in the terms of such engines: memories of a
 * conversation and of one node in it, their configuration, and files. Start with
 * {@link io.github.keepsake4j.workflow.WorkflowMemories}. {@link io.github.keepsake4j.workflow.LlmNode} runs a node in
 * one call.
 */
@NullMarked
package io.github.keepsake4j.workflow;

import org.jspecify.annotations.NullMarked;
