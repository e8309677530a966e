package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.StorageUnavailableException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;

/** The random decisions of writers. A test that tries every order of their requests replaces them. */
interface RandomChoices {

    /** RandomChoices as it is in production. */
    RandomChoices RANDOM = new RandomChoices() {
        private static final SecureRandom RANDOM = new SecureRandom();

        @Override
        public String writeId() {
            byte[] bytes = new byte[9];
            RANDOM.nextBytes(bytes);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        }

        @Override
        public void pause(String what, int atMostMillis) {
            try {
                Thread.sleep(ThreadLocalRandom.current().nextInt(atMostMillis));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StorageUnavailableException(
                        what + ": interrupted while waiting for other writers; nothing was written", e);
            }
        }
    };

    /** Returns an id that no other write has. */
    String writeId();

    /** Waits for other writers. */
    void pause(String what, int atMostMillis);
}
