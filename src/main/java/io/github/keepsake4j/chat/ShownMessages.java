package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The messages that the model of a turn is shown. The caller guards access. */
final class ShownMessages {

    private final List<Long> shown = new ArrayList<>();
    private List<Long> shortened = List.of();
    private boolean later;
    private long summary;
    private boolean altered;
    private List<String> memories = List.of();

    /** The last request if it differs from the messages that were read. */
    private @Nullable ChatRequest untold;

    /** The messages of the next request, unless other code changes it. */
    private List<ChatMessage> expected = new ArrayList<>();

    /** The sequence numbers of these messages, 0 for a message that is not in the log. */
    private List<Long> places = List.of();

    /** Records a read. */
    void shown(Tail tail, Context context, List<ChatMessage> messages) {
        shown.clear();
        context.logged().forEach(message -> shown.add(message.sequence()));
        Collection<LoggedMessage> replaced = context.originals().values();
        shortened = replaced.stream()
                .filter(stored -> !stored.hasLaterForm())
                .map(LoggedMessage::sequence)
                .sorted()
                .toList();
        later = replaced.stream().anyMatch(LoggedMessage::hasLaterForm);
        places = context.shown().stream().map(LoggedMessage::sequence).toList();
        Summary read = tail.summary();
        summary = context.summary() == null || read == null ? 0 : read.version();
        Remembered remembered = context.remembered();
        memories = remembered == null ? List.of() : remembered.memories();
        expected = new ArrayList<>(messages);
    }

    /** Returns whether the model is shown a message. */
    boolean shows(long sequence) {
        return shown.contains(sequence);
    }

    /** Records that the question was written, which the AI service adds behind the messages that were read. */
    void asked(long sequence, ChatMessage question) {
        shown.add(sequence);
        expected.add(question);
    }

    /** Returns whether a request has exactly the messages that were read, and one more at the end. */
    @SuppressWarnings("ReferenceEquality")
    boolean isFollowedByQuestion(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        int last = messages.size() - 1;
        return !expected.isEmpty()
                && last == expected.size()
                && messages.get(last) instanceof UserMessage
                && IntStream.range(0, last).allMatch(i -> messages.get(i) == expected.get(i));
    }

    /** Returns a request that asks at its end a question that it has before tool rounds, with the question there only. */
    ChatRequest asking(long question, ChatRequest request) {
        int at = places.lastIndexOf(question);
        List<ChatMessage> messages = new ArrayList<>(request.messages());
        ChatMessage asked = messages.remove(messages.size() - 1);
        if (at >= 0) {
            messages.set(at, asked);
        }
        expected = new ArrayList<>(messages);
        return request.toBuilder().messages(messages).build();
    }

    /**
     * Compares a request with the messages that were read.
     *
     * @param otherwise whether the question is sent in another form than the stored one
     */
    void requested(ChatRequest request, boolean otherwise) {
        altered = otherwise || !request.messages().equals(expected);
        expected = new ArrayList<>();
        // Shortened messages cannot be derived from the stored ones either.
        untold = altered || !shortened.isEmpty() ? request : null;
    }

    /** Returns the last request if it differs from the messages that were read, or null. */
    @Nullable
    ChatRequest untold() {
        return untold;
    }

    /** Returns the sources of the answer to the last request, or null if nothing was read. */
    @Nullable
    Seen seen() {
        return shown.isEmpty() ? null : new Seen(Seen.ranges(shown), shortened, summary, altered, memories, later);
    }
}
