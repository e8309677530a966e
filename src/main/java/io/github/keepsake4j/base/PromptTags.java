package io.github.keepsake4j.base;

import io.github.keepsake4j.message.Ids;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/**
 * Tags around untrusted text. They end in a word that does not occur in the text, so the text cannot close them. The
 * word is derived from the text, so that the same text gives the same prompt.
 *
 * @param word the word at the end of the tags
 */
public record PromptTags(String word) {

    /** Eight hexadecimal digits, which a model repeats without errors. */
    private static final int WORD_BYTES = 4;

    /**
     * Returns tags for texts.
     *
     * @param texts all texts that are put between the tags
     * @return the tags
     */
    public static PromptTags around(List<String> texts) {
        MessageDigest sum = Ids.sha256();
        texts.forEach(text -> sum.update(text.getBytes(StandardCharsets.UTF_8)));
        return free(texts, sum.digest());
    }

    /**
     * Returns tags with the first word that does not occur in the texts. Case is ignored, because a model might ignore it. Each
     * word is a hash of a count and of all texts, so a text with chosen words gets other ones.
     */
    static PromptTags free(List<String> texts, byte[] hash) {
        for (int count = 0; ; count++) {
            MessageDigest sum = Ids.sha256();
            sum.update(hash);
            byte[] digest = sum.digest(new byte[] {(byte) (count >> 8), (byte) count});
            String word = HexFormat.of().formatHex(digest, 0, WORD_BYTES);
            if (texts.stream().noneMatch(text -> containsIgnoringCase(text, word))) {
                return new PromptTags(word);
            }
        }
    }

    /**
     * Puts a text between tags, each tag on a line of its own.
     *
     * @param name the name of the text in the tag
     * @param text the text
     * @return the text between tags
     */
    public String around(String name, String text) {
        return open(name) + "\n" + text + "\n" + close(name) + "\n";
    }

    /**
     * Returns an answer without the tags, if the model put it between tags.
     *
     * @param name the name of the tag
     * @param answer the answer
     * @return the text between the tags, or the answer
     */
    public String strip(String name, String answer) {
        String text = answer.strip();
        return text.startsWith(open(name)) && text.endsWith(close(name))
                ? text.substring(
                                open(name).length(), text.length() - close(name).length())
                        .strip()
                : text;
    }

    /**
     * Returns whether a text repeats the tags.
     *
     * @param text an answer
     * @return whether the word of the tags is in it
     */
    public boolean occursIn(String text) {
        return containsIgnoringCase(text, word);
    }

    private String open(String name) {
        return "<" + name + "-" + word + ">";
    }

    private String close(String name) {
        return "</" + name + "-" + word + ">";
    }

    private static boolean containsIgnoringCase(String text, String word) {
        return text.toLowerCase(Locale.ROOT).contains(word);
    }
}
