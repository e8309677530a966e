/** Token counting with JTokkit, as a LangChain4j {@link dev.langchain4j.model.TokenCountEstimator}. */
@NullMarked
package io.github.keepsake4j.tokens;

import org.jspecify.annotations.NullMarked;
