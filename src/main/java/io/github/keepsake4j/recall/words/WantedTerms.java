package io.github.keepsake4j.recall.words;

import java.util.Collection;
import java.util.Set;

/** The terms to find in texts. Immutable. */
public final class WantedTerms {

    private static final int BITS = 12;

    private final Set<String> terms;
    private final long[] filter = new long[1 << (BITS - 6)];

    private WantedTerms(Collection<String> terms) {
        this.terms = Set.copyOf(terms);
        for (String term : terms) {
            int place = place(term.hashCode());
            filter[place >>> 6] |= 1L << place;
        }
    }

    /**
     * Returns terms to look for.
     *
     * @param terms the terms as {@link Words} make them
     * @return the terms
     */
    public static WantedTerms of(Collection<String> terms) {
        return new WantedTerms(terms);
    }

    /** Returns false if no term has this hash code. May rarely return true although no term has it. */
    boolean mayHave(int hash) {
        int place = place(hash);
        return ((filter[place >>> 6] >>> place) & 1) == 1;
    }

    boolean has(String term) {
        return mayHave(term.hashCode()) && terms.contains(term);
    }

    private static int place(int hash) {
        return (hash * 0x9E3779B9) >>> (32 - BITS);
    }
}
