package io.github.keepsake4j.spring;

import dev.langchain4j.model.chat.StreamingChatModel;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Records the memories that were created, so that a check of the application's health does not create them and opens no
 * store. Puts streaming models behind {@link StreamingModels}, which pass calls through until a memory was created.
 */
final class MemoriesInUse implements BeanPostProcessor {

    private final BeanFactory beans;
    private final Map<String, MessageLog> logs = new ConcurrentHashMap<>();
    private volatile @Nullable Keepsake keepsake;

    MemoriesInUse(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof Keepsake made) {
            keepsake = made;
        } else if (bean instanceof MessageLog log) {
            logs.put(name, log);
        } else if (bean instanceof StreamingChatModel model) {
            return StreamingModels.remembering(model, StreamingModels.declaredType(beans, name), this::keepsake);
        }
        return bean;
    }

    /** Returns the application's memories, or null if none is in use. */
    @Nullable
    Keepsake keepsake() {
        return keepsake;
    }

    /**
     * Reads a memory that does not exist, once in each open log. Opens and writes nothing.
     *
     * @return the store of each log by the name of its bean, empty if no memory is in use
     * @throws RuntimeException if one of them fails; its text names no message
     */
    Map<String, String> probe(String tenant) {
        Map<String, String> backends = new TreeMap<>();
        logs.forEach((name, log) -> {
            log.read(ConversationKey.of(tenant, "keepsake4j"), ReadQuery.newest(0));
            backends.put(name, log.backend());
        });
        return backends;
    }

    /** Returns the logs that were opened, by the names of their beans. */
    Map<String, MessageLog> logs() {
        return new TreeMap<>(logs);
    }
}
