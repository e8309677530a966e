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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * One word for one thing, in the documents, in the Javadoc, from which Spring's properties have their descriptions, and
 * in string literals with several words, such as those of errors. Code is left out.
 */
class OneWordTest {
    private static final Path SOURCES = Path.of("src/main/java/io/github/keepsake4j");
    private static final Pattern OTHER_WORD = Pattern.compile("(?i).*\\b(?:backends?|homes?)\\b(?!\\().*");
    private static final Pattern CODE = Pattern.compile(
            "(?ms)^```.*?^```$|<!--.*?-->|`[^`]*`|\\]\\([^)]*\\)|<pre>.*?</pre>|\\{@\\w+[^}]*}|@param\\s+\\S+");

    /** What has another word, and why. */
    private static final Map<String, String> OTHER_WORDS = Map.of(
            ", backend=", "the field of the memory component's JSON, which low-code hosts know by this name",
            "| backend", "the tag of all metrics, which dashboards know by this name; a table has it");

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
        var sources = compiler.getStandardFileManager(null, null, null)
                .getJavaFileObjectsFromPaths(files(SOURCES.toString(), ".java"));
        JavacTask task = (JavacTask) compiler.getTask(null, null, null, null, null, sources);
        for (CompilationUnitTree unit : task.parse()) {
            new Reader(unit, DocTrees.instance(task)).scan(unit, null);
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
            }
            prose = prose.replace(allowed, "");
        }
        for (Matcher found = OTHER_WORD.matcher(prose); found.find(); ) {
            FOUND.add(place + ": " + found.group().strip());
        }
    }

    @Test
    void what_keeps_memories_is_a_store() {
        assertThat(FOUND).isEmpty();
        assertThat(USED).isEqualTo(OTHER_WORDS.keySet());
    }

    /** The exception is a memory that a model made, and nothing else is made. */
    @Test
    void the_types_of_long_term_memories_say_so() {
        Pattern place = Pattern.compile(".*public.* memories.((file|jdbc|inmemory).)?\\w+]");
        assertThat(TYPES.keySet())
                .filteredOn(name -> name.matches(".*Memor(y|ies).*") && !name.contains("LongTerm"))
                .filteredOn(name -> place.matcher(TYPES.get(name).toString()).matches())
                .containsExactly("MadeMemory");
    }

    @Test
    void no_reader_meets_two_types_of_one_name() {
        assertThat(TYPES.keySet())
                .filteredOn(name -> TYPES.get(name).size() > 1)
                .allSatisfy(name -> assertThat(TYPES.get(name).toString()).doesNotContain("public"))
                .containsExactlyInAnyOrderElementsOf(NAMES_OF_TWO);
    }

    private static final class Reader extends TreePathScanner<Void, Void> {
        private final DocTrees docs;
        private final String file;

        Reader(CompilationUnitTree unit, DocTrees docs) {
            this.docs = docs;
            this.file =
                    unit.getSourceFile().getName().substring(SOURCES.toString().length() + 1);
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
            if (getCurrentPath().getParentPath().getLeaf() instanceof CompilationUnitTree) {
                TYPES.computeIfAbsent(type.getSimpleName().toString(), each -> new ArrayList<>())
                        .add(type.getModifiers().getFlags() + " " + file.replace(".java", ""));
            }
            return super.visitClass(type, none);
        }

        @Override
        public Void visitLiteral(LiteralTree literal, Void none) {
            if (literal.getValue() instanceof String text && text.contains(" ")) {
                prose(file, text);
            }
            return none;
        }
    }
}
