package io.github.keepsake4j.base;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Says why a server cannot be reached, and what to do. Pure functions. */
public final class Unreachable {

    /** What to do if a server cannot be reached. */
    public static final String ADVICE = "check the address, the server and the network, and retry";

    private Unreachable() {}

    /**
     * Returns the reason that the network gives. Drivers wrap it or attach it.
     *
     * @param failure a driver's exception
     * @return the reason, or null if the network gives none
     */
    public static @Nullable String reason(Throwable failure) {
        String own = failure instanceof UnknownHostException
                ? "the host is not known"
                : failure instanceof ConnectException
                        ? "the connection is refused"
                        : failure instanceof NoRouteToHostException ? "no route leads to the host" : null;
        return Stream.concat(Stream.ofNullable(failure.getCause()), Arrays.stream(failure.getSuppressed()))
                .map(Unreachable::reason)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(own);
    }

    /**
     * Returns the end of a sentence about a server that cannot be reached.
     *
     * @param failure the exception
     * @return the reason if the network gives one, and what to do
     */
    public static String why(Throwable failure) {
        String reason = reason(failure);
        return (reason == null ? "" : ": " + reason) + "; " + ADVICE;
    }
}
