package io.github.keepsake4j.workflow.files;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rule for the hosts of remote files. A URL that a user sent is passed on only if its host is allowed;
 * otherwise, a placeholder is shown. In every case, the URL must be one of HTTP or HTTPS. Immutable.
 */
public final class RemoteHosts {

    /** Domains of names that only an internal network resolves. */
    private static final List<String> INTERNAL_DOMAINS = List.of(
            ".localhost",
            ".local",
            ".localdomain",
            ".internal",
            ".intranet",
            ".private",
            ".corp",
            ".home",
            ".lan",
            ".home.arpa");

    /** The allowed hosts in lower case, or none if a host is judged by its addresses. */
    private final Set<String> only;

    private final boolean byProxy;

    private RemoteHosts(Set<String> only, boolean byProxy) {
        this.only = only;
        this.byProxy = byProxy;
    }

    /**
     * Allows every host whose addresses are all in the open web. A host that cannot be resolved is refused. This is the
     * default.
     *
     * @return the rule
     */
    public static RemoteHosts openWeb() {
        return new RemoteHosts(Set.of(), false);
    }

    /**
     * Allows every host whose addresses are all in the open web, and every host that cannot be resolved here, for networks
     * in which only a proxy resolves the names of the open web. A name without a dot, and a name of a domain that is used
     * only inside of networks, such as {@code .internal}, is refused. The proxy must refuse internal addresses itself,
     * because this process does not see to which address the proxy connects.
     *
     * @return the rule
     */
    public static RemoteHosts resolvedByProxy() {
        return new RemoteHosts(Set.of(), true);
    }

    /**
     * Allows the given hosts and no others. Their addresses are not looked up or checked, so that a host in the own network
     * may be given, too.
     *
     * @param hosts the hosts as in URLs, 1 or more: {@code files.example.org}, or {@code *.example.org} for all hosts of a
     *     domain, without the domain itself
     * @return the rule
     * @throws InvalidInputException if no host is given, or one is blank, or has a {@code *} elsewhere
     */
    public static RemoteHosts only(String... hosts) {
        if (hosts.length == 0) {
            throw new InvalidInputException("hosts", "must not be empty");
        }
        for (String host : hosts) {
            String name = host.startsWith("*.") ? host.substring(2) : host;
            if (name.isBlank() || name.contains("*") || name.contains("/")) {
                throw new InvalidInputException("hosts", "must be hosts such as files.example.org or *.example.org");
            }
        }
        return new RemoteHosts(
                Stream.of(hosts).map(RemoteHosts::canonical).collect(Collectors.toUnmodifiableSet()), false);
    }

    /** Returns whether only listed hosts are allowed. */
    boolean isList() {
        return !only.isEmpty();
    }

    /** Returns whether a host is in the list. */
    boolean lists(String host) {
        String name = canonical(host);
        int dot = name.indexOf('.');
        boolean listed = only.contains(name);
        while (!listed && dot >= 0) {
            listed = only.contains("*" + name.substring(dot));
            dot = name.indexOf('.', dot + 1);
        }
        return listed;
    }

    /** Returns whether a host that cannot be resolved here is allowed. */
    boolean allowsUnresolved(String host) {
        String name = canonical(host);
        return byProxy && name.contains(".") && INTERNAL_DOMAINS.stream().noneMatch(name::endsWith);
    }

    /** A dot at the end makes no other host. */
    private static String canonical(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        return name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
    }
}
