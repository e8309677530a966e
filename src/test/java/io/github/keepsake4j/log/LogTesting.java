package io.github.keepsake4j.log;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Short methods for steps that the contract's tests often repeat. */
public final class LogTesting {

    /** The memory that most tests use. */
    public static final MemoryKey KEY = ConversationKey.of("acme", "42");

    /** A word that is in every text, so that a test can tell whether an error repeats message text. */
    public static final String SECRET = "Sesame";

    private LogTesting() {}

    /** Returns a user message of ten tokens whose text contains its id. */
    public static NewMessage user(String id) {
        return message(id, UserMessage.from(SECRET + " " + id), 10);
    }

    /** Returns an answer of ten tokens whose text contains its id. */
    public static NewMessage answer(String id) {
        return message(id, AiMessage.from(SECRET + " " + id), 10);
    }

    /** Returns a system message of ten tokens whose text contains its id. */
    public static NewMessage system(String id) {
        return message(id, SystemMessage.from(SECRET + " " + id), 10);
    }

    public static NewMessage message(String id, ChatMessage message, int tokens) {
        return new NewMessage(id, message, tokens, "test-counter", null);
    }

    /** Returns user messages with these ids. */
    public static List<NewMessage> users(String... ids) {
        return Stream.of(ids).map(LogTesting::user).toList();
    }

    /** Returns an append of user messages under the head. */
    public static Append batch(String... ids) {
        return Append.under(Parent.head(), users(ids));
    }

    /** Returns an append of user messages under a named parent. */
    public static Append batchUnder(String parent, String... ids) {
        return Append.under(Parent.of(parent), users(ids));
    }

    public static List<String> ids(List<LoggedMessage> messages) {
        return messages.stream().map(LoggedMessage::id).toList();
    }

    public static List<String> leaves(List<Branch> branches) {
        return branches.stream().map(Branch::leafId).toList();
    }

    /** Returns the ids of the whole current branch. */
    public static List<String> branch(MessageLog log, MemoryKey key) {
        return ids(log.read(key, ReadQuery.wholeBranch()).messages());
    }

    /** Returns the ids of the whole branch that ends in a message. */
    public static List<String> branch(MessageLog log, MemoryKey key, String leaf) {
        return ids(log.read(key, ReadQuery.wholeBranch().endingIn(leaf)).messages());
    }

    /** Returns the whole history in pages of the given size, in the order in which the pages returned it. */
    public static List<LoggedMessage> history(MessageLog log, MemoryKey key, HistoryQuery first) {
        List<LoggedMessage> all = new ArrayList<>();
        Optional<HistoryQuery> next = Optional.of(first);
        while (next.isPresent()) {
            HistoryPage page = log.history(key, next.get());
            all.addAll(first.forward() ? all.size() : 0, page.messages());
            refuseToPageForEver(all);
            next = page.next();
        }
        return all;
    }

    /** Fails if pages return too many entries. A log whose pages repeat would otherwise keep a test busy for ever. */
    public static void refuseToPageForEver(List<?> met) {
        if (met.size() > 1_000_000) {
            throw new AssertionError("pages without end");
        }
    }

    /** Returns the whole history, oldest first. */
    public static List<LoggedMessage> history(MessageLog log, MemoryKey key) {
        return history(log, key, HistoryQuery.oldest(500));
    }

    /** Returns all memories of a tenant, in pages of the given size. */
    public static List<MemoryInfo> list(MessageLog log, String tenant, int limit) {
        return list(log, tenant, ListQuery.first(limit));
    }

    /** Returns the keys of all memories of a tenant by their activity, in pages of the given size. */
    public static List<MemoryKey> listByActivity(MessageLog log, String tenant, int limit) {
        return list(log, tenant, ListQuery.first(limit).byActivity()).stream()
                .map(MemoryInfo::key)
                .toList();
    }

    /** Returns the entries of a whole list, in pages. */
    public static List<MemoryInfo> list(MessageLog log, String tenant, ListQuery first) {
        List<MemoryInfo> all = new ArrayList<>();
        Optional<ListQuery> next = Optional.of(first);
        while (next.isPresent()) {
            MemoryPage page = log.list(tenant, next.get());
            all.addAll(page.memories());
            refuseToPageForEver(all);
            next = page.next();
        }
        return all;
    }
}
