package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.MessageLog;

/** Wraps a log before the memories use it. */
@FunctionalInterface
interface LogDecorator {

    MessageLog around(MessageLog log);
}
