package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndexContract;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

class InMemoryMessageIndexTest extends MessageIndexContract {

    @Override
    protected MessageIndex newIndex() {
        return new InMemoryMessageIndex();
    }

    /** Other processes do not see it, so this is the same object, which stays open. */
    @Override
    protected MessageIndex sameIndex() {
        return (MessageIndex) Proxy.newProxyInstance(
                MessageIndex.class.getClassLoader(),
                new Class<?>[] {MessageIndex.class},
                (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(index, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
