/**
 * Counts tokens with JTokkit, as a LangChain4j {@link dev.langchain4j.model.TokenCountEstimator}. Start with
 * {@link io.github.keepsake4j.tokens.TokenCounter}.
 */
@NullMarked
package io.github.keepsake4j.tokens;

import org.jspecify.annotations.NullMarked;
