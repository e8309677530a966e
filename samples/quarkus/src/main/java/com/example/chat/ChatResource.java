package com.example.chat;

import io.quarkus.runtime.Quarkus;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import jakarta.inject.Inject;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

/** The chat by HTTP. */
@Path("/")
public class ChatResource {

    @Inject
    Chat chat;

    @POST
    @Path("{conversation}")
    public String say(String conversation, String text) {
        return chat.say(conversation, text);
    }

    /** Reads the memory first, for which the event loop must not wait. */
    @POST
    @Path("{conversation}/stream")
    @Blocking
    public Multi<String> stream(String conversation, String text) {
        return chat.stream(conversation, text);
    }

    @GET
    @Path("{conversation}")
    public String history(String conversation) {
        return chat.history(conversation);
    }

    @DELETE
    @Path("{conversation}")
    public void forget(String conversation) {
        chat.forget(conversation);
    }

    /** Ends the application. */
    @DELETE
    public void exit() {
        Quarkus.asyncExit();
    }
}
