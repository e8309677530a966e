package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.chat.turns.Talk.ID;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.component.MemoryComponent;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.TrueReasons;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each way to add messages, behind each kind of turn: what was shown is in the next two requests, or an explanation
 * gives a reason that is true.
 */
@Timeout(1200)
class EveryWayToAddTest {

    interface Streaming {
        TokenStream chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** What comes before. A turn that still runs is returned. */
    enum Before {
        PLAIN {
            @Override
            @Nullable
            Tab in(Talk talk) {
                talk.tab().chat(ID, "one", null, "a1");
                return null;
            }
        },
        TOOL {
            @Override
            @Nullable
            Tab in(Talk talk) {
                talk.tab().chat(ID, "one", null, toolCall("t"), "a1");
                return null;
            }
        },
        STREAM {
            @Override
            @Nullable
            Tab in(Talk talk) throws Exception {
                stream(talk, false);
                return null;
            }
        },
        STOPPED {
            @Override
            @Nullable
            Tab in(Talk talk) throws Exception {
                stream(talk, true);
                return null;
            }
        },
        FAILED {
            @Override
            @Nullable
            Tab in(Talk talk) {
                Tab tab = talk.tab();
                tab.ask("one");
                tab.fails();
                return null;
            }
        },
        FAILED_BEHIND_A_ROUND {
            @Override
            @Nullable
            Tab in(Talk talk) {
                Tab tab = talk.tab();
                tab.ask("one");
                tab.replyThenRequest(toolCall("t"));
                tab.fails();
                return null;
            }
        },
        RETRIED {
            @Override
            @Nullable
            Tab in(Talk talk) {
                FAILED_BEHIND_A_ROUND.ends(talk);
                talk.tab().chat(ID, "one", Turn.retry(talk.id("U(one)")), "a1");
                return null;
            }
        },
        REGENERATED {
            @Override
            @Nullable
            Tab in(Talk talk) {
                TOOL.ends(talk);
                talk.tab().chat(ID, "one", Turn.regenerate(talk.id("A(a1)")), "again");
                return null;
            }
        },
        EDITED {
            @Override
            @Nullable
            Tab in(Talk talk) {
                PLAIN.ends(talk);
                talk.tab().chat(ID, "other", Turn.edit(talk.id("U(one)")), "another");
                return null;
            }
        },
        RUNNING {
            @Override
            Tab in(Talk talk) {
                Tab tab = talk.tab();
                tab.ask("one");
                return tab;
            }
        },
        RUNNING_BEHIND_A_ROUND {
            @Override
            Tab in(Talk talk) {
                Tab tab = talk.tab();
                tab.ask("one");
                tab.replyThenRequest(toolCall("t"));
                return tab;
            }
        };

        abstract @Nullable Tab in(Talk talk) throws Exception;

        void ends(Talk talk) {
            try {
                in(talk);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        private static void stream(Talk talk, boolean stops) throws Exception {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch goesOn = new CountDownLatch(1);
            StreamScript model = new StreamScript(sink -> {
                sink.tokens("a1");
                begun.countDown();
                Tab.await(goesOn);
                sink.tokens(" and more");
                if (!sink.cancelled.get()) {
                    sink.done("a1 and more");
                }
            });
            Streaming assistant = talk.keepsake
                    .aiServices(Streaming.class)
                    .streamingChatModel(model)
                    .build();
            EndingTurns.quiet(assistant.chat(ID, "one")).start();
            Tab.await(begun);
            if (stops) {
                talk.keepsake.conversation(ID).stop();
            }
            goesOn.countDown();
            model.await();
            await().until(() -> talk.history().contains("A(a1"));
        }
    }

    /** What is added. */
    enum Added {
        ANSWER(ai("hand")),
        EXCHANGE(user("by hand"), ai("hand")),
        ROUND(user("by hand"), calls("h"), result("h"), ai("hand"));

        final List<ChatMessage> messages;

        Added(ChatMessage... messages) {
            this.messages = List.of(messages);
        }
    }

    /** How it is added. */
    enum Way {
        MEMORY_ADD {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                messages.forEach(talk.other.chatMemory(ID)::add);
            }
        },
        MEMORY_ADD_LIST {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                talk.other.chatMemory(ID).add(messages);
            }
        },
        MEMORY_SET {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                List<ChatMessage> list =
                        new ArrayList<>(talk.other.chatMemory(ID).messages());
                list.addAll(messages);
                talk.other.chatMemory(ID).set(list);
            }
        },
        STORE_UPDATE {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                List<ChatMessage> list =
                        new ArrayList<>(talk.other.chatMemoryStore().getMessages(ID));
                list.addAll(messages);
                talk.other.chatMemoryStore().updateMessages(ID, list);
            }
        },
        APPEND_TO_HEAD {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                messages.forEach(message -> append(talk, Parent.head(), message));
            }
        },
        APPEND_TO_MESSAGE {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                messages.forEach(message -> append(talk, Parent.of(head(talk)), message));
            }
        },
        APPEND_TO_ROOT {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                append(talk, Parent.root(), messages.get(0));
                messages.stream().skip(1).forEach(message -> append(talk, Parent.head(), message));
            }
        },
        IMPORT {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                for (ChatMessage message : messages) {
                    talk.conversation().importMessage(UUID.randomUUID().toString(), head(talk), message, null);
                }
            }
        },
        COMPONENT {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                MemoryComponent component =
                        MemoryComponent.builder().backend("log", () -> talk.log).build();
                messages.forEach(
                        message -> component.run(MemoryInput.add(ID, message).onBackend("log")));
            }
        },
        ATTACHED_SERVICE {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                service(talk, Column.ATTACH, messages);
            }
        },
        PLAIN_SERVICE {
            @Override
            void add(Talk talk, List<ChatMessage> messages) {
                service(talk, Column.WITHOUT, messages);
            }
        };

        abstract void add(Talk talk, List<ChatMessage> messages);

        /** Whether the way itself says that the messages before are not shown any more. */
        boolean replaces() {
            return this == APPEND_TO_ROOT;
        }

        /** Whether it makes a list, so that what this does not have is not on it. */
        boolean sets() {
            return this == MEMORY_SET || this == STORE_UPDATE;
        }

        boolean asks() {
            return this == ATTACHED_SERVICE || this == PLAIN_SERVICE;
        }

        private static void append(Talk talk, Parent parent, ChatMessage message) {
            talk.conversation().append(parent, UUID.randomUUID().toString(), message);
        }

        private static String head(Talk talk) {
            return Reads.position(talk.log, Talk.KEY).head();
        }

        private static void service(Talk talk, Column column, List<ChatMessage> messages) {
            Script model = messages.size() == 2 ? new Script("hand") : new Script(toolCall("h"), "hand");
            Assistant assistant = column.builder(talk.other, Assistant.class)
                    .chatModel(model)
                    .tools(new EndingTurns.Tools())
                    .build();
            assistant.chat(ID, "by hand");
            model.requests.forEach(request -> assertValid(request.messages()));
        }
    }

    static Stream<Arguments> all() {
        return Stream.of(Home.IN_MEMORY, Home.SQLITE).flatMap(home -> Arrays.stream(Before.values())
                .flatMap(before -> Arrays.stream(Way.values()).flatMap(way -> Arrays.stream(Added.values())
                        .filter(added -> !way.asks() || added != Added.ANSWER)
                        // A file is synced for each message, which takes long.
                        .filter(added -> home == Home.IN_MEMORY || added == Added.ANSWER || Counts.isFull())
                        .map(added -> Arguments.of(home, before, way, added)))));
    }

    @ParameterizedTest(name = "{0} {1} {2} {3}")
    @MethodSource("all")
    void what_was_shown_is_in_the_next_two_requests_or_has_a_true_reason(Home home, Before before, Way way, Added added)
            throws Exception {
        try (Talk talk = Talk.on(home)) {
            talk.chat("zero", "a0");
            Tab running = before.in(talk);
            List<String> shown = shown(talk);
            way.add(talk, added.messages);

            if (!way.replaces()) {
                assertShown(talk, shown, texts(talk.conversation().messages()));
            }
            assertShown(talk, List.of("A(hand)"), texts(talk.conversation().messages()));
            if (way.sets()) {
                assertThat(texts(talk.conversation().messages())).contains("A(hand)");
            }
            goesOn(talk, way, 1);
            if (running != null) {
                shown = shown(talk);
                running.ends("late");
                assertShown(talk, shown, texts(talk.conversation().messages()));
            }
            goesOn(talk, way, 2);
            boolean ownList = way.sets() || way.replaces();
            String question = added != Added.ANSWER ? "U(by hand)" : before == Before.EDITED ? "U(other)" : "U(one)";
            talk.requests().forEach(request -> {
                assertValid(request);
                assertOwner(request, "A(late)", "U(one)");
                if (added != Added.ANSWER || !ownList) {
                    assertOwner(request, "A(hand)", question);
                }
            });
        }
    }

    private static void goesOn(Talk talk, Way way, int number) {
        assertReasons(talk, way);
        List<String> shown = shown(talk);
        Tab tab = talk.tab(number == 1 ? talk.other : talk.keepsake);
        tab.chat(ID, "next " + number, null, "done " + number);
        assertShown(talk, shown, texts(tab.requests.get(0)));
        assertReasons(talk, way);
    }

    private static void assertReasons(Talk talk, Way way) {
        assertThat(TrueReasons.untrue(talk.conversation()))
                .as("reasons, history: %s", talk.history())
                .isEmpty();
        if (!way.sets()) {
            assertThat(TrueReasons.unexplained(talk.conversation()))
                    .as("neither shown nor explained, history: %s", talk.history())
                    .isEmpty();
        }
    }

    /** Asserts that what was shown is there, in the same order, or that there is a reason. */
    private static void assertShown(Talk talk, List<String> shown, List<String> later) {
        List<String> missing = shown.stream()
                .filter(text -> !later.contains(text) && talk.reason(text) == null)
                .toList();
        assertThat(missing)
                .as("missing in %s, history: %s", later, talk.history())
                .isEmpty();
        assertThat(later).doesNotHaveDuplicates();
    }

    /** Asserts that an answer, if it is shown, is shown under its own question. */
    private static void assertOwner(List<ChatMessage> request, String answer, String question) {
        List<String> texts = texts(request);
        int at = texts.indexOf(answer);
        if (at >= 0) {
            assertThat(texts.subList(0, at).stream()
                            .filter(text -> text.startsWith("U("))
                            .reduce((first, second) -> second))
                    .as("the question before %s in %s", answer, texts)
                    .contains(question);
        }
    }

    /** An answer that is added behind an answer follows it. No other one does. */
    private static void assertValid(List<ChatMessage> request) {
        assertThat(ProviderRules.request(request)).as("%s", texts(request)).isEmpty();
        int hand = request.indexOf(ai("hand"));
        List<ChatMessage> before = hand < 0 ? request : request.subList(0, hand);
        List<ChatMessage> after = request.subList(hand + 1, request.size());
        assertThat(Talk.pairs(before)).as("%s", texts(request)).isEmpty();
        assertThat(Talk.pairs(after)).as("%s", texts(request)).isEmpty();
    }

    private static List<String> shown(Talk talk) {
        return texts(talk.conversation().messages());
    }

    private static List<String> texts(List<ChatMessage> messages) {
        return messages.stream().map(Talk::text).toList();
    }
}
