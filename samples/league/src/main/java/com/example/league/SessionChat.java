package com.example.league;

import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.session.CreateSessionRequest;
import org.springframework.ai.session.DefaultSessionService;
import org.springframework.ai.session.EventFilter;
import org.springframework.ai.session.SessionEvent;
import org.springframework.ai.session.SessionRepository;
import org.springframework.ai.session.SessionService;
import org.springframework.ai.session.advisor.SessionMemoryAdvisor;
import org.springframework.ai.session.jdbc.JdbcSessionRepository;

/** spring-ai-session behind Spring AI's {@code ChatClient}: a log of events, of which the newest are shown. */
final class SessionChat implements Chat {

    private final SessionRepository repository;
    private final SessionService service;
    private final EventFilter window;
    private final ChatClient client;

    SessionChat(DataSource pool, int window) {
        Script.run(pool, "org/springframework/ai/session/jdbc/schema-postgresql.sql");
        this.repository = JdbcSessionRepository.builder().dataSource(pool).build();
        this.service =
                DefaultSessionService.builder().sessionRepository(repository).build();
        this.window = EventFilter.lastN(window);
        this.client = SpringModel.client(
                SessionMemoryAdvisor.builder(service).eventFilter(this.window).build());
    }

    @Override
    public void fill(String conversation, int messages) {
        service.create(
                CreateSessionRequest.builder().id(conversation).userId("league").build());
        List<SessionEvent> events = IntStream.range(0, messages)
                .mapToObj(i -> SessionEvent.builder()
                        .sessionId(conversation)
                        .message(SpringModel.filled(i))
                        .build())
                .toList();
        // The only call that inserts many events at once.
        if (!repository.compactEvents(conversation, List.of(), events, 0)) {
            throw new IllegalStateException(conversation + " was filled already");
        }
    }

    @Override
    public String ask(String conversation, String question) {
        return SpringModel.ask(client, conversation, question);
    }

    @Override
    public List<String> shown(String conversation) {
        return texts(conversation, window.merge(EventFilter.active()));
    }

    @Override
    public List<String> stored(String conversation) {
        return texts(conversation, EventFilter.all());
    }

    private List<String> texts(String conversation, EventFilter filter) {
        return service.getEvents(conversation, filter).stream()
                .map(each -> SpringModel.text(each.getMessage()))
                .toList();
    }

    @Override
    public void close() {}
}
