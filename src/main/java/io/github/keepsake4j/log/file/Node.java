package io.github.keepsake4j.log.file;

import dev.langchain4j.data.message.ChatMessageType;
import org.jspecify.annotations.Nullable;

/**
 * A message's place in the tree and in the file, and what it inherits from its parent. A sequence number of 0 means that
 * there is none.
 *
 * @param seq its sequence number
 * @param part where its JSON object is in the file; of a message that cannot be read, where the line is in which it was
 * @param damaged whether its line cannot be read
 * @param idHash the hash of its id
 * @param parent the parent's sequence number
 * @param run the first of the messages without gaps on its branch that it belongs to
 * @param depth its place on its branch, from 1
 * @param path the tokens of its branch up to it
 * @param system the newest system message up to it
 * @param user the newest user message up to it
 * @param tokens its own tokens
 * @param view the side entry of the newest view at it; 0 for none, as the next two
 * @param summary the side entry of the newest summary that covers up to it
 * @param outcome the side entry of the outcome that was set last
 */
record Node(
        long seq,
        Part part,
        boolean damaged,
        long idHash,
        long parent,
        long run,
        long depth,
        long path,
        long system,
        long user,
        int tokens,
        int view,
        int summary,
        int outcome) {

    /** What a message inherits that has no parent. */
    private static final Node NONE = new Node(0, new Part(0, 0), false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** Returns the message that follows another one, or that follows none. */
    static Node child(@Nullable Node parent, long seq, Part part, long idHash, int tokens, ChatMessageType type) {
        Node above = parent == null ? NONE : parent;
        return new Node(
                seq,
                part,
                false,
                idHash,
                above.seq,
                parent != null && above.seq == seq - 1 ? above.run : seq,
                above.depth + 1,
                above.path + tokens,
                type == ChatMessageType.SYSTEM ? seq : above.system,
                type == ChatMessageType.USER ? seq : above.user,
                tokens,
                0,
                0,
                0);
    }

    /** Returns the place of a message whose line cannot be read. */
    static Node lost(long seq, Part line) {
        return new Node(seq, line, true, 0, 0, seq, 1, 0, 0, 0, 0, 0, 0, 0);
    }

    /** Returns this place of a message whose line cannot be read as a whole. */
    Node inDamagedLine() {
        return new Node(
                seq, part, true, idHash, parent, run, depth, path, system, user, tokens, view, summary, outcome);
    }

    /** Whether the message's place in the tree is known. */
    boolean hasPlace() {
        return !damaged || idHash != 0;
    }

    Node at(Part other) {
        return new Node(
                seq, other, damaged, idHash, parent, run, depth, path, system, user, tokens, view, summary, outcome);
    }

    /** Returns what is wrong with this message's place behind its parent, or null. */
    @Nullable
    String problem(@Nullable Node above) {
        if (parent >= seq) {
            return "the parent of message " + seq + " does not come before it";
        }
        boolean inRun = parent != 0 && parent == seq - 1;
        boolean continues;
        if (above != null && above.damaged) {
            // What is lost cannot be compared.
            continues = inRun ? run < seq : run == seq;
        } else {
            Node from = above == null ? NONE : above;
            continues = run == (inRun ? from.run : seq)
                    && depth == from.depth + 1
                    && path == from.path + tokens
                    && (system == seq || system == from.system)
                    && (user == seq || user == from.user);
        }
        return continues ? null : "message " + seq + " does not continue its parent";
    }
}
