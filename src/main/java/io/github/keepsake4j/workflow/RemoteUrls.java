package io.github.keepsake4j.workflow;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;

/**
 * Tells URLs of the open web from those that point inside. A user's URL is handed to a model's provider, or to a gateway
 * in our own network that fetches it: that must not become a way to read what is inside.
 */
final class RemoteUrls {

    /** Gives the addresses of a name. */
    @FunctionalInterface
    interface Names {
        InetAddress[] addresses(String host) throws UnknownHostException;
    }

    private final Names names;

    RemoteUrls(Names names) {
        this.names = names;
    }

    /** False also for a name that cannot be resolved: nobody knows where it points. */
    boolean isOutside(URI url) {
        String host = url.getHost();
        if (host == null || !("http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme()))) {
            return false;
        }
        String name = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        try {
            InetAddress[] addresses = names.addresses(name);
            for (InetAddress address : addresses) {
                if (isInside(address.getAddress(), address)) {
                    return false;
                }
            }
            return addresses.length > 0;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static boolean isInside(byte[] bytes, InetAddress address) {
        if (address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress()) {
            return true;
        }
        return bytes.length == 4 ? isInside4(bytes, 0) : isInside6(bytes);
    }

    private static boolean isInside4(byte[] bytes, int at) {
        int first = bytes[at] & 0xFF;
        int second = bytes[at + 1] & 0xFF;
        return first == 0
                || first == 10
                || first == 127
                || first >= 224
                || (first == 100 && second >= 64 && second < 128)
                || (first == 169 && second == 254)
                || (first == 172 && second >= 16 && second < 32)
                || (first == 192 && second == 168)
                || (first == 198 && (second == 18 || second == 19));
    }

    /** Unique local addresses, and those that carry an IPv4 address: compatible, mapped, NAT64, 6to4. */
    private static boolean isInside6(byte[] bytes) {
        if ((bytes[0] & 0xFE) == 0xFC) {
            return true;
        }
        if (startsWith(bytes, 0x20, 0x02)) {
            return isInside4(bytes, 2);
        }
        boolean zeros = true;
        for (int i = 0; i < 10; i++) {
            zeros &= bytes[i] == 0;
        }
        boolean nat64 = startsWith(bytes, 0x00, 0x64, 0xFF, 0x9B);
        return (zeros || nat64) && isInside4(bytes, 12);
    }

    private static boolean startsWith(byte[] bytes, int... prefix) {
        for (int i = 0; i < prefix.length; i++) {
            if ((bytes[i] & 0xFF) != prefix[i]) {
                return false;
            }
        }
        return true;
    }
}
