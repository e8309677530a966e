/**
 * Ways out of a log: {@link io.github.keepsake4j.transfer.LangChain4jExport} writes messages as LangChain4j's own JSON.
 */
@NullMarked
package io.github.keepsake4j.transfer;

import org.jspecify.annotations.NullMarked;
