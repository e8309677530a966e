package io.github.keepsake4j.memories;

import java.util.concurrent.CountDownLatch;

/**
 * Makes memories of {@link FailingPassages} again and again, of the long message or of the others, and hangs in a call of the
 * workflow: {@code HangingProcess stores kind call isLong}.
 */
public final class HangingProcess {

    private HangingProcess() {}

    public static void main(String[] arguments) {
        MemoryKind kind = MemoryKind.valueOf(arguments[1]);
        boolean isLong = Boolean.parseBoolean(arguments[3]);
        int[] calls = {Integer.parseInt(arguments[2])};
        try (SharedStores stores = SharedStores.open(arguments[0])) {
            Discussion discussion = FailingPassages.discussion(stores.memories, CreatingProcess.KEY, kind, inputs -> {
                calls[0]--;
                if (calls[0] == 0) {
                    tell("hangs");
                    hang();
                }
                return isLong ? FailingPassages.repeat(kind, inputs) : FailingPassages.answerOrFail(kind, inputs);
            });
            while (true) {
                try {
                    discussion.qualityMemory(isLong ? FailingPassages.LONG_CHAT : FailingPassages.CHAT);
                } catch (MemoryFailedException e) {
                    tell("failed");
                }
            }
        }
    }

    private static void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
