package io.github.keepsake4j.samples.scripted;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A part of a message that says or asks one thing.
 *
 * @param text the part; a statement is turned to its speaker, so that "I like my tea" is "you like your tea"
 * @param isQuestion whether it asks something
 * @param isPersonal whether its speaker talks of himself, or of a person or a thing by name or as one that is known
 */
record Clause(String text, boolean isQuestion, boolean isPersonal) {

    /** How a question begins. "When I was young" begins none. */
    private static final String ASKS = "(?:what|where|who|whose|when|how|why|which)(?! (?:I|we|my) )(?: \\p{L}+){0,2}? "
            + "(?:is|are|am|do|does|did|was|were|have|has|can|should|will|would)\\b"
            + "|(?:do|does|did|is|are|am|was|can|could|will|would|have|has) (?:I|you|my|we|our|your|it|the|there|any)\\b"
            + "|(?:tell|remind) me\\b(?! to\\b)|(?:list|repeat|guess)\\b";

    private static final String VERBS =
            "(?:is|are|was|were|has|have|likes?|loves?|lives?|works?|plays?|hates?|wants?|needs?"
                    + "|speaks?|eats?|drinks?|study|studies|teach|teaches|had|moved"
                    + "|lived|worked|bought|sold|went|got|became|came|died|married|owns?|drives?|knows?|collects?)\\b";

    /** How a speaker begins to talk of himself, or goes on to talk of another. */
    private static final String SAYS = "I\\b|we \\p{L}+|(?:please |you can |just )*call me\\b"
            + "|(?:my|our) [^,.]*?(?:'s\\b|\\b" + VERBS + ")|(?:he|she|they) " + VERBS;

    /** What one does not, or cannot, with what one dislikes. */
    static final String LIKE = "(?:really )?(?:like|love|enjoy|stand|bear)\\b";

    private static final Pattern QUESTION = pattern("^(?:" + ASKS + ")|\\?\\s*$");
    private static final Pattern PERSONAL = pattern("\\b(?:I|me|my|mine|myself|we|our|ours)\\b"
            + "|^(?:(?:the|his|her|their|its) \\p{L}+|he|she|they) .*\\p{L}"
            + "|^(?!(?:it|this|that|there|here|today|what)\\b)(?-i:\\p{Lu})\\p{L}+"
            + "(?:'s \\p{L}|(?: and (?-i:\\p{Lu})\\p{L}+)* " + VERBS + ")");

    /** What has one value at a time: the newest. "My dog is Rex" says something else than "My dog is brown". */
    private static final Pattern ONE =
            pattern("^(?:you|your [^,]*?) lives? in\\b|^you are called\\b|^you are (?=\\d+ years)"
                    + "|^(?:your|the|\\p{L}+'s) "
                    + "(?:[^,]*\\b(?:favou?rite\\b[^,]*?|name|age|birthday|job|address)) (?:is|are)\\b"
                    + "|^(?:your|the) [^,]*? (?:is|are) (?:(?:an?|the|in|at|on|from|called|named)\\b)?");

    /** How a speaker feels. "I am good at chess" does not tell that. */
    static final Pattern FEELS = pattern("^you (?:are|feel)(?: (?:so|very|really|quite|just|still|not|a bit))*"
            + " (?:feeling )?(?:tired|hungry|thirsty|happy|sad|angry|sick|ill|well|fine|ok|okay|good|great|bored|sleepy"
            + "|stressed|excited|nervous|lonely|cold|worried|exhausted|better|worse|scared|busy)"
            + "(?=$|,| (?:and|but|today|now|because|about|again)\\b)");

    /** What a capital letter begins, and is no name. */
    private static final String NO_NAME = "(?:German|French|Dutch|Swiss|Greek|American|Italian|Indian|Russian|Canadian"
            + "|Australian|Austrian|Belgian|Brazilian|Mexican|Catholic|Muslim|Hindu|\\p{L}+(?:ish|ese))\\b";

    /** How a speaker tells his name. "I am tired" tells none. */
    static final Pattern NAMED = pattern("^(?:(?:your name is|you are called)\\b|you are (?:Dr\\.? )?(?-i:(?!" + NO_NAME
            + ")\\p{Lu}[\\p{L}-]+(?=$|,| from | \\p{Lu})))");

    /** What has one value at a time, although it is told in several ways, and what all of them are read as. */
    private static final Map<Pattern, String> SLOTS = Map.of(
            NAMED,
            "name",
            FEELS,
            "feeling",
            pattern("^(you|your [^,]*?) (?:lives? in|(?:(?:have|has|just) )*moved (?:\\p{L}+ ){0,3}?to)\\b"),
            "$1 live");

    /** What is so no more: "You do not live in Paris anymore", with its subject, its verb and its last word. */
    private static final Pattern NO_MORE =
            pattern("^(you|your \\p{L}+|\\p{L}+) (?=.*(?:\\bnot|n't|\\bno longer|\\bused to) )"
                    + "(?:(?:do(?:es)?(?:n't| not)|no longer|used to) )?(\\p{L}+?)s?(?:n't| not| no longer)? "
                    + "(?:.*? )?(\\S+?)(?: any ?(?:more|longer))?$");

    private static final String POLITE =
            "^(?:(?:please|just|now|(?:can|could|will|would) you|I (?:want|need) you to)[ ,]+)*";

    /** What a script is told to forget. */
    static final Pattern ERASES = pattern("(?:" + POLITE + "|^how (?:do|can|could) (?:I|you|we) )"
            + "(?:forget|delete|erase|clear|reset|remove|wipe)\\b");

    /** What a script is told to do, and cannot. */
    static final Pattern DEMANDS = pattern(
            POLITE + "(?!.* (?:is|are|was) )(?:summari[sz]e|translate|write|sing|draw|make|play|search|find|open"
                    + "|show|give|explain|calculate|set|send|book|add|change|update|buy|read|sort|count|stop|start|run"
                    + "|turn|order|pass|check|call (?!me\\b)|help me (?:with|to)|remind me (?:at|on|in|every|later|tomorrow)"
                    + "|(?:tell|say)(?: me)? (?:an?|some|something|more|hello|hi)\\b|let's)\\b");

    /** Whom a speaker talks of, and how he goes on to talk of him. */
    private static final Pattern KNOWN =
            pattern("\\b(?:your|my|you have(?: got)? an?) ((?:best |old |little |big )?" + Vocabulary.PERSON + ")\\b");

    private static final Pattern MEANT = pattern("^you meant? (.+)");
    private static final Pattern COUNT = pattern("^you have " + Vocabulary.NUMBER + "\\b");

    /** Whom "My cat's name is Byte, not Pixel" is about, and the old value. */
    private static final Pattern CORRECTED = pattern("^(\\S+ \\S+) .*, not ([^,]+)$");

    /**
     * A sentence ends at its mark or its line, and a clause before a comma or an "and" behind which another one begins,
     * but not in "My sister and I".
     */
    private static final Pattern END =
            pattern("\\n|(?<=[.!?;])(?<!\\b(?:St|Dr|Mr|Mrs|e\\.g|i\\.e)\\.|[ap]\\.m\\.(?=\\s(?-i:\\p{Ll})))\\s+"
                    + "|(?<=\\p{Ll}{2}[!?,;])(?=\\p{L})"
                    + "|(?:\\s*[,:–-]+\\s*(?:(?:and|but|so|also|now) )*"
                    + "|(?<!(?:^|[.!?\\n] ?)(?:my|our) \\p{L}{1,20})\\s+(?:(?:and|but|so|also|now) )+)(?=(?:" + ASKS
                    + ")[^.!?]*\\?|" + SAYS + ")");

    private static final String GREETINGS = "hi|hello|hey|hallo|good (?:morning|day|evening)";
    private static final String NAME = "(?-i:(\\p{Lu}\\p{L}+))";

    /** How a speaker tells his name without a verb: "This is Marta", "Marta here", "Marta, 29" or "Marta, from Ghent". */
    private static final Pattern INTRODUCED = pattern("^((?:(?:" + GREETINGS + ")\\b[\\s,.!]*)?)(?:(?:this is|it's) "
            + NAME + "(?: here| speaking)?(?= from |[,.!]|$)|" + NAME + " (?:here|speaking)\\b|" + NAME
            + "(?=,? from |, \\d))");

    /** What may come before, also the date and the speaker of a recalled message. */
    private static final Pattern FILLER = pattern(
            "^(?:(?:\\[[^\\]]*\\]|\\b(?:" + GREETINGS + "|ok|okay|well|yes|no|so|and|but|also|actually|sorry|wait"
                    + "|now|currently|btw|you know|oh|hm+|um+|oops|please|by the way"
                    + "|(?:don't forget|do not forget|remember|note|save)(?: that)?"
                    + "|you should know(?: that)?)\\b)[\\s,.:!-]*)++");

    private static final Pattern MARKS_AT_END = pattern(
            "(?:[\\s.,;:!?-]|[:;]-?[()DP]|[\\s,]+(?:please|remember(?: that)?|by the way|btw|thanks?(?: you)?))+$");

    /** What is written in several ways, and how the script reads it. */
    private static final List<Map.Entry<Pattern, String>> READ_AS = List.of(
            Map.entry(pattern("[’‘`´]"), "'"),
            Map.entry(pattern("\\bI ?'?a?m\\b"), "I am"),
            Map.entry(pattern("^(?:no|sorry|oops|actually|wait)\\b.*?\\b(?:it is|it's|I meant?)\\s+"), "I mean "),
            Map.entry(INTRODUCED, "$1I am called $2$3$4"),
            Map.entry(
                    pattern("(?<=^.{0,20}I am called \\p{L}{1,20})(?:,| and)? (?-i:(?=from \\p{Lu}|\\d{1,3}\\b))"),
                    ", I am "),
            Map.entry(pattern("^(?:(?:my|the) )?name(?: is)? (?-i:(?=\\p{Lu}))"), "my name is "),
            Map.entry(pattern("\\b(I|we|they)'?ve\\b"), "$1 have"),
            Map.entry(pattern("\\b(we|they)'re\\b"), "$1 are"),
            Map.entry(
                    pattern("^(?:can|could|will|would) you (?:please )?(?:remember|note|save) that ([^?]*)\\?*"), "$1"),
            Map.entry(pattern("\\be-?mail address\\b"), "email"),
            Map.entry(pattern("^how am I(?: doing)?(?=(?: today| now)?\\W*$)"), "how do I feel"),
            Map.entry(pattern("^(?:show|give) me (?=what|my|all|every)"), "tell me "),
            Map.entry(pattern("^(?:please )?remind me to\\b"), "I have to"),
            Map.entry(pattern("\\b(what|where|who|when|how|name)(?:'s|(?<!name)s)\\b"), "$1 is"),
            Map.entry(pattern("\\b(s?he)'s (?=got\\b|been\\b)"), "$1 has "),
            Map.entry(pattern("\\b(s?he)'s\\b"), "$1 is"),
            Map.entry(
                    pattern("^(?=.*(?:n't|not|'t)\\b)((?:what|who|which)\\b.*?) "
                            + "(?:do|does|can)(?:n't|not|'t)? (.*?)(?: not)? " + LIKE),
                    "$1 do $2 dislike"),
            Map.entry(pattern("^(where did .*?) (?:used? to )?live\\b(?: before\\b.*)?"), "$1 formerly"),
            Map.entry(pattern("^(what do(?:es)? .+ do)(?=\\W*$)"), "$1 as my job"),
            Map.entry(pattern("\\bfor a living\\b"), "as my job"),
            Map.entry(pattern("\\bhow old\\b"), "what age"),
            Map.entry(pattern("\\b(am|is|are|lives?) now\\b"), "$1"),
            Map.entry(pattern("^I am (\\d{1,3})(?=$|,|,? and\\b)"), "I am $1 years old"),
            Map.entry(pattern("^(?:please |you can |just )*call me\\b|\\bI go by\\b"), "I am called"));

    /** Words of a speaker, and those of one who answers him. */
    private static final Map<String, String> TURNED = pairs("i am=you are,i was=you were,am=are,i=you,me=you,my=your,"
            + "mine=yours,myself=yourself,we=you,us=you,our=your,ours=yours,you=me,your=my");

    private static final Pattern TURNS = pattern(
            "\\bI (?:am|was)\\b|(?<!\\d ?|[@./])\\b(?:" + String.join("|", TURNED.keySet()) + ")\\b(?!@|\\.\\p{L})");

    /** The words of an answer, and those of the speaker whom it repeats. */
    private static final Map<String, String> BACKED =
            pairs("you are=I am,you were=I was,you=me,your=my,yours=mine,yourself=myself,me=you,my=your");

    private static final Pattern BACK = pattern("\\b(?:you (?:are|were)|you|yours?|yourself|me|my)\\b");
    private static final Pattern I =
            pattern("(?<=^|\\b(?:and|but|that|because|when|if|where) )you (?!(?:are|were)\\b)");

    /** Splits a message. */
    static List<Clause> of(String message) {
        return Arrays.stream(END.split(read(message)))
                .map(part -> FILLER.matcher(read(part)).replaceFirst("").strip())
                .filter(part -> part.matches(".*\\p{L}.*"))
                .map(Clause::clause)
                .filter(clause -> clause.text.contains(" "))
                .toList();
    }

    /** Returns clauses in which "she" is whom the speaker named before, and in which "I mean" corrects the clause before. */
    static List<Clause> resolved(List<Clause> clauses) {
        List<Clause> all = new ArrayList<>();
        String whom = null;
        Clause told = null;
        for (Clause clause : clauses) {
            String text = clause.text;
            if (whom != null) {
                String him = clause.isQuestion ? whom.replaceFirst("^your", "my") : whom;
                String where = clause.isQuestion ? "(?i)\\b" : "(?i)^";
                text = text.replaceAll(where + "(?:his|her)\\b", him + "'s").replaceAll(where + "s?he\\b", him);
            }
            Matcher meant = MEANT.matcher(text);
            Matcher one = ONE.matcher(told == null ? "" : told.text);
            boolean isCorrection = told != null && meant.find();
            if (isCorrection) {
                String value = meant.group(1);
                text = one.find()
                        ? one.group().strip() + " " + value
                        : told.text.replaceFirst(
                                Character.isDigit(value.charAt(0))
                                        ? "\\d[\\d:.]*"
                                        : "(?<= )\\p{Lu}\\p{L}+(?: \\p{Lu}\\p{L}+)*",
                                Matcher.quoteReplacement(value));
            }
            Matcher known = KNOWN.matcher(text);
            if (known.find()) {
                whom = "your " + known.group(1).toLowerCase(Locale.ROOT);
            }
            Clause resolved = new Clause(text, clause.isQuestion, clause.isPersonal);
            if (!clause.isQuestion) {
                if (isCorrection) {
                    all.set(all.lastIndexOf(told), resolved);
                }
                told = resolved;
            }
            all.add(resolved);
        }
        return all;
    }

    /** Returns clauses without those whose value a later one replaces. */
    static List<Clause> newest(List<Clause> clauses) {
        Map<String, Clause> newest = new LinkedHashMap<>();
        for (Clause clause : clauses) {
            Matcher old = CORRECTED.matcher(clause.text);
            if (old.find()) {
                Pattern wrong = pattern("^\\Q%s\\E .*\\b\\Q%s\\E\\b".formatted(old.group(1), old.group(2)));
                newest.values().removeIf(each -> wrong.matcher(each.text).find());
            }
            Matcher gone = NO_MORE.matcher(clause.text);
            if (gone.find()) {
                String verb = gone.group(2).replaceFirst("^live$", "(?:live|(?:(?:have|has|just) )*moved)") + "s?";
                Pattern so = pattern("^" + gone.group(1) + " " + verb + " .*"
                        + (gone.group(3).equals("there") ? "" : "\\b" + Pattern.quote(gone.group(3)) + "$"));
                newest.values().removeIf(each -> so.matcher(each.text).find());
            }
            newest.remove(clause.subject());
            newest.put(clause.subject(), clause);
        }
        return List.copyOf(newest.values());
    }

    /** Returns what it gives a value to, with the kind of the value by its first letter or digit. */
    private String subject() {
        String about = about();
        boolean isKindOpen = about.endsWith(" ") && about.length() < text.length();
        return COUNT.matcher(spelled(about)).replaceFirst("you have some")
                + (isKindOpen ? Character.getType(text.charAt(about.length())) : "");
    }

    private String about() {
        for (Map.Entry<Pattern, String> slot : SLOTS.entrySet()) {
            Matcher told = slot.getKey().matcher(text);
            if (told.find()) {
                return slot.getKey().matcher(told.group()).replaceFirst(slot.getValue());
            }
        }
        Matcher one = ONE.matcher(text);
        return one.find() ? one.group() : text;
    }

    /** Returns what a later clause gives another value to, such as "My favourite colour is", or else all of it. */
    String title() {
        String about = about();
        return about.equals(text) || about.endsWith(" ") ? own() : capital(backed(about));
    }

    /** Returns it as its speaker said it. */
    String own() {
        return capital(backed(text)) + ".";
    }

    private static String backed(String turned) {
        return BACK.matcher(I.matcher(turned).replaceAll("I "))
                .replaceAll(found -> BACKED.get(found.group().toLowerCase(Locale.ROOT)));
    }

    private static Clause clause(String part) {
        String bare = read(MARKS_AT_END.matcher(part).replaceFirst(""));
        String turned =
                TURNS.matcher(bare).replaceAll(found -> TURNED.get(found.group().toLowerCase(Locale.ROOT)));
        boolean asks = QUESTION.matcher(part).find();
        boolean isDemand = ERASES.matcher(bare).find() || DEMANDS.matcher(bare).find();
        return new Clause(
                asks ? bare : turned, asks, !isDemand && PERSONAL.matcher(part).find());
    }

    private static String read(String written) {
        String text = written;
        for (Map.Entry<Pattern, String> form : READ_AS) {
            text = form.getKey().matcher(text).replaceAll(form.getValue());
        }
        return text;
    }

    /** Returns a text in small letters, and "favourite" as "favorite". */
    static String spelled(String text) {
        return text.toLowerCase(Locale.ROOT).replace("our", "or");
    }

    /** Returns what each word or words stand for. */
    static Map<String, String> pairs(String text) {
        return Stream.of(text.split(","))
                .map(words -> words.split("="))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }

    /** Compiles a pattern that takes small and capital letters of all languages as the same. */
    static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CHARACTER_CLASS);
    }

    /** Returns whether it tells what a question can ask for later. */
    boolean isNews() {
        return isPersonal && !isQuestion;
    }

    /** Returns it as a sentence. */
    String sentence() {
        return capital(text) + ".";
    }

    private static String capital(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }
}
