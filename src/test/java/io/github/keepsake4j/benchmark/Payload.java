package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.Ids;
import java.util.UUID;

/** The message that is appended repeatedly. */
final class Payload {

    static final int TOKENS = 100;
    static final String COUNTER = "benchmark";

    static final UserMessage MESSAGE =
            UserMessage.from("Please compare the two offers from last week and say which one is better. "
                    .repeat(5)
                    .substring(0, 322));

    /** Its stored form: 384 bytes. */
    static final String JSON = new MessageCodec().encode(MESSAGE);

    private Payload() {}

    static NewMessage ordered() {
        return new NewMessage(Ids.next(), MESSAGE, TOKENS, COUNTER, null);
    }

    static NewMessage random() {
        return new NewMessage(UUID.randomUUID().toString(), MESSAGE, TOKENS, COUNTER, null);
    }
}
