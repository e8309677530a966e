package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.recall.Matches.Share;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The differences between databases. The statements that are the same for all are in {@link Sql}. */
interface Dialect {

    /** The storage's name. */
    String name();

    /** Reads a tenant's number and locks its row until the transaction ends. Parameter: its id. */
    String lockTenant();

    /** Joins consecutive segments. Parameters: the first segment, memory, the first segment, the segment behind the last. */
    String joinSegments();

    /** Adds to the numbers of messages of terms. */
    void addTerms(Session session, long tenant, Map<String, Integer> messages) throws SQLException;

    /** Puts postings before the existing ones. */
    void addPostings(Session session, long tenant, long memory, List<Segment> segments) throws SQLException;

    /** The condition on memories {@code m} of some keys. Parameter: {@link #keys}. */
    String hasKey();

    /** The condition on memories {@code m} of some numbers. Parameter: {@link #numbers}. */
    String hasNumber();

    /** Returns the hashes of keys as one parameter. */
    Object keys(Collection<byte[]> keys);

    /** Returns the numbers of memories as one parameter. */
    Object numbers(Collection<Long> numbers);

    /** Counts the messages of a tenant, or of some of its memories, in which each term occurs. */
    Map<String, Long> frequencies(
            Session session, long tenant, @Nullable Collection<Long> memories, Collection<String> terms)
            throws SQLException;

    /**
     * Reads postings of a tenant, or of some of its memories: by memory and segment, the newest of each first, and of each row
     * at most as many postings as the term's share.
     *
     * @param mostRows the largest number of rows of a term
     */
    List<PostingRow> postings(
            Session session, long tenant, @Nullable Collection<Long> memories, List<Share> shares, int mostRows)
            throws SQLException;

    /** New postings of a term in a segment, newest first. */
    @SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
    record Segment(String term, int number, int messages, byte[] postings) {}

    /** A row of postings, or its beginning. */
    @SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
    record PostingRow(String term, long memory, int segment, int messages, byte[] postings) {}
}
