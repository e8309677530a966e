package io.github.keepsake4j.cli;

import dev.langchain4j.model.openai.OpenAiChatModel;
import io.github.keepsake4j.summary.Summarizer;

/** The only class that requires langchain4j-open-ai. */
final class OpenAi {

    private OpenAi() {}

    static Summarizer summarizer(String key, String url, String name) {
        return Summarizer.of(OpenAiChatModel.builder()
                .apiKey(key)
                .baseUrl(url)
                .modelName(name)
                .build());
    }
}
