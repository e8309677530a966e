package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.Token;
import io.github.keepsake4j.recall.words.Words.Token.Kind;
import io.github.keepsake4j.recall.words.Words.WantedTerms;
import java.text.Normalizer;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A question of a recall.
 *
 * @param units the words, without stop words and without the names of the speakers
 * @param speaker the one speaker that is named, or null if none or several are named
 * @param dates the dates that are named
 * @param folded its words in lower case, by which the same question is known, and those of what was said before it
 * @param asksAssistant whether it asks what an assistant said
 * @param onlyTime whether the question asks what was said at the time that it names, and for nothing else
 * @param followsUp whether what it is about was said before it: it has no word for it, or a pronoun
 * @param split what is known of it whoever speaks
 */
record Question(
        List<Unit> units,
        @Nullable String speaker,
        NamedDates dates,
        Set<String> folded,
        boolean asksAssistant,
        boolean onlyTime,
        boolean followsUp,
        Split split) {

    /** The largest number of terms of a question. The words of a longer one are left out from its end. */
    static final int MAX_TERMS = MessageIndex.MAX_TERMS;

    /** The number of UTF-16 code units of a question from which terms are made. */
    static final int MAX_LENGTH = 20_000;

    private static final Pattern NOT_FOLDED = Pattern.compile("[^\\p{L}\\p{M}\\p{N}]+");

    private static final int MAX_PUNCTUATION = 10;

    /** Words with which something is asked for. They say as little as the stop words. */
    private static final Set<String> ASKING = Set.of(
            ("tell told say said saying talk talked talking chat chats chatted chatting speak spoke discuss discussed "
                            + "discussing discussion discussions conversation conversations message messages write wrote ask "
                            + "asked mention mentioned summarize summarise summary recap happen happened remember recall topic "
                            + "topics thing things show list give find look please everything anything something day week month "
                            + "sagen gesagt sagte erzählen erzählt erzählte reden geredet sprechen gesprochen sprachen besprechen "
                            + "besprochen unterhalten schreiben geschrieben schrieb fragen gefragt fragte erwähnt passiert "
                            + "passierte geschah los gemacht gespräch gespräche unterhaltung nachricht nachrichten "
                            + "zusammenfassung fasse fass zusammen zeig zeige gib bitte warum wieso weshalb thema themen worüber wovon tag woche "
                            + "monat")
                    .split(" "));

    private static final String ASKING_CHARACTERS = "我你您他她它们咱俩的了过是在有什么啥呢吗哪些都跟和与给把对那这天聊谈说讲问答告诉提到总结一下话内容情事发生做干关于回顾请想知道记得";

    /**
     * One word. A text has the word if it has one of its stems. It has the word in part if it has most of its parts.
     *
     * @param written the word as it is in the question
     * @param stems the terms that each mean the word
     * @param parts the terms that mean it together
     * @param beginning the term of its first two letters; empty if it has none
     */
    record Unit(String written, Set<String> stems, Set<String> parts, String beginning, boolean ofDate) {

        /** The least share of a word's parts that a text must have. With a smaller share, it is another word. */
        private static final double FEWEST_PARTS = 0.5;

        /** The number of parts of a word of seven letters. */
        private static final int SHORT_WORD = 4;

        /** The weight of all parts, relative to 1 for a stem. */
        private static final double ALL_PARTS = 0.7;

        /** Returns how much of this word a text has, 0 to 1. */
        double in(Set<String> terms) {
            for (String stem : stems) {
                if (terms.contains(stem)) {
                    return 1;
                }
            }
            if (parts.isEmpty() || terms.isEmpty()) {
                return 0;
            }
            double share = (double) parts.stream().filter(terms::contains).count() / parts.size();
            return share < FEWEST_PARTS ? 0 : ALL_PARTS * share;
        }

        /**
         * Returns whether a text may have another form or spelling of this word: a word that begins with the same two
         * letters, and one of the parts, or two parts of a long word.
         */
        private boolean isLike(Set<String> terms, Set<String> beginnings) {
            if (stems.stream().anyMatch(terms::contains)) {
                return true;
            }
            int fewest = parts.size() <= SHORT_WORD ? 1 : 2;
            return beginnings.contains(beginning)
                    && parts.stream().filter(terms::contains).limit(fewest).count() == fewest;
        }

        /** Returns how often a text has this word. */
        double in(Map<String, Integer> terms) {
            int most = 0;
            for (String stem : stems) {
                most = Math.max(most, terms.getOrDefault(stem, 0));
            }
            return most > 0 ? most : in(terms.keySet());
        }

        /** Returns the weight of this word. */
        double idf(Matches statistics) {
            long stem = stems.stream().mapToLong(statistics::frequency).max().orElse(0);
            long whole = parts.stream().mapToLong(statistics::frequency).min().orElse(0);
            return Bm25.idf(Math.max(stem, whole), statistics.messages());
        }
    }

    /**
     * A question of which the speakers are not known yet.
     *
     * @param alone the question
     * @param text the same, and what was said before it
     * @param tokens the terms
     * @param beginnings the beginnings of the words, by their places
     * @param dates the dates that are named
     * @param folded the question, and what was said before it, each in lower case
     * @param asksAssistant whether it asks what an assistant said
     */
    record Split(
            String alone,
            String text,
            List<Token> tokens,
            Map<Integer, String> beginnings,
            NamedDates dates,
            Set<String> folded,
            boolean asksAssistant) {

        /** Returns the question among speakers, whose names say nothing in it. */
        Question by(Collection<String> speakers) {
            Named named = new Named(speakers);
            boolean onlyTime = !dates.occasions().isEmpty()
                    && tokens.stream().allMatch(token -> dates.covers(token.start()) || isAsking(text, token, named));
            // Of a question about a time alone, only the date itself may be the text of a message.
            List<Token> written = tokens.stream()
                    .filter(token -> !onlyTime || dates.covers(token.start()))
                    .toList();
            List<Unit> all = units(written, named, onlyTime);
            List<Unit> units = all.stream()
                    .filter(unit -> onlyTime || !isAsking(unit.written()))
                    .toList();
            if (units.isEmpty()) {
                units = all.isEmpty() ? units(written, named, true) : all;
            }
            Set<Integer> places = written.stream()
                    .filter(token -> token.kind() != Kind.PART)
                    .map(Token::start)
                    .collect(Collectors.toSet());
            return new Question(
                    units,
                    named.only(),
                    dates,
                    places.size() > 1 && !onlyTime ? folded : Set.of(),
                    asksAssistant,
                    onlyTime,
                    !onlyTime && followsUp(named),
                    this);
        }

        private boolean followsUp(Named named) {
            List<Token> saying = tokens.stream()
                    .filter(token -> token.end() <= alone.length() && !isAsking(text, token, named))
                    .toList();
            return (saying.isEmpty() && !tokens.isEmpty())
                    || (Pronouns.refersBack(alone)
                            // A name, or in German any noun. The first word always has a capital letter.
                            && saying.stream()
                                    .noneMatch(token -> token.start() > 0
                                            && Character.isUpperCase(text.codePointAt(token.start()))));
        }

        private List<Unit> units(List<Token> tokens, Named named, boolean stopWords) {
            Map<String, Unit> units = new LinkedHashMap<>();
            Set<String> terms = new HashSet<>();
            for (int i = 0; i < tokens.size(); ) {
                Token first = tokens.get(i);
                String written = text.substring(first.start(), first.end());
                String beginning = beginnings.getOrDefault(first.start(), "");
                boolean ofDate = dates.isNamed(first.start(), first.end());
                Unit unit = new Unit(written, new LinkedHashSet<>(), new LinkedHashSet<>(), beginning, ofDate);
                unit.stems().add(first.term());
                i++;
                while (i < tokens.size() && isOfOneWord(first, tokens.get(i))) {
                    Token token = tokens.get(i++);
                    (token.kind() == Kind.PART ? unit.parts() : unit.stems()).add(token.term());
                }
                boolean name = named.heard(written);
                boolean says = !name && (stopWords || first.kind() != Kind.STOP_WORD);
                String stem = unit.stems().iterator().next();
                if (!says || units.containsKey(stem)) {
                    continue;
                }
                terms.addAll(unit.stems());
                terms.addAll(unit.parts());
                if (terms.size() > MAX_TERMS) {
                    break;
                }
                units.put(stem, unit);
            }
            return new ArrayList<>(units.values());
        }
    }

    /**
     * Splits a question.
     *
     * @param text the question
     * @param before what was said before it and is asked for too, or nothing
     * @param speakers the names of the speakers, and the roles
     * @param words the splitter
     * @param today the day on which it is asked
     * @return the question
     */
    static Question of(String text, String before, Collection<String> speakers, Words words, LocalDate today) {
        String whole = before.isEmpty() ? text : text + "\n" + before;
        String used = whole.substring(0, Math.min(whole.length(), MAX_LENGTH));
        Map<Integer, String> beginnings = new HashMap<>();
        words.beginnings(used).forEach(token -> beginnings.putIfAbsent(token.start(), token.term()));
        return new Split(
                        text,
                        used,
                        words.tokens(used),
                        beginnings,
                        // A date in what was said before is of another day.
                        NamedDates.in(text, today),
                        Stream.of(folded(text), folded(before)).collect(Collectors.toSet()),
                        Pronouns.asksAssistant(text))
                .by(speakers);
    }

    private static boolean isAsking(String text, Token token, Named named) {
        String written = text.substring(token.start(), token.end());
        boolean name = token.kind() != Kind.PART && named.heard(written);
        return switch (token.kind()) {
            case WORD, CHARACTERS -> name || isAsking(written);
            // They are parts of words.
            case STOP_WORD, PART, BEGINNING -> true;
        };
    }

    private static boolean isAsking(String word) {
        return ASKING.contains(word.toLowerCase(Locale.ROOT))
                || word.chars().allMatch(c -> ASKING_CHARACTERS.indexOf(c) >= 0);
    }

    private static String folded(String text) {
        String used = text.substring(0, Math.min(text.length(), MAX_LENGTH));
        return NOT_FOLDED
                .matcher(Normalizer.normalize(used, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT))
                .replaceAll(" ")
                .strip();
    }

    private static boolean isOfOneWord(Token first, Token token) {
        boolean inside = token.start() >= first.start() && token.end() <= first.end();
        return inside && first.kind() != Kind.CHARACTERS && token.kind() != Kind.CHARACTERS;
    }

    /**
     * Returns whether a text is this question, or what was said before it, except for case and punctuation. It is the
     * best match for the words, and for their meaning too, but does not answer the question.
     */
    boolean isRepeatedBy(String text) {
        // A longer text has more than other punctuation.
        return folded.stream()
                .anyMatch(known -> !known.isEmpty()
                        && text.length() <= 2 * known.length() + MAX_PUNCTUATION
                        && folded(text).equals(known));
    }

    /**
     * Returns whether a text may have other forms or spellings of half of the words.
     *
     * @param terms the terms of the text
     * @param text the text
     * @param words the splitter
     */
    boolean isLike(Set<String> terms, String text, Words words) {
        WantedTerms wanted = WantedTerms.of(units.stream().map(Unit::beginning).collect(Collectors.toSet()));
        Set<String> beginnings =
                words.beginnings(text, wanted).stream().map(Token::term).collect(Collectors.toSet());
        long like =
                units.stream().filter(unit -> unit.isLike(terms, beginnings)).count();
        return 2 * like >= units.size();
    }

    /** Returns the terms to look up, at most {@link #MAX_TERMS}. */
    Set<String> terms() {
        return units.stream()
                .flatMap(unit -> Stream.concat(unit.stems().stream(), unit.parts().stream()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
