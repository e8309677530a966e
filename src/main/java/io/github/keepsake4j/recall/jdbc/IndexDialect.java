package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.recall.Matches.Share;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The differences between databases. The statements that are the same for all are in {@link IndexSql}. */
interface IndexDialect {

    /** The store's name. */
    String name();

    /** Reads a tenant's number and locks its row until the transaction ends. Parameter: its id. */
    String lockTenant();

    /** Joins consecutive segments. Parameters: the first segment, memory, the first segment, the segment behind the last. */
    String joinSegments();

    /** Adds to the numbers of messages of terms. */
    void addTerms(Session session, long tenant, Map<String, Integer> messages) throws SQLException;

    /** Puts postings before the existing ones. */
    void addPostings(Session session, long tenant, long memory, List<Segment> segments) throws SQLException;

    /** Finds the memories of keys. */
    List<MemoryRow> memories(Session session, Collection<byte[]> keys) throws SQLException;

    /** Reads the progress of the index for memories by their keys. */
    List<MemoryRow.Size> sizes(Session session, Collection<byte[]> keys) throws SQLException;

    /** Finds the keys of memories. */
    List<MemoryRow> memoriesByNumber(Session session, Collection<Long> numbers) throws SQLException;

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

    /** Reads the marks of vectors of a model for memories by their keys. */
    List<VectorMarkRow> vectorMarks(Session session, String model, Collection<byte[]> keys) throws SQLException;

    /** Reads the newest vectors of a tenant, or of some of its memories, and those of some blocks there. */
    void vectors(
            Session session,
            String model,
            String tenant,
            @Nullable Collection<byte[]> keys,
            int most,
            List<Block> blocks,
            VectorTables.Reading reading)
            throws SQLException;

    /** A block of sequences of a memory: the one with this number, from 0. */
    @SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
    record Block(byte[] key, long number) {}

    /** New postings of a term in a segment, newest first. */
    @SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
    record Segment(String term, int number, int messages, byte[] postings) {}

    /** A row of postings, or its beginning. */
    @SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
    record PostingRow(String term, long memory, int segment, int messages, byte[] postings) {}
}
