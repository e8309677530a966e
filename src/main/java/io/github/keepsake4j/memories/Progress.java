package io.github.keepsake4j.memories;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The progress of the creation of long-term memories of one kind. The steps form a tree, because a conversation has branches and
 * messages are edited. Retrievers see the path to the head.
 *
 * @param revision changes with each change of the memories, and never has an earlier value again, even after an erasure
 * @param head the number of the last step of the path, or 0 for none
 * @param steps all steps in rising order of their numbers, including failed steps
 */
public record Progress(long revision, long head, List<Step> steps) {

    /** Copies the steps. */
    public Progress {
        steps = List.copyOf(steps);
    }

    /**
     * Returns the steps of the path.
     *
     * @return the steps from the beginning of the conversation to the head
     */
    public List<Step> path() {
        Map<Long, Step> byNumber = new HashMap<>();
        steps.forEach(step -> byNumber.put(step.number(), step));
        List<Step> path = new ArrayList<>();
        for (Step step = byNumber.get(head); step != null; step = byNumber.get(step.parent())) {
            path.add(step);
            // A parent is older, so damage cannot make this endless.
            byNumber.remove(step.number());
        }
        Collections.reverse(path);
        return List.copyOf(path);
    }

    /**
     * Returns the numbers of the steps of the path.
     *
     * @return the numbers, and 0 for memories that were made by hand
     */
    public Set<Long> onPath() {
        Set<Long> numbers = new HashSet<>(Set.of(0L));
        path().forEach(step -> numbers.add(step.number()));
        return numbers;
    }

    /**
     * Finds a step.
     *
     * @param number its number
     * @return the step, or empty if there is none
     */
    public Optional<Step> step(long number) {
        return steps.stream().filter(step -> step.number() == number).findFirst();
    }

    /**
     * Returns the next revision.
     *
     * @param newHead the number of the step up to which memories are shown
     * @return a copy
     */
    public Progress changedTo(long newHead) {
        return new Progress(revision + 1, newHead, steps);
    }

    /**
     * Replaces the step of the same number, or adds the step behind the others.
     *
     * @param step the step
     * @return a copy
     */
    public Progress with(Step step) {
        NavigableMap<Long, Step> all = new TreeMap<>();
        steps.forEach(each -> all.put(each.number(), each));
        all.put(step.number(), step);
        return new Progress(revision, head, List.copyOf(all.values()));
    }

    /**
     * Returns the step of a passage that is not processed yet: the step that failed behind the head or was skipped on
     * the path, or else a step with the next number under the head.
     *
     * @param passage the passage
     * @return the step; with 0 failures if it is not stored
     */
    public Step next(Passage passage) {
        List<Step> path = path();
        return steps.stream()
                .filter(step -> step.failures() > 0 && step.passage().equals(passage))
                .filter(step -> step.parent() == head || path.contains(step))
                .findFirst()
                .orElseGet(() -> new Step(
                        steps.isEmpty() ? 1 : steps.get(steps.size() - 1).number() + 1, head, passage, 0));
    }

    /**
     * Returns the head when a step is processed.
     *
     * @param step what {@link #next} returned
     * @return the step's number, or the unchanged head if the step is on the path to it
     */
    public long headAfter(Step step) {
        return path().contains(step) ? head : step.number();
    }

    /**
     * Returns the current summary. Only for the progress of chunks.
     *
     * @param versions the versions in the order in which they were stored
     * @return the newest current version whose last chunk is on the path, or null if there is none
     */
    public @Nullable MadeMemory holding(List<MadeMemory> versions) {
        Set<String> ends = new HashSet<>(Set.of(""));
        path().forEach(step -> ends.add(step.passage().upTo()));
        for (int i = versions.size() - 1; i >= 0; i--) {
            MadeMemory version = versions.get(i);
            if (version.status() == MadeMemory.Status.CURRENT
                    && ends.contains(version.source().upTo())) {
                return version;
            }
        }
        return null;
    }

    /**
     * A passage that was processed, or whose tries failed so far.
     *
     * @param number its number, from 1, unique among the steps of one kind of memories of a discussion
     * @param parent the number of the step that it continues, or 0 for the beginning of the conversation
     * @param passage the passage
     * @param failures the number of failed tries, or 0 if it was processed
     */
    public record Step(long number, long parent, Passage passage, int failures) {

        /** The number of failed tries after which a passage is skipped. */
        public static final int MAX_FAILURES = 5;

        /**
         * Returns whether the passage was skipped: it has no memories, and the passages behind it are processed.
         *
         * @return whether {@value #MAX_FAILURES} tries or more failed
         */
        public boolean isPassedBy() {
            return failures >= MAX_FAILURES;
        }

        /**
         * Returns the step with one more failed try.
         *
         * @return the same step with one more failure
         */
        public Step failed() {
            return new Step(number, parent, passage, failures + 1);
        }
    }
}
