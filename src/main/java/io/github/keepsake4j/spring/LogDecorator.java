package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.MessageLog;
import java.util.List;

/** Puts something around a log before the memories use it. */
@FunctionalInterface
interface LogDecorator {

    MessageLog around(MessageLog log);

    static MessageLog all(List<LogDecorator> decorators, MessageLog log) {
        MessageLog decorated = log;
        for (LogDecorator decorator : decorators) {
            decorated = decorator.around(decorated);
        }
        return decorated;
    }
}
