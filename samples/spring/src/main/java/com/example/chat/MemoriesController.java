package com.example.chat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.memories.LongTermMemoriesOfConversation;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Trust;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The long-term memories of a conversation: the user reads, corrects, pins and forgets them. */
@RestController
@RequestMapping("/conversations/{id}/memories")
class MemoriesController {

    private static final int OLDER = 20;

    /**
     * A memory.
     *
     * @param sources the messages from which it was made
     * @param older the memories that it replaced, the newest first
     */
    record Remembered(
            String id,
            MadeMemory.Kind kind,
            String text,
            Trust trust,
            boolean pinned,
            Instant at,
            List<String> sources,
            List<String> older) {}

    record Pinned(boolean pinned) {}

    private final Keepsake keepsake;

    MemoriesController(Keepsake keepsake) {
        this.keepsake = keepsake;
    }

    @GetMapping
    List<Remembered> list(@PathVariable String id) {
        LongTermMemoriesOfConversation memories = keepsake.longTermMemories().of(id);
        List<Remembered> all = new ArrayList<>();
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.FACT, MadeMemory.Kind.SUMMARY, MadeMemory.Kind.CHUNK)) {
            memories.list(kind).forEach(memory -> all.add(remembered(memories, memory)));
        }
        return all;
    }

    private static Remembered remembered(LongTermMemoriesOfConversation memories, MadeMemory memory) {
        List<String> older = new ArrayList<>();
        String replaced = memory.replaces();
        while (replaced != null && older.size() < OLDER) {
            Optional<MadeMemory> found = memories.find(replaced);
            found.ifPresent(each -> older.add(text(each)));
            replaced = found.map(MadeMemory::replaces).orElse(null);
        }
        return new Remembered(
                memory.id(),
                memory.kind(),
                text(memory),
                memory.trust(),
                memory.pinned(),
                memory.madeAt(),
                memory.source().messageIds(),
                older);
    }

    static String text(MadeMemory memory) {
        return memory.kind() == MadeMemory.Kind.FACT ? memory.summary() : memory.text();
    }

    /** Makes the memories that are due, now. Calls a model. */
    @PostMapping
    List<Remembered> make(@PathVariable String id) {
        keepsake.longTermMemories().make(id);
        return list(id);
    }

    @PutMapping("/{memoryId}")
    void correct(@PathVariable String id, @PathVariable String memoryId, @RequestBody ChatController.Text text) {
        keepsake.longTermMemories().of(id).correct(memoryId, text.question(), Trust.USER);
    }

    @PutMapping("/{memoryId}/pinned")
    void pin(@PathVariable String id, @PathVariable String memoryId, @RequestBody Pinned pin) {
        keepsake.longTermMemories().of(id).pin(memoryId, pin.pinned());
    }

    @DeleteMapping("/{memoryId}")
    void forget(@PathVariable String id, @PathVariable String memoryId) {
        keepsake.longTermMemories().of(id).forget(memoryId);
    }
}
