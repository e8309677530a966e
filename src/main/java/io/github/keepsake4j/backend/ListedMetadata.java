package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The metadata names by which a log lists memories. Each has a cost: an append that moves a memory to the front of its
 * tenant's list by activity moves it on the list of each value too.
 *
 * @param names the names; a log declares at most three
 */
public record ListedMetadata(Set<String> names) {

    /** No names. */
    public static final ListedMetadata NONE = new ListedMetadata(Set.of());

    /** The largest number of names that a log declares. */
    public static final int MOST = 3;

    /** Copies the names. */
    public ListedMetadata {
        names = Collections.unmodifiableSet(new TreeSet<>(names));
    }

    /**
     * Returns the names that a log declares.
     *
     * @param names the names
     * @return them, checked
     * @throws InvalidInputException if there are too many, or one is no id
     */
    public static ListedMetadata of(String... names) {
        ListedMetadata declared = new ListedMetadata(new HashSet<>(Arrays.asList(names)));
        declared.names.forEach(name -> Ids.check("listedMetadata", name));
        if (declared.names.size() > MOST) {
            throw new InvalidInputException(
                    "listedMetadata",
                    "may have at most " + MOST + " names, has " + declared.names.size() + ": " + declared.names);
        }
        return declared;
    }

    /**
     * Refuses a query by another name.
     *
     * @param query the query
     * @throws InvalidInputException if it names metadata that are not declared
     */
    public void check(ListQuery query) {
        ListQuery.Metadata metadata = query.metadata();
        if (metadata != null && !names.contains(metadata.name())) {
            throw new InvalidInputException(
                    "metadata",
                    "name \"" + metadata.name() + "\" is not declared to the log; declare it with listedMetadata; "
                            + "declared are " + names);
        }
    }

    /**
     * Returns the metadata by which a memory is listed.
     *
     * @param metadata all metadata of the memory
     * @return those with a declared name, in order of the names
     */
    public SortedMap<String, String> listed(Map<String, String> metadata) {
        SortedMap<String, String> listed = new TreeMap<>(metadata);
        listed.keySet().retainAll(names);
        return listed;
    }
}
