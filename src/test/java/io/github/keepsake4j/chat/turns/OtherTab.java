package io.github.keepsake4j.chat.turns;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.turns.Said.Kind;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What another tab of a user's browser, or an application, does with a conversation while turns run. */
final class OtherTab {

    static final String BRANCH = "tab";

    /** The first letter of an answer that was placed under its question. */
    static final String PLACED = "p";

    /** The first letter of an answer that was added at the end. */
    static final String ADDED = "a";

    private final Random random;
    private final Object id;

    /** Whether the head that was read may be moved meanwhile. */
    private final boolean races;

    private final String name;
    private final List<String> acknowledged;
    private int said;

    /** Whether a list of messages was set, or cleared. */
    private boolean listed;

    /**
     * Creates a tab.
     *
     * @param races whether others run at the same time
     * @param name the end of what it says
     * @param acknowledged takes the texts that are stored
     */
    OtherTab(Random random, Object id, boolean races, String name, List<String> acknowledged) {
        this.random = random;
        this.id = id;
        this.races = races;
        this.name = name;
        this.acknowledged = acknowledged;
    }

    private String next(String first) {
        return first + said++ + name;
    }

    boolean hasListed() {
        return listed;
    }

    <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** Does something other than a turn. */
    void act(Keepsake keepsake, MessageLog log, Story story, boolean mayList) {
        if (story.history.isEmpty()) {
            return;
        }
        Conversation conversation = keepsake.conversation(id);
        String some = any(story.history).id();
        switch (random.nextInt(mayList ? 9 : 7)) {
            case 0 -> conversation.switchTo(some);
            case 1 -> conversation.switchTo(any(story.leaves()).id());
            case 2 -> log.change(conversation.key(), new Change.MoveBranch(BRANCH, some, null));
            case 3, 4, 5 -> answer(keepsake, story);
            case 6 -> exchange(keepsake.chatMemory(id));
            case 7 -> {
                listed = true;
                keepsake.chatMemory(id).clear();
            }
            default -> shorten(keepsake.chatMemory(id));
        }
    }

    private void answer(Keepsake keepsake, Story story) {
        List<LoggedMessage> open = story.history.stream()
                .filter(message -> story.isBound(story.said(message).question()))
                .filter(message -> story.said(message).is(Kind.QUESTION)
                        || (story.said(message).is(Kind.RESULT) && endsRound(message, story)))
                .toList();
        if (open.isEmpty()) {
            return;
        }
        Conversation conversation = keepsake.conversation(id);
        LoggedMessage at = any(open);
        LoggedMessage head = story.get(story.head);
        boolean atHead =
                open.contains(head) && story.said(head).is(Kind.QUESTION) && !races && !listed && !story.hasWaiting();
        AiMessage answer =
                AiMessage.from(Said.answer(story.said(atHead ? head : at).question(), next(atHead ? ADDED : PLACED)));
        if (atHead) {
            keepsake.chatMemory(id).add(answer);
        } else if (random.nextBoolean()) {
            conversation.append(Parent.of(at.id()), Ids.next(), answer);
        } else {
            conversation.importMessage(Ids.next(), at.id(), answer, null);
        }
        acknowledged.add(answer.text());
    }

    /** Returns whether a result is the last one of its calls. */
    private static boolean endsRound(LoggedMessage result, Story story) {
        return story.all(Kind.CALLS)
                .anyMatch(calls ->
                        story.said(calls).text().endsWith(story.said(result).text()));
    }

    /** Adds a question and its answer as an application does that uses no AI service. */
    private void exchange(KeepsakeChatMemory memory) {
        String question = next(Said.UNBOUND);
        AiMessage answer = AiMessage.from(Said.answer(question, next(ADDED)));
        memory.add(List.of(UserMessage.from(question), answer));
        acknowledged.add(question);
        acknowledged.add(answer.text());
    }

    /** Leaves out the oldest messages, or one. */
    private void shorten(KeepsakeChatMemory memory) {
        List<ChatMessage> shown = memory.messages();
        if (shown.size() < 2) {
            return;
        }
        listed = true;
        List<ChatMessage> list = new ArrayList<>(shown);
        int at = 1 + random.nextInt(list.size() - 1);
        if (random.nextBoolean()) {
            list.remove(at);
        } else {
            list = list.subList(at, list.size());
        }
        List<ChatMessage> whole = withoutHalves(list);
        if (!whole.isEmpty()) {
            memory.set(whole);
        }
    }

    /** A list says nothing of a half of an unbound exchange. */
    private static List<ChatMessage> withoutHalves(List<ChatMessage> list) {
        return list.stream()
                .filter(message -> !Said.of(message).isUnbound()
                        || list.stream()
                                        .filter(other -> Said.of(other).isOf(Said.of(message)))
                                        .count()
                                > 1)
                .toList();
    }

    /** Chooses how a turn begins: null for a new question behind the newest message. */
    Turn begin(Story story) {
        List<LoggedMessage> bound = story.history.stream()
                .filter(message -> story.isBound(story.said(message).question()) && !Story.isRejected(message))
                .toList();
        List<LoggedMessage> questions = bound.stream()
                .filter(message -> story.said(message).is(Kind.QUESTION))
                .toList();
        List<LoggedMessage> answers = bound.stream()
                .filter(message -> story.said(message).is(Kind.ANSWER))
                .toList();
        int kind = random.nextInt(20);
        if (kind < 10 || questions.isEmpty()) {
            return null;
        }
        if (kind < 12) {
            return Turn.on(BRANCH);
        }
        if (kind < 14) {
            return Turn.edit(any(questions).id());
        }
        if (kind < 17 || answers.isEmpty()) {
            return Turn.retry(any(questions).id());
        }
        return Turn.regenerate(any(answers).id());
    }

    /** Returns the text of the question that a turn asks. */
    String question(Turn begin, Story story, String next) {
        boolean isNew = begin == null || begin.messageId() == null || begin.kind() == Turn.Kind.EDIT;
        return isNew ? next : story.said(story.get(begin.messageId())).question();
    }
}
