import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Prepares the documents for the site, and checks the site that Maven makes of them. {@code mvn site} runs both:
 * {@code java src/docs/Site.java sources target/site-sources} and {@code java src/docs/Site.java check target/site}.
 *
 * <p>The documents are written for a forge. On the site, a link to a document leads to its page, a link to a public class to its
 * Javadoc, and a link to any other file to the forge. Headings get the names that a forge gives them.
 */
class Site {

    private static final String FORGE = "https://github.com/keepsake4j/keepsake4j/";
    private static final Path DOCS = Path.of("src/docs");
    private static final Path CODE = Path.of("src/main/java");

    private static final Pattern FENCE = Pattern.compile("(?ms)^( *)(`{3,}).*?^ *\\2 *$");
    private static final Pattern HEADING = Pattern.compile("(?m)^(#+ )(.*)$");

    /** A span of code, which is kept, or the target of a link or picture. */
    private static final Pattern LINK = Pattern.compile(
            "(?s)(`+).+?\\1|(?<=\\]\\()[^)\\s]+(?=\\))|(?<=src(?:set)?=\")[^\"]+");

    private static final Pattern NO_PAGE = Pattern.compile("(?s)<!--.*?-->|<script\\b.*?</script>");
    private static final Pattern TAG = Pattern.compile("<[a-zA-Z][^>]*>");
    private static final Pattern ATTRIBUTE = Pattern.compile("\\b(href|src|srcset|id|name)=(?:\"([^\"]*)\"|'([^']*)')");

    public static void main(String... arguments) throws IOException {
        Path target = Path.of(arguments[1]);
        switch (arguments[0]) {
            case "sources" -> new Sources().write(target);
            case "check" -> new Check(target).run();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static List<Path> files(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** Writes pages, pictures and the site's own files, each where the site has it. */
    private static final class Sources {

        /** The places on the site, by the files of the repository. */
        private final Map<Path, Path> places = new TreeMap<>();

        Sources() throws IOException {
            places.put(Path.of("README.md"), Path.of("index.html"));
            for (String page : List.of("CHANGELOG", "CONTRIBUTING", "SECURITY")) {
                places.put(Path.of(page + ".md"), Path.of(page.toLowerCase(Locale.ROOT) + ".html"));
            }
            for (Path file : files(DOCS)) {
                if (file.toString().matches(".*\\.(md|csv|png|svg)")) {
                    places.put(file, page(DOCS.relativize(file)));
                }
            }
            for (String folder : List.of("benchmarks", "decisions")) {
                places.put(DOCS.resolve(folder), Path.of(folder, "index.html"));
            }
        }

        private static Path page(Path document) {
            return Path.of(document.toString().replaceFirst("\\.md$", ".html"));
        }

        void write(Path target) throws IOException {
            Path pages = target.resolve("markdown");
            for (Map.Entry<Path, Path> each : places.entrySet()) {
                Path file = each.getKey();
                String place = each.getValue().toString();
                Path page = pages.resolve(place.replaceFirst("\\.html$", ".md"));
                if (Files.isDirectory(file)) {
                    write(page, list(file));
                } else if (file.toString().endsWith(".md")) {
                    write(page, markdown(file));
                } else {
                    copy(file, target.resolve("resources").resolve(place));
                }
            }
            copy(DOCS.resolve("site/site.xml"), target.resolve("site.xml"));
            copy(DOCS.resolve("site/site.css"), target.resolve("resources/css/site.css"));
        }

        private static void write(Path file, String text) throws IOException {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        }

        private static void copy(Path from, Path to) throws IOException {
            Files.createDirectories(to.getParent());
            Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
        }

        /** A page for a folder, which a forge lists by itself. */
        private static String list(Path folder) throws IOException {
            String name = folder.getFileName().toString();
            StringBuilder list = new StringBuilder(
                    "# " + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1) + "\n\n");
            for (Path file : files(folder)) {
                String page = folder.relativize(file).toString();
                if (page.endsWith(".md")) {
                    String title = Files.readString(file).lines().findFirst().orElseThrow().replaceFirst("^# ", "");
                    list.append("- [%s](%s)\n".formatted(title, page(Path.of(page))));
                }
            }
            return list.toString();
        }

        private String markdown(Path file) throws IOException {
            String text = Files.readString(file);
            StringBuilder page = new StringBuilder();
            int end = 0;
            for (MatchResult fence : FENCE.matcher(text).results().toList()) {
                page.append(prose(file, text.substring(end, fence.start()))).append(fence.group());
                end = fence.end();
            }
            return page.append(prose(file, text.substring(end))).toString();
        }

        private String prose(Path file, String text) {
            String named = HEADING.matcher(text)
                    .replaceAll(heading -> Matcher.quoteReplacement("%s<a id=\"%s\"></a>%s"
                            .formatted(heading.group(1), name(heading.group(2)), heading.group(2))));
            return LINK.matcher(named)
                    .replaceAll(found -> Matcher.quoteReplacement(
                            found.group(1) == null ? target(file, found.group()) : found.group()))
                    // Doxia wants every element to end.
                    .replaceAll("<((?:img|source) [^>]*[^/>])>", "<$1/>");
        }

        /** Returns the name of a heading as a forge makes it. */
        private static String name(String heading) {
            return heading.toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
        }

        /** Returns where a link leads on the site. A link to nothing is kept, so that the check finds it. */
        private String target(Path file, String link) {
            if (link.startsWith("#") || URI.create(link).isAbsolute()) {
                return link;
            }
            String[] parts = link.split("#", 2);
            String anchor = parts.length == 2 ? "#" + parts[1] : "";
            Path to = Path.of("").resolve(file).resolveSibling(parts[0]).normalize();
            Path page = places.get(to);
            if (page == null && isPublic(to)) {
                page = Path.of("apidocs")
                        .resolve(CODE.relativize(to).toString().replaceFirst("\\.java$", ".html")
                                .replaceFirst("package-info\\.html$", "package-summary.html"));
            }
            if (page != null) {
                Path here = places.get(file).getParent();
                return (here == null ? page : here.relativize(page)) + anchor;
            }
            return Files.exists(to) ? FORGE + (Files.isDirectory(to) ? "tree" : "blob") + "/main/" + to + anchor : link;
        }

        private static boolean isPublic(Path file) {
            try {
                return file.startsWith(CODE)
                        && Files.isRegularFile(file)
                        && !Files.readString(file.resolveSibling("package-info.java")).contains("<p>Internal:");
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    /** A page as the site has it. */
    private record Page(Set<String> names, Set<String> links) {

        static Page of(Path file) throws IOException {
            Set<String> names = new HashSet<>();
            Set<String> links = new TreeSet<>();
            String text = NO_PAGE.matcher(Files.readString(file)).replaceAll("");
            TAG.matcher(text).results().forEach(tag -> ATTRIBUTE.matcher(tag.group()).results().forEach(attribute -> {
                String value = attribute.group(2) == null ? attribute.group(3) : attribute.group(2);
                (attribute.group(1).matches("id|name") ? names : links).add(unescaped(value));
            }));
            return new Page(names, links);
        }

        private static String unescaped(String value) {
            return value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        }
    }

    /** Follows each link within the site and to a file of the repository. It opens no connection. */
    private static final class Check {

        private final Path site;
        private final Map<Path, Page> pages = new TreeMap<>();
        private final Map<Path, Set<Path>> leadsTo = new HashMap<>();
        private final Set<String> faults = new TreeSet<>();
        private int links;
        private int anchors;
        private int elsewhere;

        Check(Path site) throws IOException {
            this.site = site;
            for (Path file : files(site)) {
                if (file.toString().endsWith(".html")) {
                    pages.put(file, Page.of(file));
                }
            }
        }

        void run() {
            pages.forEach((file, page) -> page.links().stream()
                    // Javadoc's list of constants names an anchor that it does not write.
                    .filter(link -> !file.endsWith("constant-values.html") || !link.startsWith("#"))
                    .forEach(link -> follow(file, link)));
            Set<Path> reached = reached();
            for (Path page : pages.keySet()) {
                if (!reached.contains(page) && !page.startsWith(site.resolve("apidocs"))) {
                    faults.add(site.relativize(page) + ": no link leads here");
                }
            }
            System.out.printf(
                    "%d pages, %d links within the site, %d of them to an anchor, %d elsewhere, %d faults%n",
                    pages.size(), links, anchors, elsewhere, faults.size());
            if (!faults.isEmpty()) {
                faults.forEach(System.err::println);
                System.exit(1);
            }
        }

        private void follow(Path file, String link) {
            String[] parts = link.split("#", 2);
            Path to = target(file, parts[0]);
            if (to == null) {
                return;
            }
            boolean hasAnchor = parts.length == 2 && !parts[1].isEmpty();
            links++;
            anchors += hasAnchor ? 1 : 0;
            leadsTo.computeIfAbsent(file, from -> new HashSet<>()).add(to);
            if (!Files.isRegularFile(to)) {
                faults.add(site.relativize(file) + ": " + link + " leads to nothing");
            } else if (hasAnchor && pages.containsKey(to) && !pages.get(to).names().contains(decoded(parts[1]))) {
                faults.add(site.relativize(file) + ": " + link + " names no anchor");
            }
        }

        /** Returns the file that a link names, or null if it leads out of the site. */
        private Path target(Path file, String link) {
            if (link.startsWith(FORGE)) {
                String path = link.substring(FORGE.length()).replaceFirst("^(tree|blob)/main/", "");
                if (!path.isEmpty() && !Files.exists(Path.of(decoded(path)))) {
                    faults.add(site.relativize(file) + ": " + link + " is not in the repository");
                }
            }
            if (link.matches("[a-z]+:.*|//.*")) {
                elsewhere++;
                return null;
            }
            Path to = link.isEmpty() ? file : file.resolveSibling(decoded(link)).normalize();
            return Files.isDirectory(to) ? to.resolve("index.html") : to;
        }

        private static String decoded(String part) {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        }

        private Set<Path> reached() {
            Set<Path> reached = new HashSet<>();
            Deque<Path> open = new ArrayDeque<>(Set.of(site.resolve("index.html")));
            while (!open.isEmpty()) {
                Path next = open.pop();
                if (reached.add(next)) {
                    open.addAll(leadsTo.getOrDefault(next, Set.of()));
                }
            }
            return reached;
        }
    }
}
