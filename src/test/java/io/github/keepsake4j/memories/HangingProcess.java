package io.github.keepsake4j.memories;

import io.github.keepsake4j.testing.Threads;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * Makes memories of {@link FailingPassages} again and again, of the long message or of the others, and hangs in a call of the
 * workflow, in a thread for each home: {@code HangingProcess call isLong stores kind stores kind …}. A line begins with the
 * home's number, from 0 on.
 */
public final class HangingProcess {

    private HangingProcess() {}

    public static void main(String[] arguments) {
        Threads.endIfOneFails();
        for (int home = 0; home < arguments.length / 2 - 1; home++) {
            String stores = arguments[2 + 2 * home];
            MadeMemory.Kind kind = MadeMemory.Kind.valueOf(arguments[3 + 2 * home]);
            Consumer<String> told = tell(home);
            new Thread(() -> make(
                            Integer.parseInt(arguments[0]), Boolean.parseBoolean(arguments[1]), stores, kind, told))
                    .start();
        }
    }

    private static void make(int call, boolean isLong, String name, MadeMemory.Kind kind, Consumer<String> told) {
        int[] calls = {call};
        try (SharedStores stores = SharedStores.open(name)) {
            Discussion discussion = FailingPassages.discussion(stores.memories, CreatingProcess.KEY, kind, inputs -> {
                calls[0]--;
                if (calls[0] == 0) {
                    told.accept("hangs");
                    hang();
                }
                return isLong ? FailingPassages.repeat(kind, inputs) : FailingPassages.answerOrFail(kind, inputs);
            });
            while (true) {
                try {
                    discussion.qualityMemory(isLong ? FailingPassages.LONG_CHAT : FailingPassages.CHAT);
                } catch (LongTermMemoryFailedException e) {
                    told.accept("failed");
                }
            }
        }
    }

    private static Consumer<String> tell(int home) {
        return line -> {
            System.out.println(home + " " + line);
            System.out.flush();
        };
    }

    private static void hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
