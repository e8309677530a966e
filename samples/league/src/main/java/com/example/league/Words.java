package com.example.league;

import java.util.List;

/** What the page says between its tables. */
final class Words {

    static final List<String> INTRODUCTION = List.of(
            "",
            "Made by `mvn -q -f samples/league/pom.xml compile exec:java"
                    + " -Dexec.mainClass=com.example.league.League -Dexec.args=src/docs/benchmarks`, after the"
                    + " library was installed. Every sample is in [league.csv](league.csv), in the order in which it was taken.",
            "",
            "Each subject is driven by its own framework with a scripted model that answers at once: Keepsake4j and"
                    + " LangChain4j's `MessageWindowChatMemory` by `AiServices`, Spring AI's `MessageWindowChatMemory` by a"
                    + " `ChatClient` with `MessageChatMemoryAdvisor`, and spring-ai-session by one with"
                    + " `SessionMemoryAdvisor` and a filter of the newest events. All have the settings that they come with. What"
                    + " LangChain4j's window keeps is in a hand-written `ChatMemoryStore`: one row for each memory, with its"
                    + " messages as JSON. Each subject has a database of its own with 100 other conversations, and a pool of one"
                    + " connection.",
            "",
            "A case names how many messages are shown; `20 of 10,000` shows 20. The conversation is a fifth longer than the"
                    + " case says, so that a window always leaves messages out. A question, an answer and a tool's result have"
                    + " about 320 characters each. The turns of a case are made one after the other, in each"
                    + " round in another random order, after turns to warm up. A subject whose turns are slow sits out rounds,"
                    + " evenly over the run. So other work on the machine affects all of them alike, and ratios say more than"
                    + " times.",
            "",
            "In a turn with two tools, Keepsake4j, LangChain4j's window and the session project store the calls and their"
                    + " results. **Spring AI's JDBC repository stores neither**, so it is not compared there:"
                    + " `the best other` is the best of those that do the same work.");

    static final List<String> OTHERS = List.of(
            "",
            "A window of 20. If usage is reported, the model says how many tokens it used, which Keepsake4j adds up for each"
                    + " day. The second process is a second pool and memory in the same virtual machine, which makes every other"
                    + " turn of one conversation. 64 conversations have a thread each, on a pool of 4 connections, and the time is"
                    + " that of all turns, divided by their number.");

    static final List<String> COUNTS = List.of(
            "",
            "## What a turn takes",
            "",
            "Medians of nine turns, or of three if a window has 10,000 messages. Statements are those that are sent, and each of"
                    + " a batch counts. A round trip is counted at the socket, so it includes those that begin and end"
                    + " transactions. Bytes of write-ahead log are the fewest of these turns,"
                    + " because after a checkpoint it takes whole pages too. Allocated bytes are those of the"
                    + " calling thread, with its framework. Keepsake4j keeps the newest messages of recently used conversations in"
                    + " the heap, up to 16 million characters for all of them.");

    static final List<String> FRAMEWORKS = List.of(
            "",
            "## The frameworks alone",
            "",
            "The same turns with a window in the heap, in ms and allocated bytes. This is a part of the times above.");

    static final List<String> TRUTH = List.of(
            "",
            "## Is what was said still there?",
            "",
            "Threads: 8 threads with one AI service make 50 plain turns each on one conversation, at once, on a pool of 8"
                    + " connections. Nothing is left out by a window. Kills: a process makes plain turns and is killed at a"
                    + " random time (`kill -9`), 20 times. Each time, another process repeats the turn that was not answered. A"
                    + " question that was stored before the kill is then there twice, unless the subject hides it. The session"
                    + " project stores the results of two tools as one message.");

    private Words() {}
}
