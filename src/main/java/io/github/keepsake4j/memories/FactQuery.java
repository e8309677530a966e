package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A query for facts.
 *
 * @param keywords words, phrases or whole sentences; a fact must match one of them; only the first
 * {@value #MAX_KEYWORDS} are used
 * @param limit the largest number of facts, 1 to {@value #MAX_LIMIT}
 * @param leastTrust the least trust that a fact must have
 */
public record FactQuery(List<String> keywords, int limit, Trust leastTrust) {

    /** The number of keywords that count. */
    public static final int MAX_KEYWORDS = 60;

    /** The largest number of facts. */
    public static final int MAX_LIMIT = 1_000;

    /** The number of facts if the caller sets none. */
    public static final int DEFAULT_LIMIT = 5;

    /**
     * Removes blank keywords.
     *
     * @throws InvalidInputException if the limit is out of range
     */
    public FactQuery {
        keywords = keywords.stream()
                .map(String::strip)
                .filter(keyword -> !keyword.isEmpty())
                .distinct()
                .limit(MAX_KEYWORDS)
                .toList();
        InvalidInputException.checkRange("limit", 1, MAX_LIMIT, limit);
        Objects.requireNonNull(leastTrust, "leastTrust");
    }

    /**
     * Creates a query for up to {@value #DEFAULT_LIMIT} facts of any trust.
     *
     * @param text keywords separated by semicolons, or a sentence
     * @return the query
     */
    public static FactQuery of(String text) {
        return new FactQuery(Arrays.asList(text.split(";", -1)), DEFAULT_LIMIT, Trust.RETRIEVED);
    }

    /** Leaves out the keywords, so that the result may be logged. */
    @Override
    public String toString() {
        return "FactQuery[keywords=" + keywords.size() + ", limit=" + limit + ", leastTrust=" + leastTrust + "]";
    }
}
