package io.github.keepsake4j.samples.scripted;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.context.Summarization;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A script in the place of a model, without a network. It repeats what the user said, found by the words of a question. It
 * keeps nothing and reads only the user's messages of the request, so it knows what the memory shows it, and no more. The
 * samples share it: none of it is needed with a real model.
 */
public final class ScriptedModel implements ChatModel {

    /** A question as it was asked, or with another name for someone and the clause that tells this name. */
    private record Form(String question, @Nullable Clause naming) {}

    /** What it is. */
    public static final String ABOUT = "I am a script. I only repeat what you told me, as far as the memory shows it.";

    private static final String NOTHING = "I have nothing about that in what the memory showed me.";

    private static final String CUT = "I see only a summary of what came first. ";

    private static final String NOTHING_NEW =
            "All right. Tell me something about yourself, and ask me for it later, also after a restart.";

    private static final String READ = "All right, I have read that.";

    private static final Pattern HELP =
            Clause.pattern("^\\W*help\\b|\\bhelp me\\W*$|\\bwhat (?:can|should) (?:I|you|we) "
                    + "(?:do|say|ask|type|write)(?: here| now| you)?\\W*$|\\bhow (?:does|do) (?:this|it|you) work\\b");

    private static final String HELPS =
            "Tell me something, such as “My sister lives in Ulm.”, and ask for it later, such as "
                    + "“Where does my sister live?”.";

    /** Answers to what tells nothing. */
    private static final List<Map.Entry<Pattern, String>> SMALL_TALK = List.of(
            Map.entry(Clause.ERASES, "I only repeat what you tell me. `conversation.erase()` deletes a conversation."),
            Map.entry(
                    Clause.DEMANDS,
                    "I am a script and cannot do that. Ask “What do you know about me?” to see what I can repeat."),
            Map.entry(HELP, HELPS),
            Map.entry(
                    Clause.pattern("\\b(?:ich|wir|mein\\p{L}*|unser\\p{L}*|je|ik|mijn|me llamo)\\b"),
                    "I understand English only. " + HELPS),
            Map.entry(Clause.pattern("\\byourself\\b"), ABOUT),
            Map.entry(
                    Clause.pattern("^(?:hi|hello|hey|hallo|good (?:morning|day|evening))\\b"),
                    "Hello. Tell me something about yourself, or ask me what you told me."),
            Map.entry(
                    Clause.pattern("\\b(?:bye|goodbye|good night|see you|ciao)\\b"),
                    "Goodbye. Run me again, and ask me what you told me."),
            Map.entry(Clause.pattern("\\b(?:thanks|thank you|thx|cheers)\\b"), "You are welcome."));

    /** What names the user, or might do so: one or two words. */
    private static final List<Predicate<String>> NAMES = List.of(
            Clause.NAMED
                    .asPredicate()
                    .or(Clause.pattern("^your (?:full|first|last) name is|\\bcalls? you\\b")
                            .asPredicate()),
            Clause.pattern("^you are (?!(?:an?|the|my|in|at|on|from|not|very|so|too|really|also|still) )"
                            + "(?!(?:\\p{L}+ )?" + Vocabulary.STATE + "$)\\p{L}+(?: \\p{L}+)?$")
                    .asPredicate()
                    .and(Clause.FEELS.asPredicate().negate()));

    private static final Pattern OF_THE_USER =
            Clause.pattern("\\b(?:I|me|my|mine|myself|we|our)\\b|\\bremember|\\bknow");
    private static final Pattern OF_THE_MODEL = Clause.pattern("\\b(?:you|your)\\b");
    private static final Pattern I = Clause.pattern("\\bI\\b");
    private static final Pattern I_OR_MY = Clause.pattern("\\b(?:I|my)\\b");
    private static final Pattern NOT = Clause.pattern(
            "\\b(?:do(?:es)?(?:n't| not)|used? to) (?:I |really )?(\\p{L}+)(?!.*\\bany ?(?:more|longer)\\b)");
    private static final Pattern YES_OR_NO = Clause.pattern("^(?:do|does|did|am|is|are|was|were|have|has) ");

    /** Of whom or of what a question is, such as "Rex", or "my sister's birthday". Its answer speaks of it. */
    private static final Pattern OF_WHAT = Clause.pattern("(?<=. )(?-i:(\\p{Lu}\\p{L}+))"
            + "|\\b(?:my|our|the) QUALIFIED(\\p{L}+)(?:'s QUALIFIED(\\p{L}+))?"
                    .replace("QUALIFIED", Vocabulary.QUALIFIED));

    /** A question about the first or the last message or question. */
    private static final Pattern WHICH = Clause.pattern("^(?=.*\\b(?:I|my)\\b)(?:what|which|repeat|tell me)\\b.*?\\b(?:"
            + "(?<first>first)|just|last|previous|before|earlier)\\b");

    private static final Pattern SAYING = Clause.pattern(
            "\\b(?:say|said|wrote|write|typed?|message|sentence|tell|told|(?<ask>ask(?:ed)?|question))\\b");

    /** By which name the user, or whom he knows, is called. */
    private static final Pattern CALLED = Clause.pattern(
            ("^(?:you are|your name is)(?: called)? (NAME)|\\byour QUALIFIED(\\p{L}+)(?:(?:'s name)? is(?: called| named)?"
                            + "|,)? (NAME)"
                            + "|^you have(?: got)? an? (\\p{L}+)(?:,|,? called|,? named) (NAME)"
                            + "|^(NAME) is your QUALIFIED(\\p{L}+)$")
                    .replace("QUALIFIED", Vocabulary.QUALIFIED)
                    .replace("NAME", "(?-i:\\p{Lu}\\p{L}+)"));

    /** "You have a daughter who is six" begins with "you", and tells an age that is not yours. */
    private static final Pattern YOU =
            Clause.pattern("^you\\b(?! have (?:got )?(?:an?|" + Vocabulary.NUMBER + ") (?!new job|job))");

    private static final Pattern NO_MORE = Clause.pattern("\\b(?:any ?(?:more|longer)|no longer)\\b");
    private static final Pattern EITHER =
            Clause.pattern("((?:\\b(?:my|an?|the|in|at|on) )?\\S+) or ((?:(?:my|an?|the|in|at|on) )?[^\\s?]+)");
    private static final Pattern YOURS = Clause.pattern("^your " + Vocabulary.QUALIFIED + "(\\p{L}+)");

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<UserMessage> shown = request.messages().stream()
                .filter(UserMessage.class::isInstance)
                .map(UserMessage.class::cast)
                .toList();
        return ChatResponse.builder().aiMessage(AiMessage.from(answer(shown))).build();
    }

    /**
     * Answers the last message.
     *
     * @param shown what the model is shown of the user, at least one message; each has one text
     * @return the answer, from all of the messages
     */
    public static String answer(List<UserMessage> shown) {
        String last = shown.get(shown.size() - 1).singleText();
        List<Clause> all = clauses(shown);
        List<Clause> said = told(all);
        List<Clause> now = all.subList(all.size() - Clause.of(last).size(), all.size());
        if (now.stream().anyMatch(Clause::isQuestion)) {
            return now.stream()
                    .filter(Clause::isQuestion)
                    .map(question -> answer(question.text(), said, shown.subList(0, shown.size() - 1)))
                    .distinct()
                    .collect(Collectors.joining(" "));
        }
        List<Clause> news = now.stream().filter(Clause::isNews).toList();
        return news.isEmpty()
                ? Stream.concat(now.stream().map(Clause::text), Stream.of(last))
                        .flatMap(bit -> small(bit).stream())
                        .findFirst()
                        .orElse(said.isEmpty() ? NOTHING_NEW : READ)
                : "Noted. " + sentences(news);
    }

    /**
     * Returns whether the last message asks for one thing, such as a name, and the messages before it tell that.
     *
     * @param shown what the model is shown of the user, at least one message; each has one text
     */
    public static boolean knows(List<UserMessage> shown) {
        List<Clause> all = clauses(shown);
        int before =
                all.size() - Clause.of(shown.get(shown.size() - 1).singleText()).size();
        List<String> questions = all.subList(before, all.size()).stream()
                .filter(Clause::isQuestion)
                .map(Clause::text)
                .toList();
        return !questions.isEmpty()
                && questions.stream()
                        .allMatch(question -> aside(question, List.of()).isEmpty()
                                && !isOfAll(question)
                                && !found(question, told(all)).isEmpty());
    }

    /**
     * Returns what messages tell of the user: each fact in the user's words, by what it is about. Of two facts about the
     * same, such as two names, there is the newer.
     */
    public static Map<String, String> facts(List<UserMessage> messages) {
        Map<String, String> facts = new LinkedHashMap<>();
        told(clauses(messages)).forEach(clause -> facts.put(clause.title(), clause.own()));
        return facts;
    }

    private static List<Clause> clauses(List<UserMessage> messages) {
        return Clause.resolved(messages.stream()
                .flatMap(message -> Clause.of(message.singleText()).stream())
                .toList());
    }

    /** Returns what is told, without what was corrected since. */
    private static List<Clause> told(List<Clause> clauses) {
        return Clause.newest(
                        clauses.stream().filter(clause -> !clause.isQuestion()).toList())
                .stream()
                .filter(Clause::isPersonal)
                .toList();
    }

    /**
     * Summarizes as a script can: it keeps the lines in which a user told something, word by word.
     *
     * @param previous the summary before, or {@code null}
     * @param messages what the summary will replace
     * @return the lines
     */
    public static String notes(@Nullable String previous, List<ChatMessage> messages) {
        Stream<String> said = messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText());
        Set<String> notes = new LinkedHashSet<>();
        Stream.concat(Stream.ofNullable(previous), said)
                .flatMap(String::lines)
                .filter(line -> Clause.of(line).stream().anyMatch(Clause::isNews))
                // What is told again is the newest.
                .peek(notes::remove)
                .forEach(notes::add);
        return notes.isEmpty() ? "Small talk." : String.join("\n", notes);
    }

    /** Returns the first or the last message, or question, that can be seen. */
    private static String quoted(boolean isFirst, boolean isAsked, List<UserMessage> before) {
        List<String> all = before.stream()
                .filter(message -> !Summarization.isSummary(message))
                .map(UserMessage::singleText)
                .filter(text -> !isAsked || Clause.of(text).stream().anyMatch(Clause::isQuestion))
                .toList();
        if (all.isEmpty()) {
            return NOTHING;
        }
        boolean isCut = before.stream().anyMatch(Summarization::isSummary);
        return isFirst
                ? (isCut ? CUT : "") + "The first one that the memory shows me is: “" + all.get(0) + "”"
                : "You said: “" + all.get(all.size() - 1) + "”";
    }

    private static Optional<String> small(String text) {
        return SMALL_TALK.stream()
                .filter(line -> line.getKey().matcher(text).find())
                .map(Map.Entry::getValue)
                .findFirst();
    }

    private static String answer(String question, List<Clause> said, List<UserMessage> before) {
        return aside(question, before).orElseGet(() -> {
            if (said.isEmpty()) {
                return NOTHING + " Tell me something about yourself first.";
            }
            List<Clause> found = found(question, said);
            return found.isEmpty() ? NOTHING + " Ask “What do you know about me?” to see all of it." : sentences(found);
        });
    }

    /** Returns the answer to a question that does not ask for what the user told. */
    private static Optional<String> aside(String question, List<UserMessage> before) {
        Matcher which = WHICH.matcher(question);
        Matcher saying = SAYING.matcher(question);
        if (which.find() && saying.find()) {
            return Optional.of(quoted(which.group("first") != null, saying.group("ask") != null, before));
        }
        boolean isOfTheModel = OF_THE_MODEL.matcher(question).find()
                && !OF_THE_USER.matcher(question).find();
        return small(question).or(() -> isOfTheModel ? Optional.of(ABOUT) : Optional.empty());
    }

    private static boolean isOfAll(String question) {
        Set<String> asked = Vocabulary.words(question);
        return !asked.contains("who") && Vocabulary.EMPTY.containsAll(asked);
    }

    private static List<Clause> found(String question, List<Clause> said) {
        Set<String> asked = Vocabulary.words(question);
        boolean isWho = asked.contains("who");
        asked.removeAll(Vocabulary.EMPTY);
        Set<String> keys = Vocabulary.without(asked, Vocabulary.QUALIFIERS);
        List<Clause> all = OF_THE_USER.matcher(question).find() ? said : List.of();
        List<Clause> found = keys.isEmpty() ? all : best(question, said);
        if (Vocabulary.NAME.containsAll(keys) && (isWho || !keys.isEmpty())) {
            return NAMES.stream()
                    .map(names -> said.stream()
                            .filter(clause -> names.test(clause.text()))
                            .toList())
                    .filter(named -> !named.isEmpty())
                    .findFirst()
                    .orElse(found);
        }
        return found;
    }

    /** Returns the clauses that answer best. What tells a name is no answer to a question because of this name. */
    private static List<Clause> best(String question, List<Clause> said) {
        List<Form> forms = forms(question, said);
        TreeMap<Integer, List<Clause>> ranked = said.stream()
                .collect(Collectors.groupingBy(
                        clause -> forms.stream()
                                .filter(form -> !clause.equals(form.naming))
                                .mapToInt(form -> score(form.question, clause))
                                .max()
                                .orElse(0),
                        TreeMap::new,
                        Collectors.toList()));
        return said.isEmpty() || ranked.lastKey() == 0
                ? List.of()
                : ranked.lastEntry().getValue();
    }

    /**
     * Returns how well a clause answers. It is 0 unless all that the question is about is told, for a yes or a no all that
     * is asked, and for what a person has, such as an age, also of whom.
     */
    private static int score(String question, Clause clause) {
        Set<String> asked = Vocabulary.without(Vocabulary.words(question), Vocabulary.EMPTY);
        Set<String> told = Vocabulary.told(clause.text());
        Set<String> keys = Vocabulary.without(asked, Vocabulary.QUALIFIERS);
        boolean isYesOrNo = YES_OR_NO.matcher(question).find();
        Set<String> needed = isYesOrNo ? new HashSet<>(keys) : ofWhat(question);
        if (!isYesOrNo && !NOT.matcher(question).find()) {
            // "I don't like tea" is no answer to "What do I like?"
            NOT.matcher(clause.text()).results().forEach(not -> told.removeAll(Vocabulary.words(not.group(1))));
        }
        if (isYesOrNo && !Collections.disjoint(Vocabulary.TASTES, told)) {
            told.addAll(Vocabulary.TASTES);
        }
        keys.stream().filter(Vocabulary.PROPERTIES::contains).forEach(needed::add);
        boolean isOfHim = I_OR_MY.matcher(question).find() && Vocabulary.OWN.containsAll(keys);
        boolean lacks = needed.stream().anyMatch(word -> Vocabulary.closeness(word, told) == 0);
        if (lacks || isOfHim && !isOfHim(clause) || Vocabulary.closeness(keys, told) == 0) {
            return 0;
        }
        // Where "I" live is told by what begins with "you" rather than by where a sister lives.
        boolean isTold =
                I.matcher(question).find() && YOU.matcher(clause.text()).find();
        boolean isOver = NO_MORE.matcher(clause.text()).find();
        return 10 * Vocabulary.closeness(keys, told)
                + Vocabulary.closeness(Vocabulary.without(asked, keys), told)
                + (isTold ? 1 : 0)
                - (isOver ? 1 : 0);
    }

    /** Returns a question with each name of someone, and with who that is: "Where does Ida live?" and "… my sister live?". */
    private static List<Form> forms(String question, List<Clause> said) {
        // An "or" asks for one of two.
        Matcher either = EITHER.matcher(question);
        Set<String> plain = new LinkedHashSet<>(List.of(either.replaceAll("$1"), either.replaceAll("$2")));
        List<Form> forms = new ArrayList<>();
        plain.forEach(form -> forms.add(new Form(form, null)));
        for (Clause clause : said) {
            Matcher called = CALLED.matcher(clause.text());
            if (called.find()) {
                List<String> groups = IntStream.rangeClosed(1, called.groupCount())
                        .mapToObj(called::group)
                        .filter(Objects::nonNull)
                        .toList();
                boolean isFirst = called.group(6) != null;
                String name = groups.get(isFirst ? 0 : groups.size() - 1);
                String whom = groups.size() == 1 ? "I" : "my " + groups.get(isFirst ? 1 : 0);
                for (String form : plain) {
                    String known = form.replaceAll("(?i)\\b" + name + "\\b", whom);
                    forms.add(new Form(known.replaceAll("\\bI's\\b", "my"), clause));
                    forms.add(new Form(form.replaceAll("(?i)\\b" + whom + "\\b", name), clause));
                }
            }
        }
        return forms;
    }

    private static Set<String> ofWhat(String question) {
        Set<String> of = OF_WHAT.matcher(question)
                .results()
                .flatMap(found -> IntStream.rangeClosed(1, found.groupCount()).mapToObj(found::group))
                .filter(Objects::nonNull)
                .flatMap(word -> Vocabulary.words(word).stream())
                .collect(Collectors.toSet());
        return Vocabulary.without(of, Vocabulary.NAME, Vocabulary.EMPTY);
    }

    /** Returns whether its subject is the speaker, or what each person has. */
    private static boolean isOfHim(Clause clause) {
        Matcher yours = YOURS.matcher(clause.text());
        return YOU.matcher(clause.text()).find()
                || yours.find() && Vocabulary.OWN.containsAll(Vocabulary.words(yours.group(1)));
    }

    private static String sentences(List<Clause> clauses) {
        return clauses.stream().map(Clause::sentence).distinct().collect(Collectors.joining(" "));
    }
}
