package io.github.keepsake4j.chat;

import io.github.keepsake4j.message.Branch;

/**
 * One branch of a conversation as a list of branches shows it.
 *
 * @param branch the branch
 * @param first the oldest message that no other branch has, which distinguishes the branches
 * @param last the branch's newest message; the same as the first one if only one message is not shared
 */
public record BranchPreview(Branch branch, MessagePreview first, MessagePreview last) {}
