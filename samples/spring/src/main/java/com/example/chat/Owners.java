package com.example.chat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.message.MemoryKey;
import java.security.Principal;
import java.util.Map;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Knows to whom a conversation belongs: to the user who began it. The name of the user is in the conversation's
 * metadata, stored with its first message.
 */
@Component
class Owners implements Keepsake.MetadataAtCreation {

    private static final String OWNER = "owner";

    /** The user of an application without a login, and of the command line. */
    private static final String LOCAL = "local";

    @Override
    public Map<String, String> of(MemoryKey key) {
        return Map.of(OWNER, user());
    }

    /** Lists only the conversations of the user of the current request, so that no page and no cursor tells of others. */
    ListQuery own(ListQuery query) {
        return query.withMetadata(OWNER, user());
    }

    /** Returns whether a conversation belongs to the user of the current request. */
    boolean owns(MemoryInfo conversation) {
        return user().equals(conversation.metadata().get(OWNER));
    }

    private static String user() {
        Principal principal = RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request
                ? request.getRequest().getUserPrincipal()
                : null;
        return principal == null ? LOCAL : principal.getName();
    }
}
