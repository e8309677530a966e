package io.quarkiverse.langchain4j.runtime.aiservice;

import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import java.util.HashMap;
import java.util.Map;

/** Has the name and the two ends of a memory of Quarkus's context, which is not on the class path. */
public final class QuarkusAiServiceContext {

    private final ChatMemoryProvider provider;
    private final Map<Object, ChatMemory> memories = new HashMap<>();

    /** Creates the context of one AI service. */
    public QuarkusAiServiceContext(ChatMemoryProvider provider) {
        this.provider = provider;
    }

    /** Returns the memory of an id for as long as the scope lasts. */
    public ChatMemory memory(Object id) {
        return memories.computeIfAbsent(id, provider::get);
    }

    /** Ends the scope of the bean. */
    public void close() {
        memories.values().forEach(ChatMemory::clear);
    }

    /** Removes memories for a user. */
    public void removeChatMemoryIds(Object... ids) {
        for (Object id : ids) {
            memory(id).clear();
        }
    }
}
