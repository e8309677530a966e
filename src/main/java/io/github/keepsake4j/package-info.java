/**
 * Chat memory for LangChain4j that keeps every message. Start with {@link io.github.keepsake4j.Keepsake}.
 *
 * <pre>
 * writing: AiServices ─▶ chat ─▶ tokens (counts) ─▶ log ─▶ codec (stored form) ─▶ a store
 * reading: AiServices ◀─ chat ◀─ context (selects) ◀─ view (what is shown) ◀─ log ◀─ codec ◀─ the same store
 * setting: AiServices ─▶ chat ─▶ view (compares the list with what is shown) ─▶ log
 * </pre>
 *
 * <p>The log is an append-only tree of messages with a head. Windows, token limits and the lists that a framework sets
 * are views of the log. So neither a model nor a framework can lose a message.
 *
 * <p>{@code context} has the strategies, which select what a model sees. {@code turn} excludes other turns of a conversation by a lease in the log. {@code summary} writes summaries in the
 * background and stores them in the log. {@code metrics} receives the events. {@code workflow} offers the memories to
 * the language model nodes of a workflow engine, and {@code workflow.files} converts the file references in their
 * histories. {@code retention} removes memories that are no longer needed. {@code transfer} imports the
 * conversations of other stores and copies memories between logs. {@code component} offers the memories to
 * low-code hosts as one component with four actions. {@code cli} is the command line. {@code spring} is the
 * auto-configuration for Spring Boot. {@code recall} finds messages by their words, into which
 * {@code recall.words} splits texts. {@code memories} creates long-term memories from them.
 *
 * <p>Logs have six stores: {@code log.jdbc} (PostgreSQL, SQLite), {@code log.redis}, {@code log.s3}, {@code log.file} and
 * {@code log.inmemory}. Indexes have three ({@code recall.jdbc} with PostgreSQL and SQLite, {@code recall.inmemory}), and
 * long-term memories have three ({@code memories.jdbc}, {@code memories.file}, {@code memories.inmemory}).
 *
 * <p>Applications need no type of the internal packages, which may change in any version: {@code view}, {@code codec},
 * {@code text} (functions on text), {@code backend} (what the stores of logs share), {@code base} (files, locks, checks),
 * {@code sql} (connections, retries), {@code memories.store}, {@code memories.background}, {@code recall.vectors} and {@code cli}.
 *
 * <p>What a call passes through, class by class:
 *
 * <ul>
 * <li>{@code add} on PostgreSQL: {@code KeepsakeChatMemory}, {@code CallsOfThread} (finds the turn of the current call),
 *     {@code OpenTurn} or {@code BoundTurn}, {@code WriteBuffer}, {@code SharedParts} (counts and appends),
 *     {@code JdbcMessageLog}, {@code PostgresConnections} (retries), {@code PostgresDialect}, {@code PostgresAppend},
 *     {@code Session}, {@code SqlConnection}. {@code Meter} reports to {@code Metrics}. Between
 *     {@code SharedParts} and the log are, if they are configured, {@code DescribingLog} (metadata of new memories),
 *     {@code ImportingLog} and one {@code ObservedLog} each for
 *     the index and for long-term memories.
 * <li>{@code messages()} with a summary and memories: {@code KeepsakeChatMemory}, {@code OpenTurn}, {@code SharedParts},
 *     {@code TailLoader} with {@code ViewReader} (read as far back as the strategy requires), {@code MemoryBlocks} (loads the
 *     memories), {@code Context} (divides into turns, places summary and memories), the {@code ContextStrategy} with
 *     {@code Limit}, {@code ViewWriter} (remembers what was handed out). {@code Summaries} then asks {@code SummaryWorker} for
 *     a summary in the background if one is due.
 * <li>A regenerated answer: {@code Turn.regenerate}, {@code BoundTurn}, {@code TurnPosition} (finds the parent), then as
 *     {@code add}.
 * <li>A recall: {@code Recall}, {@code MessageRecall}, {@code Question}, {@code Finder} (asks the {@code MessageIndex}, reads the
 *     messages from the log), {@code Ranking}, {@code Recalled}.
 * <li>A turn of a node in S3: {@code LlmNode}, {@code NodeTokenBufferMemory}, {@code NodeTurnParent} (finds the parent),
 *     {@code PromptHistory} (converts the history), and for the flush {@code S3MessageLog}, {@code TurnMode} if turns are held
 *     back, {@code DocumentStore}, {@code MemoryTree}, {@code DocumentWriter}, {@code Bucket}.
 * </ul>
 *
 * <p>Packages depend in one direction only. The list leaves out most uses of {@code base}, {@code text} and
 * {@code backend}:
 *
 * <ul>
 * <li>{@code text} and {@code metrics} depend on no other package, and {@code message} on {@code text}.
 * <li>{@code base}, {@code codec} and {@code jdbc} depend on {@code message}.
 * <li>{@code tokens} depends on {@code text}, and {@code log} on {@code base}.
 * <li>{@code sql}, which creates all statements, depends on {@code base} and {@code jdbc}.
 * <li>{@code backend} depends on {@code log} and {@code codec}, the stores on {@code backend}, and those with SQL on
 *     {@code sql}.
 * <li>{@code context} depends on {@code message} and {@code tokens}.
 * <li>{@code view} depends on {@code log} and {@code context}.
 * <li>{@code turn} depends on {@code log}.
 * <li>{@code summary} depends on {@code log}, {@code tokens} and {@code metrics}.
 * <li>{@code retention} depends on {@code log} and {@code metrics}.
 * <li>{@code recall.words} depends on {@code message}.
 * <li>{@code recall} depends on {@code log}, {@code text} and {@code recall.words}; its indexes on {@code recall} and
 *     {@code log}.
 * <li>{@code memories} depends on {@code codec}, {@code log}, {@code context} and {@code recall}; its
 *     stores, {@code memories.file}, {@code memories.jdbc} and {@code memories.inmemory}, on {@code memories.store}.
 * <li>{@code chat} depends on {@code view}, {@code turn}, {@code summary} and the packages below them.
 * <li>{@code workflow.files} depends on {@code message}, its lookup in a database also on {@code sql}.
 * <li>{@code workflow} depends on {@code view} and the packages below it, and on {@code workflow.files}.
 * <li>The root package may depend on all packages except {@code component}, {@code cli} and {@code spring}.
 * <li>{@code component} depends on the root package, {@code chat} and the packages below it, and on no store.
 * <li>{@code cli} and {@code spring} may depend on all packages.
 * </ul>
 */
@NullMarked
package io.github.keepsake4j;

import org.jspecify.annotations.NullMarked;
