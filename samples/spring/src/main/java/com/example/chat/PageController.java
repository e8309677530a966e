package com.example.chat;

import com.example.chat.NextRequest.Part;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Conversation.TreeNode;
import io.github.keepsake4j.chat.SeenMessages;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.KeptRequest;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** What the page at {@code /} shows besides the chat: what a model sees, what it saw, and why. Only reads, except a fork. */
@RestController
@RequestMapping("/conversations/{id}")
class PageController {

    private static final int PAGE = 50;
    private static final int TREE = 1_000;
    private static final int COSTS = 200;
    private static final int DAYS = 30;

    /**
     * A message of the branch that is shown, with its other versions.
     *
     * @param versions for each version, such as each answer to the same question, the newest message behind it
     * @param version the place of this one among them, from 0
     */
    record Entry(Said said, List<String> versions, int version, Usage usage) {}

    /** The title of a copy, which has to be shorter than 1,000 characters. */
    private static final String COPY = "Copy of %.900s";

    /**
     * What the page shows first.
     *
     * @param state changes whenever the conversation changes
     * @param running whether an answer is being sent to a page
     * @param older the newest message of the page before this one, or null
     * @param request the next request, on the newest page
     * @param recall the largest number of tokens of older messages that are added to the next question
     * @param configured how the memory is configured, in words
     */
    record Page(
            String state,
            boolean running,
            String title,
            List<Entry> messages,
            String older,
            NextRequest request,
            int recall,
            String configured) {}

    record State(String state) {}

    record Node(Said said, boolean current, String leafId) {}

    record Memory(String id, String text) {}

    record Kept(String model, List<String> tools, List<Said> messages) {}

    /**
     * What a model was shown for an answer.
     *
     * @param known whether this is known
     * @param altered whether the request was changed by something else than the memory
     * @param request the whole request if it was kept
     * @param recalled what was recalled for the question, or an empty text
     * @param tokens about how large the parts were
     */
    record Seen(
            boolean known,
            Said answer,
            List<Said> messages,
            List<String> shortened,
            String summary,
            List<Memory> memories,
            boolean altered,
            Kept request,
            String recalled,
            Map<Part, Integer> tokens,
            String model,
            String finish,
            Usage usage) {}

    record Passage(double score, Recalled.Features features, String id, List<Said> messages, int tokens) {}

    record Found(List<Passage> passages, boolean lagging, double millis) {}

    record Cost(Said said, Usage usage) {}

    record Costs(Map<LocalDate, Usage> days, List<Cost> answers) {}

    record New(String id) {}

    private final Keepsake keepsake;
    private final ChatController chat;
    private final Integer maxTokens;
    private final String tenant;
    private final boolean recall;
    private final String configured;

    PageController(
            Keepsake keepsake,
            ChatController chat,
            @Value("${keepsake4j.strategy.max-tokens:#{null}}") Integer maxTokens,
            @Value("${keepsake4j.tenant:default}") String tenant,
            @Value("${chat.recall:false}") boolean recall,
            Environment environment) {
        this.keepsake = keepsake;
        this.chat = chat;
        this.maxTokens = maxTokens;
        this.tenant = tenant;
        this.recall = recall;
        this.configured = configured(environment);
    }

    /** Says in words what the properties that are set do. */
    private static String configured(Environment environment) {
        return Stream.of(
                        "the newest ${strategy.max-messages} messages",
                        "the newest ${strategy.max-turns} turns",
                        "the newest ${strategy.max-tokens} tokens",
                        "summary from ${summary.trigger-tokens} tokens, keeps about ${summary.keep-tokens}",
                        "long-term memories up to ${memories.block-tokens} tokens")
                .map(each -> environment.resolvePlaceholders(each.replace("${", "${keepsake4j.")))
                .filter(each -> !each.contains("${"))
                .collect(Collectors.joining("; "));
    }

    @GetMapping("/state")
    State state(@PathVariable String id) {
        Conversation conversation = keepsake.conversation(id);
        return new State(state(conversation.info(), conversation.branch(0), conversation.context(), chat.answers(id)));
    }

    /** Names all that the page shows. A summary and long-term memories change without a new message. */
    private static String state(Optional<MemoryInfo> info, Tail tail, Context context, boolean running) {
        String summary = context.summary() == null ? null : context.summary().id();
        String memories = context.remembered() == null
                ? null
                : context.remembered().message().id();
        return running + "." + summary + "." + memories + "." + tail.epoch() + "." + tail.revision() + "." + tail.head()
                + "."
                + info.map(each -> each.messages() + "." + Objects.hashCode(each.title()))
                        .orElse("");
    }

    /** Returns the newest messages of the branch, or those up to a message. */
    @GetMapping("/page")
    Page page(@PathVariable String id, @RequestParam(required = false) String upTo) {
        Conversation conversation = keepsake.conversation(id);
        Optional<MemoryInfo> info = conversation.info();
        Tail tail = upTo == null ? conversation.branch(PAGE) : conversation.branch(upTo, PAGE);
        Context context = conversation.context();
        Map<String, TreeNode> tree = nodes(conversation);
        Map<String, List<TreeNode>> children = tree.values().stream()
                .collect(Collectors.groupingBy(
                        node -> String.valueOf(node.message().parentId())));
        List<Entry> entries = tail.messages().stream()
                .map(message -> entry(conversation, message, tree, children))
                .toList();
        boolean running = chat.answers(id);
        return new Page(
                state(info, tail, context, running),
                running,
                info.map(each -> Title.of(each, conversation)).orElse(null),
                entries,
                tail.complete() || tail.missingParent() != null || entries.isEmpty()
                        ? null
                        : entries.get(0).said().parentId(),
                upTo == null ? request(conversation, context) : null,
                recall ? Models.RECALL.maxTokens() : 0,
                configured);
    }

    private static Entry entry(
            Conversation conversation,
            LoggedMessage message,
            Map<String, TreeNode> tree,
            Map<String, List<TreeNode>> children) {
        List<TreeNode> versions = children.getOrDefault(String.valueOf(message.parentId()), List.of()).stream()
                .filter(node ->
                        node.message().message().type() == message.message().type())
                .toList();
        List<String> ids = versions.stream().map(node -> node.message().id()).toList();
        return new Entry(
                Said.of(message),
                versions.stream().map(node -> leaf(node, tree)).toList(),
                Math.max(0, ids.indexOf(message.id())),
                message.message() instanceof AiMessage
                        ? conversation.made(message.id()).usage()
                        : null);
    }

    private static Map<String, TreeNode> nodes(Conversation conversation) {
        return conversation.tree(TREE).stream()
                .collect(Collectors.toMap(
                        node -> node.message().id(), Function.identity(), (one, other) -> one, LinkedHashMap::new));
    }

    /** Returns the newest message behind a message. */
    private static String leaf(TreeNode from, Map<String, TreeNode> tree) {
        TreeNode node = from;
        while (!node.childIds().isEmpty()) {
            node = tree.get(node.childIds().get(node.childIds().size() - 1));
        }
        return node.message().id();
    }

    /** Returns what would be sent next, as the memory is set or with another strategy. Stores nothing and calls no model. */
    @GetMapping("/request")
    NextRequest request(
            @PathVariable String id,
            @RequestParam(required = false) String strategy,
            @RequestParam(defaultValue = "20") int size) {
        Conversation conversation = keepsake.conversation(id);
        if (strategy == null) {
            return request(conversation, conversation.context());
        }
        ContextStrategy other = strategy(strategy, size);
        Context context = conversation.context(other);
        return NextRequest.of(
                context,
                conversation.explain(other),
                strategy.equals("tokens") ? Integer.valueOf(size) : null,
                other.foldUpTo(context).orElse(null));
    }

    private NextRequest request(Conversation conversation, Context context) {
        return NextRequest.of(context, conversation.explain(), maxTokens, null);
    }

    private static ContextStrategy strategy(String name, int size) {
        return switch (name) {
            case "messages" -> SlidingWindow.withMaxMessages(size);
            case "turns" -> SlidingWindow.withMaxTurns(size);
            case "tokens" -> TokenLimit.withMaxTokens(size, TokenCounter.standard());
            case "summary" -> Summarization.triggerMessages(size);
            default ->
                throw new ResponseStatusException(
                        HttpStatus.BAD_REQUEST, "strategy: must be messages, turns, tokens or summary");
        };
    }

    @GetMapping("/messages/{answerId}/seen")
    Seen seen(@PathVariable String id, @PathVariable String answerId) {
        Conversation conversation = keepsake.conversation(id);
        Made made = conversation.made(answerId);
        Optional<SeenMessages> seen = conversation.seenBy(answerId);
        LoggedMessage answer = conversation.branch(answerId, 1).messages().get(0);
        List<ChatMessage> messages = seen.map(SeenMessages::messages).orElse(List.of()).stream()
                .map(LoggedMessage::message)
                .toList();
        List<Memory> memories = seen.map(SeenMessages::memories).orElse(List.of()).stream()
                .map(memory -> memory(id, memory))
                .toList();
        String summary = seen.map(SeenMessages::summary).map(Summary::text).orElse(null);
        // The question is stored with what was recalled for its first answer.
        String stored = Models.recalled(messages);
        List<ChatMessage> sent = seen.map(SeenMessages::request)
                .map(KeptRequest::messages)
                .orElseGet(() -> Stream.concat(added(conversation, summary, memories), messages.stream())
                        .toList());
        String recalled = Models.recalled(sent);
        Map<Part, Integer> tokens = new EnumMap<>(Part.class);
        sent.forEach(each -> tokens.merge(NextRequest.part(each), NextRequest.size(each), Integer::sum));
        int ofRecalled = TokenCounter.standard().estimateTokenCountInText(recalled);
        tokens.put(Part.RECALLED, ofRecalled);
        tokens.merge(Part.TURNS, -ofRecalled, Integer::sum);
        return new Seen(
                seen.isPresent(),
                Said.of(answer),
                seen.map(SeenMessages::messages).orElse(List.of()).stream()
                        .map(Said::of)
                        .toList(),
                seen.map(each -> List.copyOf(each.shortened())).orElse(List.of()),
                summary,
                memories,
                seen.map(SeenMessages::altered).orElse(false) && recalled.equals(stored),
                seen.map(SeenMessages::request)
                        .map(kept -> new Kept(
                                kept.modelName(),
                                kept.tools(),
                                kept.messages().stream()
                                        .map(PageController::sent)
                                        .toList()))
                        .orElse(null),
                recalled,
                tokens,
                made.modelName(),
                made.finishReason(),
                made.usage());
    }

    /**
     * Returns what the memory adds to the messages of a request. If the long-term memories are others by now, this is
     * without the notes around each.
     */
    private static Stream<ChatMessage> added(Conversation conversation, String summary, List<Memory> memories) {
        Remembered now = conversation.context().remembered();
        List<String> ids = memories.stream().map(Memory::id).toList();
        ChatMessage remembered = now != null && now.memories().equals(ids)
                ? now.message().message()
                : marked(
                        Remembered.ATTRIBUTE,
                        memories.stream()
                                .map(Memory::text)
                                .filter(Objects::nonNull)
                                .collect(Collectors.joining("\n")));
        return Stream.concat(
                Stream.ofNullable(summary).map(text -> marked(Summarization.ATTRIBUTE, Summarization.MARKER + text)),
                ids.isEmpty() ? Stream.empty() : Stream.of(remembered));
    }

    private static ChatMessage marked(String attribute, String text) {
        return UserMessage.builder()
                .addContent(TextContent.from(text))
                .attributes(Map.of(attribute, ""))
                .build();
    }

    private static Said sent(ChatMessage message) {
        return new Said(null, null, 0, message.type(), Said.text(message), null, List.of(), null, null, 0, null);
    }

    private Memory memory(String id, String memoryId) {
        String text = keepsake.longTermMemories()
                .of(id)
                .find(memoryId)
                .map(MemoriesController::text)
                .orElse(null);
        return new Memory(memoryId, text);
    }

    @GetMapping("/tree")
    List<Node> tree(@PathVariable String id) {
        Map<String, TreeNode> tree = nodes(keepsake.conversation(id));
        return tree.values().stream()
                .filter(node -> node.message().message().type() != ChatMessageType.SYSTEM)
                .map(node -> new Node(brief(node.message()), node.current(), leaf(node, tree)))
                .toList();
    }

    private static Said brief(LoggedMessage message) {
        Said said = Said.of(message);
        return said.with(said.text());
    }

    @GetMapping("/recall")
    Found recall(@PathVariable String id, @RequestParam String text) {
        long from = System.nanoTime();
        Recalled recalled = keepsake.recall().find(id, text, Models.RECALL);
        double millis = (System.nanoTime() - from) / 1e6;
        return new Found(
                recalled.passages().stream()
                        .map(passage -> new Passage(
                                passage.score(),
                                passage.features(),
                                passage.message().id(),
                                passage.messages().stream().map(Said::of).toList(),
                                passage.messages().stream()
                                        .mapToInt(LoggedMessage::tokens)
                                        .sum()))
                        .toList(),
                recalled.lagging(),
                millis);
    }

    /** Returns the tokens of the newest days, and of the newest answers, the most expensive first. */
    @GetMapping("/usage")
    Costs usage(@PathVariable String id) {
        Conversation conversation = keepsake.conversation(id);
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        Map<LocalDate, Usage> days = new LinkedHashMap<>();
        keepsake.tenant(tenant).usage(today.minusDays(DAYS), today.plusDays(1)).stream()
                .filter(each -> each.key().equals(conversation.key()))
                .forEach(each -> days.merge(each.day(), each.usage(), Usage::plus));
        List<Cost> answers = new ArrayList<>();
        for (TreeNode node : conversation.tree(COSTS)) {
            if (node.message().message() instanceof AiMessage) {
                Usage usage = conversation.made(node.message().id()).usage();
                if (usage != null) {
                    answers.add(new Cost(brief(node.message()), usage));
                }
            }
        }
        answers.sort(Comparator.comparingLong(
                (Cost cost) -> -cost.usage().input() - cost.usage().output()));
        return new Costs(days, answers);
    }

    @GetMapping("/check")
    List<Damage> check(@PathVariable String id) {
        return keepsake.conversation(id).check();
    }

    /** Copies the branch up to a message into a new conversation, whose id tells nothing of the ids that others use. */
    @PostMapping("/messages/{messageId}/fork")
    New fork(@PathVariable String id, @PathVariable String messageId) {
        String into = UUID.randomUUID().toString();
        Conversation conversation = keepsake.conversation(id);
        Conversation copy = conversation.fork(messageId, into);
        conversation.info().ifPresent(info -> copy.setTitle(COPY.formatted(Title.of(info, conversation))));
        return new New(into);
    }
}
