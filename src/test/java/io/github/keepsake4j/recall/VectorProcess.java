package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Adds vectors to an index in SQLite: {@code VectorProcess index messages}. Prints a line before each addition. */
public final class VectorProcess {

    private static final String MODEL = "model 64";
    private static final MemoryKey KEY = ConversationKey.of("acme", "memory");
    private static final int AT_ONCE = 7;

    private VectorProcess() {}

    public static void main(String[] arguments) {
        try (MessageIndex index = JdbcMessageIndex.sqlite(Path.of(arguments[0]))) {
            add(index, Integer.parseInt(arguments[1]), () -> {
                System.out.println("add");
                System.out.flush();
            });
            System.out.println("done");
        }
    }

    /** Adds the vectors that are missing. */
    public static void add(MessageIndex index, int messages, Runnable beforeEach) {
        index.add(KEY, null, new Watermark(1, messages), List.of());
        VectorMark before = index.vectorMarks(MODEL, List.of(KEY)).get(KEY);
        for (long done = before == null ? 0 : before.sequence(); done < messages; ) {
            long last = Math.min(messages, done + AT_ONCE);
            List<MessageVector> vectors = new ArrayList<>();
            for (long sequence = done + 1; sequence <= last; sequence++) {
                float[] vector = new float[64];
                Random random = new Random(sequence);
                for (int i = 0; i < vector.length; i++) {
                    vector[i] = random.nextFloat() - 0.5f;
                }
                vectors.add(new MessageVector(sequence, Instant.ofEpochSecond(sequence), vector));
            }
            VectorMark after = new VectorMark(1, last, 1, 0);
            beforeEach.run();
            if (!index.addVectors(MODEL, KEY, before, after, vectors)) {
                throw new IllegalStateException("the mark was moved");
            }
            before = after;
            done = last;
        }
    }
}
