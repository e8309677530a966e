package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * One word for one thing. What keeps memories is a store. A memory is a stored conversation or what a node has stored;
 * the types of long-term memories say so by name. The prose is that of the documents, of the Javadoc, from which Spring's
 * properties have their descriptions, and of string literals with several words, such as errors. Code in it is no prose.
 */
class OneWordTest {

    private static final Path SOURCES = Path.of("src/main/java/io/github/keepsake4j");
    private static final Pattern OTHER_WORD = Pattern.compile("(?i).*\\b(?:backends?|homes?)\\b(?!\\().*");
    private static final Pattern CODE =
            Pattern.compile("(?ms)^```.*?^```$|<!--.*?-->|`[^`]*`|\\]\\([^)]*\\)|<pre>.*?</pre>|\\{@\\w+[^}]*}|@param\\s+\\S+");

    /** What has another word, and why. */
    private static final Map<String, String> OTHER_WORDS = Map.of(
            ", backend=", "the field of the memory component's JSON, which low-code hosts know by this name",
            "| backend |", "the tag of all metrics, which dashboards know by this name",
            "| backend, kind |", "the same tag beside another one");

    /** Types of long-term memories whose names do not say so, and why. */
    private static final Map<String, String> SHORT_NAMES =
            Map.of("MadeMemory", "one long-term memory: it is made by a model, and nothing else is");

    /** Names that two types have. Each of these is private to its store: a part that another store has too. */
    private static final Set<String> NAMES_OF_TWO = Set.of("Checker", "Contents", "Listing", "TenantList", "Tombstone");

    private static final List<String> FOUND = new ArrayList<>();
    private static final Set<String> USED = new HashSet<>();

    /** The files of the top-level types, after their modifiers, by the types' names. */
    private static final Map<String, List<String>> TYPES = new TreeMap<>();

    @BeforeAll
    static void read() throws IOException {
        for (String documents : List.of("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "src/docs")) {
            for (Path each : files(documents, ".md")) {
                prose(each.toString(), Files.readString(each));
            }
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            var sources = manager.getJavaFileObjectsFromPaths(files(SOURCES.toString(), ".java"));
            JavacTask task = (JavacTask) compiler.getTask(null, manager, null, null, null, sources);
            for (CompilationUnitTree unit : task.parse()) {
                new Reader(unit, DocTrees.instance(task)).scan(unit, null);
            }
        }
    }

    /** Benchmarks and decisions tell what was so when they were written. */
    private static List<Path> files(String directory, String ending) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(directory))) {
            return files.filter(each -> each.toString().endsWith(ending))
                    .filter(each -> !each.toString().matches(".*\\b(benchmarks|decisions)\\b.*"))
                    .toList();
        }
    }

    private static void prose(String place, String text) {
        String prose = CODE.matcher(text).replaceAll("");
        for (String allowed : OTHER_WORDS.keySet()) {
            if (prose.contains(allowed)) {
                USED.add(allowed);
                prose = prose.replace(allowed, "");
            }
        }
        OTHER_WORD.matcher(prose).results().forEach(found -> FOUND.add(place + ": " + found.group().strip()));
    }

    @Test
    void what_keeps_memories_is_a_store() {
        assertThat(FOUND).isEmpty();
        assertThat(USED).isEqualTo(OTHER_WORDS.keySet());
    }

    @Test
    void the_types_of_long_term_memories_say_so() {
        assertThat(TYPES.keySet())
                .filteredOn(name -> name.matches(".*Memor(y|ies).*") && !name.contains("LongTerm"))
                .filteredOn(name -> TYPES.get(name).toString().matches("\\[.*public.* memories.((file|jdbc|inmemory).)?\\w+]"))
                .containsExactlyInAnyOrderElementsOf(SHORT_NAMES.keySet());
    }

    @Test
    void no_reader_meets_two_types_of_one_name() {
        assertThat(TYPES.keySet())
                .filteredOn(name -> TYPES.get(name).size() > 1)
                .allSatisfy(name -> assertThat(TYPES.get(name).toString()).doesNotContain("public"))
                .containsExactlyInAnyOrderElementsOf(NAMES_OF_TWO);
    }

    private static final class Reader extends TreePathScanner<Void, Void> {

        private final CompilationUnitTree unit;
        private final DocTrees docs;
        private final String file;

        Reader(CompilationUnitTree unit, DocTrees docs) {
            this.unit = unit;
            this.docs = docs;
            this.file = SOURCES.relativize(Path.of(unit.getSourceFile().getName())).toString();
        }

        @Override
        public Void scan(Tree tree, Void none) {
            String javadoc = tree == null ? null : docs.getDocComment(new TreePath(getCurrentPath(), tree));
            if (javadoc != null) {
                prose(file, javadoc);
            }
            return super.scan(tree, none);
        }

        @Override
        public Void visitClass(ClassTree type, Void none) {
            if (getCurrentPath().getParentPath().getLeaf() == unit) {
                TYPES.computeIfAbsent(type.getSimpleName().toString(), each -> new ArrayList<>())
                        .add(type.getModifiers().getFlags() + " " + file.replace(".java", ""));
            }
            return super.visitClass(type, none);
        }

        /** A literal of one word is a name, such as that of a field or a metric's tag. */
        @Override
        public Void visitLiteral(LiteralTree literal, Void none) {
            if (literal.getValue() instanceof String text && text.contains(" ")) {
                prose(file, text);
            }
            return none;
        }
    }
}
