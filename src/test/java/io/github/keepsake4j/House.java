package io.github.keepsake4j;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.xml.sax.SAXException;

/**
 * Prints how large this house is: {@code java src/test/java/io/github/keepsake4j/House.java [checkout[=classes] …]}. Each
 * checkout is a column; without arguments the working directory is the only one. The compiled classes are in target/classes
 * unless they are named. It uses nothing but the JDK, because it is run as a file. {@link SizesTest} bounds the rows of
 * {@link #sizes}.
 */
public final class House {

    private static final String ROOT = "io.github.keepsake4j.";
    private static final String PORT = ROOT + "log.MessageLog";
    private static final String CHANGE = ROOT + "log.Change";

    /** What is no code: a blank line, a line of a comment, an import. */
    private static final Map<String, Pattern> NO_CODE = Map.of(
            ".java", Pattern.compile("\\s*|\\s*(//|\\*|/\\*).*|import.*"),
            ".lua", Pattern.compile("\\s*(--.*)?"),
            ".sql", Pattern.compile("\\s*(--.*)?"));

    private static final Pattern PUBLIC_TYPE =
            Pattern.compile("(?m)^public (?:[a-z-]+ )*(?:class|interface|record|enum|@interface) ");

    private static final Pattern CODE_OF_A_PAGE = Pattern.compile("(?ms)^```.*?^```$|<!--.*?-->");
    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9]");

    /** Literals are kept, so that a mark of a comment in one of them begins none. */
    private static final Map<String, Pattern> COMMENTS = Map.of(
            ".java",
            Pattern.compile("(?s)(\"\"\".*?(?<!\\\\)\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\n])++')"
                    + "|//[^\n]*|/\\*.*?\\*/"),
            ".lua",
            Pattern.compile("(\"(?:\\\\.|[^\"\\\\])*+\"|'(?:\\\\.|[^'\\\\])*+')|--[^\n]*"),
            ".sql",
            Pattern.compile("('[^']*+')|--[^\n]*"));

    /** Words that make a sentence be read twice. They are counted in comments, literals and decisions, not in names. */
    private static final List<String> HEAVY =
            List.of("(?:is|are) told|tells", "anew", "not there", "beside", "any more", "(?:some|no)body|whoever");

    private final Map<String, String> table = new LinkedHashMap<>();
    private final Map<String, Integer> methods = new HashMap<>();
    private final Map<String, Integer> classes = new HashMap<>();
    private final Map<String, Set<String>> packagesByName = new TreeMap<>();

    public static void main(String... checkouts) throws IOException {
        List<String> columns = checkouts.length == 0 ? List.of(".") : List.of(checkouts);
        List<Map<String, String>> tables = new ArrayList<>();
        for (String column : columns) {
            String[] parts = column.split("=", 2);
            Path checkout = Path.of(parts[0]);
            tables.add(new House()
                    .measure(checkout, parts.length > 1 ? Path.of(parts[1]) : checkout.resolve("target/classes")));
        }
        System.out.println("| | " + String.join(" | ", columns) + " |\n|---|" + "---|".repeat(columns.size()));
        Set<String> rows = new LinkedHashSet<>();
        tables.forEach(one -> rows.addAll(one.keySet()));
        for (String row : rows) {
            System.out.println(tables.stream()
                    .map(one -> one.getOrDefault(row, "-"))
                    .collect(Collectors.joining(" | ", "| " + row + " | ", " |")));
        }
    }

    private Map<String, String> measure(Path checkout, Path compiled) throws IOException {
        Path main = checkout.resolve("src/main");
        if (!Files.isDirectory(main) || !Files.isDirectory(compiled)) {
            throw new IOException(
                    main + " or " + compiled + " is not there; compile first, or name the classes behind =");
        }
        sizes(checkout, compiled).forEach((name, size) -> table.put(name, number(size)));
        List<Path> files = files(main);
        List<Path> java =
                files.stream().filter(file -> file.toString().endsWith(".java")).toList();
        long total = 0;
        for (String kind : List.of(".java", ".lua", ".sql")) {
            long bytes = 0;
            for (Path file : files) {
                bytes += file.toString().endsWith(kind) ? code(Files.readString(file), COMMENTS.get(kind)) : 0;
            }
            table.put("bytes of " + kind, number(bytes));
            total += bytes;
        }
        table.put("bytes of code", number(total));
        table.put("files of Java", number(java.size()));
        parse(java);
        port(compiled);
        cycles(compiled);
        Map<String, Set<String>> twice = packagesByName.entrySet().stream()
                .filter(name -> name.getValue().size() > 1)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (a, b) -> a, TreeMap::new));
        table.put("names of top-level types in two packages", number(twice.size()));
        table.put("these names", String.join(", ", twice.keySet()));
        List<String> prose = new ArrayList<>();
        for (Path file : java) {
            COMMENTS.get(".java").matcher(Files.readString(file)).results().forEach(found -> prose.add(found.group()));
        }
        try (Stream<Path> decisions = Files.walk(checkout.resolve("src/docs/decisions"))) {
            for (Path page : decisions.filter(Files::isRegularFile).toList()) {
                prose.add(Files.readString(page));
            }
        }
        for (String word : HEAVY) {
            Pattern pattern = Pattern.compile("\\b(?:" + word + ")\\b");
            long count = prose.stream()
                    .mapToLong(text -> pattern.matcher(text).results().count())
                    .sum();
            table.put(
                    "\"" + word.replaceAll("\\(\\?:([^)]*)\\)", "$1").replace('|', ',') + "\" in prose", number(count));
        }
        table.put("longest method", longest(methods));
        table.put("longest class", longest(classes));
        return table;
    }

    /**
     * Counts what has a ceiling, in a second: lines of code by package and of scripts, public types, methods of the main
     * types, the documents, the POM.
     */
    static Map<String, Integer> sizes(Path checkout, Path compiled) throws IOException {
        Map<String, Integer> sizes = new TreeMap<>();
        for (Path file : files(checkout.resolve("src/main"))) {
            sizesOfCode(checkout, file).forEach((name, size) -> sizes.merge(name, size, Integer::sum));
        }
        sizes.put("methods.MessageLog", methodsOfPort(compiled).size());
        sizes.put("methods.Keepsake", publicMethods(compiled, ROOT + "Keepsake"));
        sizes.put("methods.Conversation", publicMethods(compiled, ROOT + "chat.Conversation"));
        Path readme = checkout.resolve("README.md");
        List<Path> pages = files(checkout.resolve("src/docs/guide"));
        sizes.put("readme.lines", Files.readAllLines(readme).size());
        sizes.put("guide.pages", pages.size());
        sizes.put("words", words(readme));
        for (Path page : pages) {
            sizes.merge("words", words(page), Integer::sum);
        }
        Document pom = pom(checkout.resolve("pom.xml"));
        sizes.put("pom.executions", pom.getElementsByTagName("execution").getLength());
        sizes.put("pom.profiles", pom.getElementsByTagName("profile").getLength());
        sizes.put("pom.elements", pom.getElementsByTagName("*").getLength());
        return sizes;
    }

    private static Map<String, Integer> sizesOfCode(Path checkout, Path file) throws IOException {
        String name = file.getFileName().toString();
        String kind = name.substring(name.lastIndexOf('.'));
        if (!NO_CODE.containsKey(kind)) {
            return Map.of();
        }
        String text = Files.readString(file);
        int lines = (int) text.lines()
                .filter(line -> !NO_CODE.get(kind).matcher(line).matches())
                .count();
        if (!kind.equals(".java")) {
            return Map.of("lines", lines, "scripts" + kind, lines);
        }
        Path root = checkout.resolve("src/main/java").resolve(ROOT.replace('.', '/'));
        String place = root.relativize(file.getParent()).toString().replace('/', '.');
        boolean isInternal =
                Files.readString(file.resolveSibling("package-info.java")).contains("<p>Internal:");
        int types = (int) PUBLIC_TYPE.matcher(text).results().count();
        return Map.of(
                "lines", lines, "lines." + (place.isEmpty() ? "root" : place), lines, "types", isInternal ? 0 : types);
    }

    private static int publicMethods(Path compiled, String type) {
        return (int) Pattern.compile("(?m)^  public .*\\(")
                .matcher(tool("javap", "-public", "-cp", compiled.toString(), type))
                .results()
                .count();
    }

    /** Counts the words outside code. */
    private static int words(Path page) throws IOException {
        return (int)
                Stream.of(prose(page).split("\\s+")).filter(WORD.asPredicate()).count();
    }

    /** The text of a page without its code. */
    public static String prose(Path page) throws IOException {
        return CODE_OF_A_PAGE.matcher(Files.readString(page)).replaceAll("");
    }

    private static Document pom(Path file) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file.toString(), e);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static long code(String text, Pattern comments) {
        String code = comments.matcher(text)
                .replaceAll(found -> found.group(1) == null ? " " : Matcher.quoteReplacement(found.group()));
        return code.replaceAll("\\s", "").getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
    }

    /** Asks the compiler where types and methods begin and end. */
    private void parse(List<Path> files) throws IOException {
        JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
        try (var manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                for (Tree type : unit.getTypeDecls()) {
                    if (type instanceof ClassTree named) {
                        packagesByName
                                .computeIfAbsent(named.getSimpleName().toString(), name -> new TreeSet<>())
                                .add(unit.getPackageName().toString());
                    }
                }
                new TreeScanner<Void, String>() {
                    @Override
                    public Void visitClass(ClassTree type, String outer) {
                        String name = outer + (outer.isEmpty() ? "" : ".") + type.getSimpleName();
                        classes.merge(name, length(type), Math::max);
                        return super.visitClass(type, name);
                    }

                    @Override
                    public Void visitMethod(MethodTree method, String outer) {
                        methods.merge(outer + "." + method.getName(), length(method), Math::max);
                        return super.visitMethod(method, outer);
                    }

                    private int length(Tree tree) {
                        var lines = unit.getLineMap();
                        return (int) (lines.getLineNumber(positions.getEndPosition(unit, tree))
                                - lines.getLineNumber(positions.getStartPosition(unit, tree))
                                + 1);
                    }
                }.scan(unit, "");
            }
        }
    }

    private static String longest(Map<String, Integer> lengths) {
        Map.Entry<String, Integer> longest =
                lengths.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
        return longest.getValue() + " (" + longest.getKey() + ")";
    }

    private void port(Path compiled) {
        Map<String, Boolean> abstractOnes = methodsOfPort(compiled);
        table.put(
                "- without a default",
                number(abstractOnes.values().stream().filter(one -> one).count()));
        Matcher kinds = Pattern.compile("PermittedSubclasses:\n((?: +\\S+\n)+)")
                .matcher(
                        Files.exists(compiled.resolve(CHANGE.replace('.', '/') + ".class"))
                                ? tool("javap", "-v", "-cp", compiled.toString(), CHANGE)
                                : "");
        table.put(
                "kinds of Change", kinds.find() ? number(kinds.group(1).lines().count()) : "-");
    }

    /** The port's methods with those that it inherits, and whether each is abstract; the nearest declaration counts. */
    private static Map<String, Boolean> methodsOfPort(Path compiled) {
        Map<String, Boolean> abstractOnes = new LinkedHashMap<>();
        methods(compiled, PORT, abstractOnes);
        return abstractOnes;
    }

    private static void methods(Path compiled, String type, Map<String, Boolean> abstractOnes) {
        String shown = tool("javap", "-cp", compiled.toString(), type);
        Pattern.compile("(?m)^  public (default|abstract|static) .* (\\w+\\(.*\\))")
                .matcher(shown)
                .results()
                .filter(method -> !method.group(1).equals("static"))
                .forEach(method -> abstractOnes.putIfAbsent(
                        method.group(2), method.group(1).equals("abstract")));
        Matcher inherited =
                Pattern.compile("interface \\S+ extends ([^{]+) \\{").matcher(shown);
        if (inherited.find()) {
            for (String parent : inherited.group(1).replaceAll("<[^>]*>", "").split(",")) {
                methods(compiled, parent.strip(), abstractOnes);
            }
        }
    }

    /** Finds in each package the classes that know each other in a circle. A nested class counts as its outer one. */
    private void cycles(Path compiled) {
        Map<String, Set<String>> uses = new TreeMap<>();
        Pattern.compile("(?m)^ +(\\S+) +-> (\\S+)")
                .matcher(tool("jdeps", "-verbose:class", "-filter:none", compiled.toString()))
                .results()
                .forEach(use -> {
                    String from = use.group(1).replaceAll("\\$.*", "");
                    String to = use.group(2).replaceAll("\\$.*", "");
                    uses.computeIfAbsent(from, name -> new TreeSet<>());
                    if (to.startsWith(ROOT) && !from.equals(to)) {
                        uses.get(from).add(to);
                    }
                });
        Map<String, Map<String, Set<String>>> byPackage = new TreeMap<>();
        uses.forEach((from, tos) -> byPackage
                .computeIfAbsent(packageOf(from), name -> new TreeMap<>())
                .put(
                        from,
                        tos.stream()
                                .filter(to -> packageOf(to).equals(packageOf(from)))
                                .collect(Collectors.toSet())));
        Map<String, String> sizes = new LinkedHashMap<>();
        long inCycles = 0;
        for (var one : byPackage.entrySet()) {
            List<Integer> circles = circles(one.getValue());
            if (!circles.isEmpty()) {
                inCycles += circles.stream().mapToInt(Integer::intValue).sum();
                sizes.put(one.getKey(), number(circles.get(0)));
            }
        }
        table.put("classes in a cycle within their package", number(inCycles));
        sizes.forEach((name, size) -> table.put("- the largest in " + name, size));
    }

    private static String packageOf(String type) {
        String name = type.substring(0, type.lastIndexOf('.') + 1);
        return name.equals(ROOT) ? "(root)" : name.substring(ROOT.length(), name.length() - 1);
    }

    /** Returns the sizes of the strongly connected parts of more than one class, the largest first. */
    private static List<Integer> circles(Map<String, Set<String>> uses) {
        Map<String, Set<String>> reached = new HashMap<>();
        for (String from : uses.keySet()) {
            Set<String> seen = new LinkedHashSet<>();
            Deque<String> open = new ArrayDeque<>(uses.get(from));
            while (!open.isEmpty()) {
                String next = open.pop();
                if (seen.add(next)) {
                    open.addAll(uses.getOrDefault(next, Set.of()));
                }
            }
            reached.put(from, seen);
        }
        Set<Set<String>> circles = new LinkedHashSet<>();
        reached.forEach((from, seen) -> circles.add(seen.stream()
                .filter(to -> reached.getOrDefault(to, Set.of()).contains(from))
                .collect(Collectors.toCollection(TreeSet::new))));
        return circles.stream()
                .map(Set::size)
                .filter(size -> size > 1)
                .sorted((a, b) -> b - a)
                .toList();
    }

    private static String tool(String name, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter errors = new StringWriter();
        int code = ToolProvider.findFirst(name)
                .orElseThrow()
                .run(new PrintWriter(out), new PrintWriter(errors), arguments);
        if (code != 0) {
            throw new IllegalStateException(name + ": " + errors + out);
        }
        return out.toString();
    }

    private static String number(long number) {
        return Long.toString(number);
    }
}
