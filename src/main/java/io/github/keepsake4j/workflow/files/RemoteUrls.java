package io.github.keepsake4j.workflow.files;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * Distinguishes URLs that are allowed, such as those of the open web, from URLs that point to internal addresses. A user's URL is passed to a model's
 * provider, or to a gateway in the application's own network that fetches it. It must not become a way to read internal
 * data.
 */
record RemoteUrls(Names names, RemoteHosts hosts) {

    /** Returns the addresses of a name. */
    @FunctionalInterface
    interface Names {
        InetAddress[] addresses(String host) throws UnknownHostException;
    }

    /**
     * Names that some programs interpret as numbers, with different results: {@code 0177.0.0.1} may be 127.0.0.1 or
     * 177.0.0.1.
     */
    private static final Pattern NUMBERS = Pattern.compile("(.*\\.)?(\\d+|0[xX]\\p{XDigit}*)\\.?");

    private static final Pattern FOUR_NUMBERS = Pattern.compile("((0|[1-9]\\d{0,2})\\.){3}(0|[1-9]\\d{0,2})");

    /** Returns addresses by a look-up with a time limit, because a resolver may wait long for dead servers. */
    static Names within(Duration time, Names names) {
        return host -> {
            FutureTask<InetAddress[]> found = new FutureTask<>(() -> names.addresses(host));
            Thread thread = new Thread(found, "keepsake-names");
            thread.setDaemon(true);
            thread.start();
            try {
                return found.get(time.toNanos(), TimeUnit.NANOSECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new UnknownHostException(host);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new UnknownHostException(host);
            }
        };
    }

    /**
     * Returns whether a URL is allowed: its host is listed, or it points to the open web. A name that cannot be
     * resolved may point anywhere, so the rule for hosts decides.
     */
    boolean isAllowed(URI url) {
        String host = url.getHost();
        if (host == null || !("http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme()))) {
            return false;
        }
        if (hosts.isList()) {
            return hosts.lists(host);
        }
        boolean isAddress6 = host.startsWith("[");
        if (!isAddress6
                && NUMBERS.matcher(host).matches()
                && !FOUR_NUMBERS.matcher(host).matches()) {
            return false;
        }
        String name = isAddress6 ? host.substring(1, host.length() - 1) : host;
        try {
            InetAddress[] addresses = names.addresses(name);
            for (InetAddress address : addresses) {
                if (isInside(address)) {
                    return false;
                }
            }
            return addresses.length > 0;
        } catch (UnknownHostException e) {
            return !isAddress6 && hosts.allowsUnresolved(host);
        }
    }

    private static boolean isInside(InetAddress address) throws UnknownHostException {
        byte[] bytes = address.getAddress();
        return address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress()
                || (bytes.length == 4 ? isInside4(bytes) : isInside6(bytes));
    }

    /** Returns whether an IPv4 address is one of the internal ones that the JDK does not know as such. */
    private static boolean isInside4(byte[] bytes) {
        int first = bytes[0] & 0xFF;
        int second = bytes[1] & 0xFF;
        return first == 0
                || first >= 240
                || (first == 100 && second >= 64 && second < 128)
                || (first == 192 && second == 0 && bytes[2] == 0)
                // The address of Azure's service that gives machines information about themselves.
                || (first == 168 && second == 63 && (bytes[2] & 0xFF) == 129 && bytes[3] == 16)
                || (first == 198 && (second == 18 || second == 19));
    }

    /**
     * Returns whether an IPv6 address is internal: it is not global unicast, or it carries an IPv4 address. 6to4 and
     * NAT64 addresses are judged by the IPv4 address that they carry; Teredo addresses are always internal. The JVM
     * converts mapped addresses to IPv4 addresses.
     */
    private static boolean isInside6(byte[] bytes) throws UnknownHostException {
        String hex = HexFormat.of().formatHex(bytes);
        boolean is6to4 = hex.startsWith("2002");
        if (is6to4 || hex.startsWith("0064ff9b0000000000000000")) {
            int carried = is6to4 ? 2 : 12;
            return isInside(InetAddress.getByAddress(Arrays.copyOfRange(bytes, carried, carried + 4)));
        }
        return (bytes[0] & 0xE0) != 0x20 || hex.startsWith("20010000");
    }
}
