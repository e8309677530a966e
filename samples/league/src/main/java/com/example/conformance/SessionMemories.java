package com.example.conformance;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.session.CreateSessionRequest;
import org.springframework.ai.session.DefaultSessionService;
import org.springframework.ai.session.EventFilter;
import org.springframework.ai.session.SessionEvent;
import org.springframework.ai.session.SessionService;
import org.springframework.ai.session.compaction.CompactionStrategy;
import org.springframework.ai.session.compaction.SlidingWindowCompactionStrategy;
import org.springframework.ai.session.jdbc.JdbcSessionRepository;
import org.springframework.dao.DuplicateKeyException;

/**
 * Sessions of spring-ai-session as memories of LangChain4j: a message is an event, and a session with more than
 * 60 events is compacted, which archives the older ones.
 */
public final class SessionMemories implements ChatMemoryProvider, AutoCloseable {

    private static final int MAX_EVENTS = 60;

    private final HikariDataSource source = Database.connect();
    private final SessionService sessions = DefaultSessionService.builder()
            .sessionRepository(
                    JdbcSessionRepository.builder().dataSource(source).build())
            .build();

    private final CompactionStrategy newest =
            SlidingWindowCompactionStrategy.builder().maxEvents(MAX_EVENTS).build();

    @Override
    public ChatMemory get(Object id) {
        create(id);
        return new ChatMemory() {
            @Override
            public Object id() {
                return id;
            }

            @Override
            public void add(ChatMessage message) {
                sessions.appendMessage(id.toString(), Messages.toSpring(message));
                sessions.compact(id.toString(), request -> request.events().size() > MAX_EVENTS, newest);
            }

            @Override
            public List<ChatMessage> messages() {
                return events(id, EventFilter.active());
            }

            @Override
            public void clear() {
                sessions.delete(id.toString());
                create(id);
            }
        };
    }

    private void create(Object id) {
        if (sessions.findById(id.toString()) == null) {
            try {
                sessions.create(CreateSessionRequest.builder()
                        .id(id.toString())
                        .userId("conformance")
                        .build());
            } catch (DuplicateKeyException e) {
                // Another thread was first.
            }
        }
    }

    /** Returns all events of a session, archived ones too. */
    List<ChatMessage> kept(Object id) {
        return events(id, EventFilter.all());
    }

    private List<ChatMessage> events(Object id, EventFilter filter) {
        return new ArrayList<>(sessions.getEvents(id.toString(), filter).stream()
                .map(SessionEvent::getMessage)
                .map(Messages::fromSpring)
                .toList());
    }

    @Override
    public void close() {
        source.close();
    }
}
