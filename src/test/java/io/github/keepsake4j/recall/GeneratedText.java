package io.github.keepsake4j.recall;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Sentences of made-up words whose frequencies are those of a language: the n-th word is n times as rare as the first. */
final class GeneratedText {

    private static final String[] ONSETS = {
        "b", "br", "ch", "d", "f", "fl", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "tr", "v",
        "w"
    };
    private static final String[] NUCLEI = {"a", "e", "i", "o", "u", "ai", "ea", "ou"};
    private static final String[] CODAS = {"", "", "n", "r", "s", "t", "l", "ck", "nd", "rm"};

    private final Random random;
    private final List<String> words;
    private final double[] sums;

    GeneratedText(long seed, int vocabulary) {
        Random made = new Random(17);
        Set<String> distinct = new LinkedHashSet<>();
        while (distinct.size() < vocabulary) {
            StringBuilder word = new StringBuilder();
            for (int i = 1 + made.nextInt(4); i > 0; i--) {
                word.append(any(made, ONSETS)).append(any(made, NUCLEI)).append(any(made, CODAS));
            }
            distinct.add(word.toString());
        }
        words = new ArrayList<>(distinct);
        sums = new double[vocabulary];
        double sum = 0;
        for (int i = 0; i < vocabulary; i++) {
            sum += 1.0 / (i + 1);
            sums[i] = sum;
        }
        random = new Random(seed);
    }

    private static String any(Random random, String[] of) {
        return of[random.nextInt(of.length)];
    }

    String word() {
        double at = random.nextDouble() * sums[sums.length - 1];
        int found = java.util.Arrays.binarySearch(sums, at);
        return words.get(found < 0 ? -found - 1 : found);
    }

    String sentence(int least, int most) {
        StringBuilder text = new StringBuilder();
        for (int i = least + random.nextInt(most - least + 1); i > 0; i--) {
            text.append(word()).append(i == 1 ? "." : " ");
        }
        return text.toString();
    }
}
