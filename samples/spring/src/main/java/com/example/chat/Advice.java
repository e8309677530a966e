package com.example.chat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.message.KeepsakeException;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** What holds for every endpoint: who may use a conversation, and the form of an error. */
@RestControllerAdvice
class Advice extends ResponseEntityExceptionHandler {

    private final Keepsake keepsake;
    private final Owners owners;

    Advice(Keepsake keepsake, Owners owners) {
        this.keepsake = keepsake;
        this.owners = owners;
    }

    /** Runs before each endpoint. Only a first question may name a conversation that does not exist yet. */
    @ModelAttribute
    void checkOwner(@PathVariable(required = false) String id, HttpServletRequest request) {
        if (id == null) {
            return;
        }
        Optional<MemoryInfo> info = keepsake.conversation(id).info();
        boolean begins = "POST".equals(request.getMethod())
                && request.getRequestURI().endsWith("/" + ChatController.MESSAGES)
                && info.isEmpty();
        if (!begins && info.filter(owners::owns).isEmpty()) {
            throw none();
        }
    }

    static ResponseStatusException none() {
        return new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no such conversation.");
    }

    @ExceptionHandler
    ProblemDetail failed(KeepsakeException e) {
        HttpStatus status = e.isRetryable() ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.BAD_REQUEST;
        return ProblemDetail.forStatusAndDetail(status, e.getMessage());
    }

    @ExceptionHandler
    ProblemDetail unexpected(RuntimeException e) {
        logger.error("A request failed", e);
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.INTERNAL_SERVER_ERROR, "The request failed. The log of the server says why.");
    }
}
