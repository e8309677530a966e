package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.summary.Summarizer;

/** The model that writes summaries, as the usual variables of the environment name it. */
final class Model {

    /** For actions that only read summaries. */
    static final Summarizer NOT_CALLED = (previous, messages) -> {
        throw new IllegalStateException("this action calls no model");
    };

    private Model() {}

    static Summarizer summarizer(Host.Environment environment) {
        String key = environment.get("OPENAI_API_KEY");
        String url = environment.get("OPENAI_BASE_URL");
        String name = environment.get("OPENAI_MODEL");
        if (key == null && url == null) {
            throw new InvalidInputException(
                    "OPENAI_API_KEY",
                    "is required, because a model writes the summary; OPENAI_BASE_URL and OPENAI_MODEL select another"
                            + " endpoint and model");
        }
        Library.require(Library.OPEN_AI);
        return OpenAi.summarizer(
                key == null ? "none" : key,
                url == null ? "https://api.openai.com/v1" : url,
                name == null ? "gpt-4o-mini" : name);
    }
}
