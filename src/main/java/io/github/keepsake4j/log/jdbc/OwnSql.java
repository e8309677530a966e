package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.NamedSql;

/**
 * The statements in each database's own SQL.
 *
 * @param memory a memory's row; parameter: key
 * @param lockMemory a memory's row, which no other writer changes before the transaction ends; parameter: key
 * @param moveHead makes a message the head, and changes nothing if the old head is missing; parameters: its sequence,
 * key, epoch
 * @param mend sets a memory's numbers, and its head, or no head if the head's sequence is null; parameters: the head's
 *     sequence, key, epoch, revision, newest sequence, sum of tokens
 * @param leaves the messages without children, newest first; parameter: key
 * @param insertMessage inserts a message; parameters: key, the message's columns, and the runs below it
 * @param advanceMemory makes the newest message the head; parameters: key, sequence, id, tokens of the batch, time
 * @param checkMessages a page of all messages with their parents, as in {@link Sql#CHECK_MESSAGES}
 * @param takeLease takes or renews a lease by the database's clock, or by the process's if the database runs in the
 *     process, and returns when it ends, or no row if another owner holds it; parameters: key, name, owner, duration in
 *     microseconds, the process's time
 * @param runsOfHead the runs of the head's branch; parameters: key, the lowest requested sequence
 * @param list a page of a list; parameters: {@link ListCursor#PARAMETERS}
 * @param usage the same with usage in some days
 * @param move moves a memory's rows in its lists by activity, if the minute has changed or this is its first message; parameters: key,
 *     time, whether it is the first message
 * @param missingOnLists a row for each list on which the memory's row is missing; parameter: key
 * @param putOnLists puts a memory on lists; parameters: the lists, key
 * @param takeOffLists removes it from all lists; parameters: epoch, key
 */
record OwnSql(
        NamedSql memory,
        NamedSql lockMemory,
        NamedSql moveHead,
        NamedSql mend,
        NamedSql leaves,
        NamedSql insertMessage,
        NamedSql advanceMemory,
        NamedSql checkMessages,
        NamedSql takeLease,
        NamedSql runsOfHead,
        NamedSql list,
        NamedSql usage,
        NamedSql move,
        NamedSql missingOnLists,
        NamedSql putOnLists,
        NamedSql takeOffLists) {}
