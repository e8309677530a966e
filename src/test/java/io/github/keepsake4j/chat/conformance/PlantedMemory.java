package io.github.keepsake4j.chat.conformance;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.testing.Dialogue;
import java.util.ArrayList;
import java.util.List;

/** LangChain4j's window over a store, behind one lock, with one fault or none. */
class PlantedMemory implements ChatMemory {

    private static final int SHOWN = 60;

    private final Object id;
    private final ChatMemoryStore store;
    private final Fault fault;

    PlantedMemory(Object id, ChatMemoryStore store, Fault fault) {
        this.id = id;
        this.store = store;
        this.fault = fault;
    }

    @Override
    public Object id() {
        return id;
    }

    @Override
    public void add(ChatMessage message) {
        if (fault == Fault.READS_AND_WRITES_WITHOUT_A_LOCK) {
            List<ChatMessage> list = messages();
            // Others read the same list meanwhile.
            Thread.yield();
            list.add(message);
            store.updateMessages(id, list.subList(Math.max(0, list.size() - SHOWN), list.size()));
            return;
        }
        synchronized (store) {
            boolean isSystem = message instanceof SystemMessage;
            if (fault == Fault.EVICTS_ONE_BY_ONE || isSystem && fault == Fault.ADDS_SYSTEM_MESSAGES) {
                List<ChatMessage> list = messages();
                list.add(message);
                while (list.size() > SHOWN) {
                    list.remove(list.get(0) instanceof SystemMessage ? 1 : 0);
                }
                store.updateMessages(id, list);
            } else {
                window().add(message);
            }
        }
    }

    private ChatMemory window() {
        return Dialogue.window(id, SHOWN, store);
    }

    @Override
    public void set(Iterable<ChatMessage> messages) {
        synchronized (store) {
            window().set(messages);
        }
    }

    @Override
    public List<ChatMessage> messages() {
        return new ArrayList<>(store.getMessages(id));
    }

    @Override
    public void clear() {
        store.deleteMessages(id);
    }
}
