package io.github.keepsake4j.samples.scripted;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The words that the scripted model knows, and how near one is to what was said. */
final class Vocabulary {

    private record Topic(Set<String> asks, Set<String> tells) {}

    /** Whom one knows. */
    static final String PERSON = "(?:brother|sister|son|daughter|child|husband|wife|partner|girlfriend|boyfriend|friend"
            + "|m[uo]m|mother|dad|father|uncle|aunt|cousin|gran\\p{L}+|boss|colleague|neighbou?r|teacher|dog|cat|horse|rabbit)";

    static final String NUMBER = "(?:\\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)";

    private static final Pattern WORD = Clause.pattern("(\\p{L}+|\\d{2,})(?:'s)?");
    private static final Pattern ENDING = Clause.pattern("(?<=\\p{L}{3})(?:ing|ied|ies|ed|es|er|ic|e|s|y)+$");

    private static final Map<String, String> IRREGULAR =
            Clause.pairs("bought=buy,went=go,ate=eat,saw=see,met=meet,made=make,"
                    + "wrote=write,drove=drive,drank=drink,broke=break,sold=sell,lost=lose,found=find,grew=grow"
                    // What one hates, one dislikes, and where one lived, one does not live.
                    + ",hate=dislike,hates=dislike,lived=formerly");

    /** What is told by the form of a clause, and the word that asks for it. */
    private static final Map<Pattern, String> FORMS = Map.of(
            Clause.pattern("^(?:you are|[^,]+ is) (?:\\p{L}+, )?an? "),
            "job",
            Clause.pattern("\\b(?:\\d+|\\p{L}+)[ -](?:year|month|week|day)s?[ -]old\\b" + "|\\b(?:is|are) " + NUMBER
                    + "(?=$|,| (?:and|now)\\b)"),
            "age",
            Clause.FEELS,
            "feel mood",
            Clause.pattern("\\b(?:used to live|moved from)\\b"),
            "formerly",
            Clause.pattern("\\bmoved (?:\\p{L}+ ){0,3}?to\\b"),
            "live",
            Clause.pattern("\\b(?:do(?:es)?(?:n't| not)|can(?:'t|not)) " + Clause.LIKE),
            "dislike");

    /** Words that ask for something, and words that tell it. The first are of what each person has. */
    private static final List<Topic> TOPICS = Stream.of(
                    "name call surname = name call",
                    "where live home address city town country = live home from move born",
                    "age = age birthday born turn",
                    "birthday = birthday born",
                    "job work profession = job work company teach study",
                    "like enjoy = like love enjoy favourite",
                    "dislike = dislike",
                    "formerly = formerly",
                    "when = birthday born",
                    "hobby = hobby like love enjoy play collect",
                    "pet animal = dog cat horse rabbit hamster bird fish tortoise",
                    "sibling = brother sister",
                    "child children kid = child children kid son daughter",
                    "husband wife partner married = husband wife partner married girlfriend boyfriend",
                    "mum mother parent = mum mother",
                    "dad father parent = dad father",
                    "family = wife husband son daughter brother sister mother father mum dad",
                    "eat food = eat food vegetarian vegan",
                    "drink = drink tea coffee",
                    "instrument music = piano guitar violin flute drum cello",
                    "sport = football tennis basketball swim run hike climb",
                    "study learn = student study learn",
                    "car = drive",
                    "hear = deaf",
                    "see = blind",
                    "afraid fear = afraid fear scared")
            .map(line -> line.split("="))
            .map(topic -> new Topic(words(topic[0]), words(topic[1])))
            .toList();

    /** Words that say nothing of what is asked. */
    static final Set<String> EMPTY = words("a an the is are am was were do does did i you me my your we our myself it "
            + "that this there have has had of in on at to for and or with what who whose how which can could will would "
            + "should tell remind say said told know remember think about please much many any some now still again all "
            + "everything anything else thing already list repeat guess t got as");

    private static final String BESIDE =
            "favourite favorite best old new big small little good nice well when where full first last";

    /** Words that say something of what is asked only beside another one: not all that is old is the old thing. */
    static final Set<String> QUALIFIERS = words(BESIDE);

    /** Any number of qualifiers before a word. */
    static final String QUALIFIED = "(?:(?:" + BESIDE.replace(' ', '|') + ") )*";

    /** What one is, and is not called. */
    static final String STATE =
            "(?:vegetarian|vegan|married|single|engaged|divorced|retired|pregnant|deaf|blind|allergic"
                    + "|diabetic|tall|short|afraid|scared|unemployed|\\p{L}{3,}(?:ous|ful|less|able|ible))";

    static final Set<String> NAME = TOPICS.get(0).asks;

    /** Words that ask for what each person has, but for the name: its answer need not say that it tells a name. */
    static final Set<String> PROPERTIES =
            TOPICS.subList(1, 8).stream().flatMap(topic -> topic.asks.stream()).collect(Collectors.toSet());

    /** All words for what each person has. */
    static final Set<String> OWN = TOPICS.subList(0, 5).stream()
            .flatMap(topic -> Stream.of(topic.asks, topic.tells))
            .flatMap(Set::stream)
            .collect(Collectors.toSet());

    /** What one likes or dislikes: one answers whether one does the other. */
    static final Set<String> TASTES = words("like love dislike");

    private Vocabulary() {}

    /** Returns the words of a text without their endings, so that "lives" is "living". */
    static Set<String> words(String text) {
        return WORD.matcher(Clause.spelled(text))
                .results()
                .map(found -> ENDING.matcher(IRREGULAR.getOrDefault(found.group(1), found.group(1)))
                        .replaceFirst(""))
                .collect(Collectors.toCollection(HashSet::new));
    }

    /** Returns the words of a clause, and those that its form tells: "I am a baker" tells a job, by no word of its own. */
    static Set<String> told(String clause) {
        Set<String> told = words(clause);
        FORMS.entrySet().stream()
                .filter(form -> form.getKey().matcher(clause).find())
                .forEach(form -> told.addAll(words(form.getValue())));
        return told;
    }

    /** Returns 0 if nothing of it is told. A word of the same topic counts little, and so does a name, which all things have. */
    static int closeness(String word, Set<String> told) {
        boolean isNear = TOPICS.stream()
                .anyMatch(topic -> topic.asks.contains(word) && !Collections.disjoint(topic.tells, told));
        return told.contains(word) ? (NAME.contains(word) ? 4 : 10) : isNear ? 2 : 0;
    }

    static int closeness(Set<String> words, Set<String> told) {
        return words.stream().mapToInt(word -> closeness(word, told)).sum();
    }

    @SafeVarargs
    static Set<String> without(Set<String> words, Set<String>... others) {
        Set<String> rest = new HashSet<>(words);
        Stream.of(others).forEach(rest::removeAll);
        return rest;
    }
}
