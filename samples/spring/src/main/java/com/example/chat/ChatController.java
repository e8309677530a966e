package com.example.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.MessagePreview;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.SearchResult;
import io.github.keepsake4j.recall.SearchResult.Highlight;
import io.github.keepsake4j.turn.TurnPolicy;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * What the user interface of a chat needs. An answer is streamed as server-sent events: {@code token} with a part of it, and
 * at the end {@code done} with its id, {@code stopped}, or {@code failed}.
 *
 * <p>A conversation belongs to the user who began it. For all others, it does not exist.
 */
@RestController
@RequestMapping("/conversations")
class ChatController {

    static final String MESSAGES = "messages";

    record Text(String text) {

        /** Returns the text of a question, which LangChain4j takes only if it is not blank. */
        String question() {
            if (text == null || text.isBlank()) {
                throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "text: must not be blank");
            }
            return text;
        }
    }

    record Entry(String id, String title, String preview, long messages, Instant lastMessageAt) {}

    /** @param model the name of the model that answers */
    record Entries(List<Entry> conversations, String next, String model) {}

    record Message(String id, String parentId, ChatMessageType type, String text, Instant at, String outcome) {}

    record Messages(List<Message> messages, Long before) {}

    /** @param lagging whether the newest messages may be missing, because they are not indexed yet */
    record Found(List<Hit> hits, boolean lagging) {}

    record Hit(Message message, String text, List<Highlight> highlights) {}

    record Branch(String leafId, boolean current, String first, String last, long messages) {}

    private static final Logger LOG = LoggerFactory.getLogger(ChatController.class);

    private final Keepsake keepsake;
    private final StreamingAssistant assistant;
    private final Owners owners;

    /** The conversations of the answers that are being sent. */
    private final Map<SseEmitter, String> streams = new ConcurrentHashMap<>();

    ChatController(Keepsake keepsake, StreamingAssistant assistant, Owners owners) {
        this.keepsake = keepsake;
        this.assistant = assistant;
        this.owners = owners;
    }

    @GetMapping
    Entries list(@RequestParam(required = false) String cursor, @RequestParam(defaultValue = "20") int size) {
        MemoryPage page = keepsake.conversations(owners.own(new ListQuery(size, cursor).byActivity()));
        return new Entries(
                page.memories().stream().map(this::entry).toList(),
                page.next().map(ListQuery::cursor).orElse(null),
                Models.NAME);
    }

    private Entry entry(MemoryInfo info) {
        Conversation conversation = keepsake.conversation(info.key());
        return new Entry(
                ((ConversationKey) info.key()).conversationId(),
                Title.of(info, conversation),
                conversation.preview().map(MessagePreview::text).orElse(""),
                info.messages(),
                info.lastMessageAt());
    }

    @GetMapping("/{id}/messages")
    Messages history(@PathVariable String id, @RequestParam(defaultValue = "" + Long.MAX_VALUE) long before) {
        HistoryPage page = keepsake.conversation(id).history(HistoryQuery.before(before, 50));
        return new Messages(
                page.messages().stream().map(ChatController::message).toList(),
                page.next().map(HistoryQuery::sequence).orElse(null));
    }

    private static Message message(LoggedMessage logged) {
        return new Message(
                logged.id(),
                logged.parentId(),
                logged.message().type(),
                logged.message().type() == ChatMessageType.USER ? logged.userText() : text(logged.message()),
                logged.createdAt(),
                logged.outcome() == null ? null : logged.outcome().kind().name());
    }

    private static String text(ChatMessage message) {
        return message instanceof AiMessage answer
                ? answer.text()
                : message instanceof ToolExecutionResultMessage result ? result.text() : "";
    }

    @GetMapping("/{id}/search")
    Found search(@PathVariable String id, @RequestParam String text) {
        SearchResult result = keepsake.search().find(id, text);
        return new Found(
                result.hits().stream()
                        .map(hit -> new Hit(message(hit.message()), hit.text(), hit.highlights()))
                        .toList(),
                result.lagging());
    }

    @GetMapping("/{id}/branches")
    List<Branch> branches(@PathVariable String id) {
        return keepsake.conversation(id).branchPreviews(20).stream()
                .map(each -> new Branch(
                        each.branch().leafId(),
                        each.branch().current(),
                        each.first().text(),
                        each.last().text(),
                        each.branch().length()))
                .toList();
    }

    @PutMapping("/{id}/branches/{leafId}")
    void switchTo(@PathVariable String id, @PathVariable String leafId) {
        keepsake.conversation(id).switchTo(leafId);
    }

    @PutMapping("/{id}/title")
    void rename(@PathVariable String id, @RequestBody Text title) {
        keepsake.conversation(id).setTitle(title.text() == null || title.text().isBlank() ? null : title.text());
    }

    @DeleteMapping("/{id}")
    void erase(@PathVariable String id) {
        keepsake.conversation(id).erase();
    }

    @PostMapping(path = "/{id}/" + MESSAGES, produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter ask(@PathVariable String id, @RequestBody Text question) {
        String text = question.question();
        Supplier<SseEmitter> asked = () -> {
            if (!keepsake.conversation(id).info().map(owners::owns).orElse(true)) {
                throw Advice.none();
            }
            return stream(id, () -> assistant.chat(id, text));
        };
        // One first question after the other, in all processes: the owner is checked and stored in one step.
        boolean isFirst = keepsake.conversation(id).info().isEmpty();
        return isFirst ? keepsake.turn(id, TurnPolicy.WAIT, asked) : asked.get();
    }

    @PutMapping(path = "/{id}/messages/{questionId}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter edit(@PathVariable String id, @PathVariable String questionId, @RequestBody Text question) {
        return stream(id, () -> keepsake.conversation(id)
                .edit(
                        questionId,
                        UserMessage.from(question.question()),
                        asked -> assistant.chat(id, asked.singleText())));
    }

    @PostMapping(path = "/{id}/messages/{answerId}/regenerate", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter regenerate(@PathVariable String id, @PathVariable String answerId) {
        return stream(id, () -> keepsake.conversation(id)
                .regenerate(answerId, asked -> assistant.chat(id, asked.singleText())));
    }

    @PostMapping(path = "/{id}/messages/{questionId}/retry", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter retry(@PathVariable String id, @PathVariable String questionId) {
        return stream(
                id, () -> keepsake.conversation(id).retry(questionId, asked -> assistant.chat(id, asked.singleText())));
    }

    @PostMapping("/{id}/stop")
    int stop(@PathVariable String id) {
        int stopped = keepsake.conversation(id).stop();
        if (stopped > 0) {
            streams.forEach((emitter, conversation) -> {
                if (conversation.equals(id)) {
                    end(emitter, "stopped", Map.of());
                }
            });
        }
        return stopped;
    }

    private SseEmitter stream(String id, Supplier<TokenStream> call) {
        TokenStream answer = call.get();
        Conversation conversation = keepsake.conversation(id);
        SseEmitter emitter = new SseEmitter(0L);
        streams.put(emitter, id);
        answer.onPartialResponse(token -> token(emitter, token))
                .onCompleteResponse(response -> end(
                        emitter,
                        "done",
                        Map.of("id", conversation.idOf(response.aiMessage()).orElse(""))))
                .onError(error -> {
                    LOG.warn("An answer failed", error);
                    end(emitter, "failed", Map.of("error", error.getClass().getSimpleName()));
                })
                .start();
        return emitter;
    }

    /** Returns whether an answer is being sent, by this process. */
    boolean answers(String id) {
        return streams.containsValue(id);
    }

    private void token(SseEmitter emitter, String token) {
        synchronized (emitter) {
            if (streams.containsKey(emitter)) {
                send(emitter, "token", new Text(token));
            }
        }
    }

    /** Ends a stream once. No token that came at the same time is sent behind the end. */
    private void end(SseEmitter emitter, String event, Object data) {
        synchronized (emitter) {
            if (streams.remove(emitter) != null) {
                send(emitter, event, data);
                emitter.complete();
            }
        }
    }

    private void send(SseEmitter emitter, String event, Object data) {
        try {
            emitter.send(SseEmitter.event().name(event).data(data, MediaType.APPLICATION_JSON));
        } catch (IOException e) {
            // The browser has gone.
            String conversation = streams.remove(emitter);
            if (conversation != null) {
                keepsake.conversation(conversation).stop();
            }
        } catch (IllegalStateException e) {
            // A last token of an answer that was stopped.
            streams.remove(emitter);
        }
    }
}
