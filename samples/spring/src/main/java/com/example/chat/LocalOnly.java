package com.example.chat;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.util.Set;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses requests that the page of another site makes in the user's browser, which reaches this machine too. Such a request has
 * the origin of that page, or, if a name of the site was made to point here, the name as its host. Limits, by a policy, what the
 * page of this application may load.
 */
@Component
class LocalOnly extends OncePerRequestFilter {

    private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1");

    /** The page runs only its own scripts and asks only this server. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        response.setHeader("Content-Security-Policy", POLICY);
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Referrer-Policy", "no-referrer");
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        if (NAMES.contains(request.getServerName()) && (origin == null || isOwn(origin, request.getServerPort()))) {
            chain.doFilter(request, response);
        } else {
            response.sendError(HttpStatus.FORBIDDEN.value());
        }
    }

    private static boolean isOwn(String origin, int port) {
        try {
            URI uri = URI.create(origin);
            int from = uri.getPort() == -1 ? 80 : uri.getPort();
            return "http".equals(uri.getScheme()) && NAMES.contains(String.valueOf(uri.getHost())) && from == port;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
