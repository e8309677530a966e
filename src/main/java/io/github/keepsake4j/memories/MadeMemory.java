package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A long-term memory and its sources. A model writes {@code text}, {@code title}, {@code summary}, {@code entities} and
 * {@code keyPhrases}; the library sets all other components.
 *
 * @param id the memory's id, unique within its discussion
 * @param kind the kind of memory
 * @param text the text that is shown, never the raw messages; empty if the memory was forgotten
 * @param title a fact's title; empty for other kinds
 * @param summary a fact's summary; empty for other kinds
 * @param entities the names in a fact; empty for other kinds
 * @param keyPhrases the phrases by which a fact is found; empty for other kinds
 * @param source the messages that it was made from; for a summary the passage of the last chunk in it
 * @param model the name of the model that wrote it, or null if that is not known
 * @param promptVersion the name of the prompt or workflow that created it; empty if that is not known
 * @param madeAt when it was created, truncated to microseconds; stores do not sort by it
 * @param trust the least trust of its sources
 * @param pinned whether it takes precedence over memories that are not pinned
 * @param replaces the id of the older memory that it replaces, or null
 * @param status its status
 * @param vector a fact's vector, by which it is found by its meaning, as a text that only the store of this library reads; null
 *     if it has none
 */
public record MadeMemory(
        String id,
        Kind kind,
        String text,
        String title,
        String summary,
        List<String> entities,
        List<String> keyPhrases,
        Passage source,
        @Nullable String model,
        String promptVersion,
        Instant madeAt,
        Trust trust,
        boolean pinned,
        @Nullable String replaces,
        Status status,
        @Nullable String vector) {

    private static final Pattern UNSTORABLE = Pattern.compile("\\x00|\\p{Cs}");

    /**
     * Checks and copies the components.
     *
     * @throws InvalidInputException if the id breaks a rule of {@link Ids#check}, or a text contains NUL or an unpaired
     * surrogate
     */
    public MadeMemory {
        Ids.check("id", id);
        Objects.requireNonNull(kind, "kind");
        checkText("text", text);
        checkText("title", title);
        checkText("summary", summary);
        entities = List.copyOf(entities);
        entities.forEach(entity -> checkText("entities", entity));
        keyPhrases = List.copyOf(keyPhrases);
        keyPhrases.forEach(phrase -> checkText("keyPhrases", phrase));
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(promptVersion, "promptVersion");
        madeAt = madeAt.truncatedTo(ChronoUnit.MICROS);
        Objects.requireNonNull(trust, "trust");
        Objects.requireNonNull(status, "status");
    }

    /** Refuses texts that some stores would change. */
    private static void checkText(String field, String text) {
        if (UNSTORABLE.matcher(text).find()) {
            throw new InvalidInputException(field, "must not contain NUL (U+0000) or an unpaired surrogate");
        }
    }

    /**
     * Returns a new memory that has only a text: a chunk or a summary.
     *
     * @param kind the kind of memory
     * @param text the text
     * @param source the messages that it was made from
     * @param trust the least trust of its sources
     * @return a current memory with a new id and the present time
     */
    public static MadeMemory ofText(Kind kind, String text, Passage source, Trust trust) {
        return made(kind, text, "", "", List.of(), List.of(), source, trust);
    }

    /**
     * Returns a new fact. Its text is its summary, or its title if it has no summary.
     *
     * @param title the title
     * @param summary the summary
     * @param entities the names in it
     * @param keyPhrases the phrases by which it is found
     * @param source the messages that it was made from
     * @param trust the least trust of its sources
     * @return a current memory with a new id and the present time
     */
    public static MadeMemory fact(
            String title, String summary, List<String> entities, List<String> keyPhrases, Passage source, Trust trust) {
        String text = summary.isBlank() ? title : summary;
        return made(Kind.FACT, text, title, summary, entities, keyPhrases, source, trust);
    }

    static MadeMemory made(
            Kind kind,
            String text,
            String title,
            String summary,
            List<String> entities,
            List<String> keyPhrases,
            Passage source,
            Trust trust) {
        return new MadeMemory(
                Ids.next(),
                kind,
                text,
                title,
                summary,
                entities,
                keyPhrases,
                source,
                null,
                "",
                Instant.now(),
                trust,
                false,
                null,
                Status.CURRENT,
                null);
    }

    /**
     * Returns a copy with another model, prompt and creation time.
     *
     * @param modelName the name of the model, or null if it is not known
     * @param prompt the name of the prompt or of the workflow
     * @param time when the memory was created
     * @return the copy
     */
    public MadeMemory madeBy(@Nullable String modelName, String prompt, Instant time) {
        return copy(modelName, prompt, time, pinned, replaces, status, vector);
    }

    /**
     * Returns a copy that is pinned or not.
     *
     * @param pin whether it takes precedence over memories that are not pinned
     * @return the copy
     */
    public MadeMemory withPinned(boolean pin) {
        return copy(model, promptVersion, madeAt, pin, replaces, status, vector);
    }

    /**
     * Returns a copy that names the memory that it replaces.
     *
     * @param older the id of the older memory, or null
     * @return the copy
     */
    public MadeMemory replacing(@Nullable String older) {
        return copy(model, promptVersion, madeAt, pinned, older, status, vector);
    }

    /**
     * Returns a copy with a vector.
     *
     * @param text the vector, or null for none
     * @return the copy
     */
    public MadeMemory withVector(@Nullable String text) {
        return copy(model, promptVersion, madeAt, pinned, replaces, status, text);
    }

    /**
     * Returns a copy with another status. A forgotten memory has no text, title, summary, entities, key phrases or vector.
     *
     * @param other the new status
     * @return the copy
     */
    public MadeMemory withStatus(Status other) {
        return copy(model, promptVersion, madeAt, pinned, replaces, other, vector);
    }

    /** Returns the memories that are trusted enough. */
    static List<MadeMemory> trusted(List<MadeMemory> memories, Trust least) {
        return memories.stream()
                .filter(memory -> memory.trust().isAtLeast(least))
                .toList();
    }

    private MadeMemory copy(
            @Nullable String modelName,
            String prompt,
            Instant time,
            boolean pin,
            @Nullable String older,
            Status other,
            @Nullable String newVector) {
        boolean gone = other == Status.FORGOTTEN;
        return new MadeMemory(
                id,
                kind,
                gone ? "" : text,
                gone ? "" : title,
                gone ? "" : summary,
                gone ? List.of() : entities,
                gone ? List.of() : keyPhrases,
                source,
                modelName,
                prompt,
                time,
                trust,
                !gone && pin,
                older,
                other,
                gone ? null : newVector);
    }

    /** Returns a description without any text of the memory, so that it can be written to logs. */
    @Override
    public String toString() {
        return "MadeMemory[id=" + id + ", kind=" + kind + ", messages=" + source.messages() + ", trust=" + trust
                + ", pinned=" + pinned + ", status=" + status + "]";
    }

    /** The status of a memory. */
    public enum Status {
        /** It was neither replaced nor forgotten. */
        CURRENT,

        /** A newer memory replaces it and names it. It can be read by its id but is not shown. */
        REPLACED,

        /** It was forgotten, and its text was removed. */
        FORGOTTEN
    }

    /** The kinds of long-term memories. */
    public enum Kind {
        /** A text about one stretch of the conversation, in the ledger. WilmerAI calls it a file memory. */
        CHUNK,

        /** A fact with a title, entities and key phrases, which is searched. WilmerAI calls it a vector memory. */
        FACT,

        /** A version of the summary of all chunks so far. */
        SUMMARY
    }
}
