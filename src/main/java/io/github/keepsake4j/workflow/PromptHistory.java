package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Converts a thread to the messages that a model sees: the newest whole turns that fit, with their files. The limit is
 * applied twice. First it is applied to the stored counts, so that only files of turns that may be shown are looked up.
 * Then it is applied to the sizes of the messages with the files' contents.
 *
 * @param key the memory
 * @param counter counts in the tokens of the limit
 * @param sizes the sizes of the stored messages
 * @param files converts references to contents
 * @param dropped receives the number of the thread's turns that the limit leaves out, if any
 */
record PromptHistory(MemoryKey key, TokenCounter counter, TokenSizes sizes, FileRebuilder files, IntConsumer dropped) {

    /** The text that is shown for a user message without text, because providers refuse blank texts. */
    private static final TextContent NO_TEXT = TextContent.from("[no text]");

    /**
     * A history as a model sees it.
     *
     * @param messages the messages, oldest first
     * @param seen records the stored messages, and whether some are shown in another form
     */
    record Prompt(List<ChatMessage> messages, Seen seen) {

        static final Prompt NOTHING = new Prompt(List.of(), new Seen(List.of(), List.of(), 0, false));
    }

    Prompt messages(List<LoggedMessage> stored, String tenantId, @Nullable FileUploadConfig config, int maxTokenLimit) {
        List<LoggedMessage> thread = asLater(stored);
        boolean later = stored.stream().anyMatch(LoggedMessage::hasLaterForm);
        List<List<LoggedMessage>> turns = turns(thread);
        List<List<LoggedMessage>> may = newest(turns, maxTokenLimit);
        Function<@Nullable FileReference, Content> contents =
                contents(may, tenantId, config == null ? FileUploadConfig.STANDARD : config);
        Deque<Sized> shown = new ArrayDeque<>();
        long tokens = sizes.perList(counter);
        // Turns are converted from the newest on, so that no content is loaded or fetched that will not be shown.
        int left = may.size();
        while (left > 0) {
            List<Sized> turn = shown(may.get(left - 1), contents);
            tokens += turn.stream().mapToLong(Sized::tokens).sum();
            if (tokens > maxTokenLimit) {
                break;
            }
            left--;
            for (int i = turn.size() - 1; i >= 0; i--) {
                shown.addFirst(turn.get(i));
            }
        }
        tellDropped(turns.size() - may.size() + left);
        return new Prompt(shown.stream().map(Sized::message).toList(), seen(shown, later));
    }

    /** Returns messages as later requests show them: questions without what was retrieved for them. */
    private static List<LoggedMessage> asLater(List<LoggedMessage> thread) {
        return thread.stream()
                .map(logged -> logged.hasLaterForm()
                        ? logged.asSent(logged.later(), logged.tokens(), logged.tokenCounter())
                        : logged)
                .toList();
    }

    private static Seen seen(Collection<Sized> shown, boolean later) {
        List<Long> sequences = shown.stream()
                .filter(Sized::isStored)
                .map(each -> each.logged().sequence())
                .toList();
        boolean altered = shown.stream().anyMatch(each -> !each.same() || !each.isStored());
        return new Seen(Seen.ranges(sequences), List.of(), 0, altered, List.of(), later);
    }

    /** Returns the history as lines of text. The limit applies to the tokens of the whole text. */
    String text(List<LoggedMessage> thread, MemoryConfig.RolePrefix roles, int maxTokenLimit) {
        List<List<LoggedMessage>> turns = turns(asLater(thread));
        List<String> newestFirst = new ArrayList<>();
        int guess = 0;
        long tokens = 0;
        for (int t = turns.size() - 1; t >= 0; t--) {
            String turn = turns.get(t).stream()
                    .flatMap(logged -> line(marked(logged).message(), roles))
                    .collect(Collectors.joining("\n"));
            if (!turn.isEmpty()) {
                newestFirst.add(turn);
                // The stored counts of any counter are good for a first estimate.
                tokens += turns.get(t).stream().mapToLong(LoggedMessage::tokens).sum();
                guess += tokens <= maxTokenLimit ? 1 : 0;
            }
        }
        FittingText fitting = FittingText.of(newestFirst, guess, maxTokenLimit, part -> sizes.of(counter, part));
        tellDropped(newestFirst.size() - fitting.parts());
        return fitting.text();
    }

    private void tellDropped(int turns) {
        if (turns > 0) {
            dropped.accept(turns);
        }
    }

    /**
     * A message that is shown.
     *
     * @param logged the message as it is stored
     * @param message the message as it is shown
     * @param same whether both are the same, apart from attributes
     * @param tokens the tokens of the message that is shown
     */
    private record Sized(LoggedMessage logged, ChatMessage message, boolean same, long tokens) {

        /** Returns whether the message was already written. */
        boolean isStored() {
            return logged.sequence() < Long.MAX_VALUE;
        }
    }

    /**
     * Returns the turns that a provider accepts, without applying a limit. A message that consists of files only is
     * treated like one with text, and so is a user message without text. A turn whose other messages all have to be left
     * out, such as one with a blank answer, is left out as a whole. So is a question at the end that nothing follows: the
     * next question would follow it directly.
     */
    private static List<List<LoggedMessage>> turns(List<LoggedMessage> thread) {
        Map<String, LoggedMessage> originals = new HashMap<>();
        thread.forEach(logged -> originals.put(logged.id(), logged));
        List<LoggedMessage> marked = thread.stream().map(PromptHistory::marked).toList();
        List<ContextTurn> turns = Context.of(null, null, marked).turns();
        boolean unanswered =
                !turns.isEmpty() && turns.get(turns.size() - 1).rounds().isEmpty();
        return turns.subList(0, turns.size() - (unanswered ? 1 : 0)).stream()
                .filter(turn ->
                        turn.rounds().isEmpty() || turn.rounds().stream().anyMatch(round -> round.hidden() == null))
                .map(turn -> turn.messages().stream()
                        .map(message -> originals.getOrDefault(message.id(), message))
                        .toList())
                .filter(turn -> !turn.isEmpty())
                .toList();
    }

    /** Returns the newest turns that fit by their stored counts. */
    private List<List<LoggedMessage>> newest(List<List<LoggedMessage>> turns, int maxTokenLimit) {
        long tokens = sizes.perList(counter);
        int first = turns.size();
        while (first > 0) {
            for (LoggedMessage logged : turns.get(first - 1)) {
                tokens += sizes.of(counter, logged);
            }
            if (tokens > maxTokenLimit) {
                break;
            }
            first--;
        }
        return turns.subList(first, turns.size());
    }

    /** Returns the contents of the files that are shown in user messages. */
    private Function<@Nullable FileReference, Content> contents(
            List<List<LoggedMessage>> turns, String tenantId, FileUploadConfig config) {
        List<FileReference> wanted = turns.stream()
                .flatMap(List::stream)
                .filter(logged -> logged.message() instanceof UserMessage)
                .flatMap(logged -> AttachedFile.of(logged.message()).stream())
                .filter(file -> !file.isAssistants())
                .flatMap(file -> Stream.ofNullable(file.reference()))
                .toList();
        return files.rebuild(key, tenantId, config, wanted);
    }

    private List<Sized> shown(List<LoggedMessage> turn, Function<@Nullable FileReference, Content> contents) {
        List<String> made = new ArrayList<>();
        List<Sized> shown = new ArrayList<>();
        for (int i = 0; i < turn.size(); i++) {
            LoggedMessage logged = turn.get(i);
            List<AttachedFile> attached = AttachedFile.of(logged.message());
            ChatMessage message = logged.message();
            if (message instanceof UserMessage user) {
                attached.stream()
                        .filter(AttachedFile::isAssistants)
                        .map(AttachedFile::marker)
                        .forEach(made::add);
                message = withContents(
                        user,
                        attached.stream()
                                .filter(file -> !file.isAssistants())
                                .map(file -> contents.apply(file.reference()))
                                .toList());
            } else if (message instanceof AiMessage ai) {
                List<String> markers = new ArrayList<>(i == turn.size() - 1 ? made : List.of());
                attached.forEach(file -> markers.add(file.marker()));
                message = withMarkers(ai, markers);
            }
            boolean same = message == logged.message();
            // The attributes that only this package reads are not passed on.
            long tokens = same ? sizes.of(counter, logged) : sizes.of(counter, message);
            shown.add(new Sized(logged, PendingTurn.withoutMarks(message), same, tokens));
        }
        return shown;
    }

    private static LoggedMessage marked(LoggedMessage logged) {
        List<String> markers = AttachedFile.of(logged.message()).stream()
                .map(AttachedFile::marker)
                .toList();
        ChatMessage message = logged.message();
        if (message instanceof UserMessage user) {
            message = withContents(
                    user, markers.stream().<Content>map(TextContent::from).toList());
        } else if (message instanceof AiMessage ai) {
            message = withMarkers(ai, markers);
        }
        return message == logged.message() ? logged : logged.withMessage(message);
    }

    /**
     * Returns a message with the given contents first. Blank texts are left out, because providers refuse them. If
     * nothing is left, a marker is shown.
     */
    static UserMessage withContents(UserMessage user, List<Content> first) {
        List<Content> contents = new ArrayList<>(first);
        user.contents().stream()
                .filter(content ->
                        !(content instanceof TextContent text && text.text().isBlank()))
                .forEach(contents::add);
        if (contents.isEmpty()) {
            contents.add(NO_TEXT);
        }
        return contents.equals(user.contents())
                ? user
                : user.toBuilder().contents(contents).build();
    }

    private static AiMessage withMarkers(AiMessage ai, List<String> markers) {
        if (markers.isEmpty()) {
            return ai;
        }
        String text = ai.text() == null || ai.text().isBlank() ? "" : "\n" + ai.text();
        return ai.toBuilder().text(String.join("\n", markers) + text).build();
    }

    private static Stream<String> line(ChatMessage message, MemoryConfig.RolePrefix roles) {
        if (message instanceof UserMessage user) {
            String text = user.contents().stream()
                    .map(PromptHistory::plain)
                    .collect(Collectors.joining("\n"))
                    .strip();
            return text.isEmpty() ? Stream.empty() : Stream.of(roles.userName() + ": " + text);
        }
        if (message instanceof AiMessage ai) {
            List<String> parts = new ArrayList<>(Collections.nCopies(ai.images().size(), "[image]"));
            if (ai.text() != null && !ai.text().isBlank()) {
                parts.add(ai.text());
            }
            return parts.isEmpty()
                    ? Stream.empty()
                    : Stream.of(roles.assistantName() + ": " + String.join("\n", parts));
        }
        return Stream.empty();
    }

    private static String plain(Content content) {
        return switch (content.type()) {
            case TEXT -> ((TextContent) content).text();
            case PDF -> "[document]";
            case IMAGE, AUDIO, VIDEO -> "[" + content.type().name().toLowerCase(Locale.ROOT) + "]";
        };
    }
}
