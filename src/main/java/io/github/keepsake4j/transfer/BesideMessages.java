package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a memory other than its messages, for a copy.
 *
 * @param title its title, or null
 * @param metadata short texts by name
 * @param messages the number of its messages when this was read
 * @param summaries all summaries, in the order in which they were stored
 * @param views its views, in order of their anchors
 * @param branches the ids of the newest messages of its named branches, by name
 * @param head the head's id, or null
 */
record BesideMessages(
        @Nullable String title,
        Map<String, String> metadata,
        long messages,
        List<Summary> summaries,
        List<View> views,
        Map<String, String> branches,
        @Nullable String head) {

    /**
     * Reads the parts, or returns null for a memory that does not exist. A history that is read later contains all
     * messages that they name.
     */
    static @Nullable BesideMessages read(MessageLog log, MemoryKey key) {
        MemoryDetails details = log.details(key, EnumSet.allOf(MemoryDetails.Part.class));
        if (details.info() == null) {
            return null;
        }
        String head = Reads.position(log, key).head();
        return new BesideMessages(
                details.info().title(),
                details.info().metadata(),
                details.info().messages(),
                details.summaries(),
                details.views(),
                details.branches(),
                head);
    }

    /** Returns a copy with the summaries that the messages name, once these were read. */
    BesideMessages with(MemorySource read) {
        List<Summary> named = read.summaries.size() > summaries.size() ? read.summaries : summaries;
        return new BesideMessages(title, metadata, messages, named, views, branches, head);
    }

    /** Returns a copy with another title and other metadata. */
    BesideMessages with(@Nullable String otherTitle, Map<String, String> otherMetadata) {
        return new BesideMessages(otherTitle, otherMetadata, messages, summaries, views, branches, head);
    }
}
