package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Records its calls, and answers as scripted. */
final class ScriptedSummarizer implements Summarizer {

    /** The texts of each call's messages. */
    final List<List<String>> calls = new CopyOnWriteArrayList<>();

    /** Counted down at the first call. */
    final CountDownLatch asked = new CountDownLatch(1);

    volatile Callable<String> script = () -> "short summary";

    @Override
    public String summarize(@Nullable String previous, List<ChatMessage> messages) {
        List<String> texts = new ArrayList<>();
        messages.forEach(message -> texts.add(((UserMessage) message).singleText()));
        calls.add(texts);
        asked.countDown();
        try {
            return script.call();
        } catch (Exception e) {
            throw ScriptedSummarizer.<RuntimeException>sneaky(e);
        }
    }

    @Override
    public String model() {
        return "scripted";
    }

    List<String> allTexts() {
        return calls.stream().flatMap(List::stream).toList();
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> E sneaky(Exception e) throws E {
        throw (E) e;
    }
}
