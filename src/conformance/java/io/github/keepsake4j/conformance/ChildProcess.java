package io.github.keepsake4j.conformance;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assertions;

/**
 * Another process that uses the subject. It prints "ready", waits for a line, and prints the number of each call that has
 * returned.
 */
final class ChildProcess implements AutoCloseable {

    private static final String FAILED = "failed: ";

    private final Process process;
    private final BufferedReader lines;

    private ChildProcess(Process process) {
        this.process = process;
        this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static ChildProcess start(
            String classPath, Map<String, String> properties, Class<?> factory, String mode, Object... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"));
        properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.addAll(List.of("-cp", classPath, ChildProcess.class.getName(), factory.getName(), mode));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new ChildProcess(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** Waits until the child has opened the subject. */
    ChildProcess ready() throws IOException {
        String line = line();
        Conformance.expect("ready".equals(line), "another process cannot open it: %s", line);
        return this;
    }

    ChildProcess go() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return this;
    }

    /** Lets two children work at the same time, until both have ended. */
    static void together(ChildProcess one, ChildProcess two) throws IOException, InterruptedException {
        one.ready();
        two.ready();
        one.go();
        two.go();
        one.last();
        two.last();
    }

    /** Returns the next line, or null at the end of the output. Fails if the child says that it failed. */
    String line() throws IOException {
        String line = lines.readLine();
        if (line != null && line.startsWith(FAILED)) {
            Assertions.fail("in another process: " + line.substring(FAILED.length()));
        }
        return line;
    }

    /** Returns the last line that the child prints before it ends by itself. */
    String last() throws IOException, InterruptedException {
        String last = "";
        for (String line = line(); line != null; line = line()) {
            last = line;
        }
        Conformance.expect(process.waitFor(1, TimeUnit.MINUTES), "the other process did not end");
        return last;
    }

    /** Kills the child and returns the number of the last call that returned, or the given one. */
    int kill(int known) throws IOException, InterruptedException {
        // Process.destroyForcibly would close the output.
        process.toHandle().destroyForcibly();
        int last = known;
        for (String line = line(); line != null; line = line()) {
            last = Integer.parseInt(line);
        }
        process.waitFor();
        return last;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        // What the subject prints is no answer.
        System.setOut(System.err);
        try {
            Supplier<?> factory = (Supplier<?>)
                    Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
            Object subject = factory.get();
            out.println("ready");
            if (System.in.read() >= 0) {
                if (subject instanceof ChatMemoryStore store) {
                    use(store, arguments, out);
                } else {
                    add(((ChatMemoryProvider) subject).get(arguments[2]), arguments, out);
                }
            }
            out.flush();
            // Pools of the subject may have threads that do not end.
            Runtime.getRuntime().halt(0);
        } catch (Throwable e) {
            out.println(FAILED + Conformance.oneLine(e.toString()));
            Runtime.getRuntime().halt(1);
        }
    }

    private static void use(ChatMemoryStore store, String[] arguments, PrintStream out) {
        String id = arguments[2];
        switch (arguments[1]) {
            case "samples" -> {
                store.updateMessages(id, Samples.all());
                String difference = Samples.difference(Samples.all(), store.getMessages(arguments[3]));
                out.println(difference == null ? "equal" : Conformance.oneLine(difference));
            }
            default -> {
                int rounds = Integer.parseInt(arguments[4]);
                for (int i = 0; i < rounds; i++) {
                    store.updateMessages(id, Samples.list(arguments[3], i));
                    out.println(i);
                }
            }
        }
    }

    private static void add(ChatMemory memory, String[] arguments, PrintStream out) {
        int rounds = Integer.parseInt(arguments[4]);
        for (int i = 0; i < rounds; i++) {
            ChatMessage message = UserMessage.from(Samples.name(arguments[3], i));
            memory.add(message);
            out.println(i);
        }
    }
}
