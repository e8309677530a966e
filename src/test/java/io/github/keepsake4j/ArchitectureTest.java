package io.github.keepsake4j;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.EvaluationResult;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.base.LockFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.postgresql.jdbc.PgConnection;

/** One-way flow between the packages, as package-info of the root says. */
@AnalyzeClasses(packages = "io.github.keepsake4j", importOptions = ImportOption.DoNotIncludeTests.class)
public class ArchitectureTest {

    /** How components are named that hold what users, models or tools said, or what was made of it. */
    private static final Set<String> SAID = Set.of(
            "answer",
            "content",
            "error",
            "keywords",
            "metadata",
            "payload",
            "query",
            "reason",
            "request",
            "text",
            "title",
            "words");

    private static final String ROOT = "io.github.keepsake4j";

    /** Takes what an application has already, a data source or a client, and passes it to its adapter. */
    private static final String FRONT = ROOT + ".MessageLogs";

    /** What a package may import of ours. A package that is not listed here is an error, so that none is forgotten. */
    private static final Map<String, List<String>> MAY_IMPORT = Map.ofEntries(
            Map.entry("message", List.of("text")),
            Map.entry("base", List.of("message")),
            Map.entry("text", List.of()),
            Map.entry("codec", List.of("message")),
            Map.entry("tokens", List.of("message", "text")),
            Map.entry("log", List.of("message", "base")),
            Map.entry("backend", List.of("message", "base", "codec", "log")),
            Map.entry("jdbc", List.of("message")),
            Map.entry("sql", List.of("message", "base", "jdbc")),
            Map.entry("log.file", List.of("log", "backend", "base", "codec", "message")),
            Map.entry("log.inmemory", List.of("log", "backend", "codec", "message")),
            Map.entry("log.jdbc", List.of("log", "backend", "base", "codec", "message", "jdbc", "sql")),
            Map.entry("log.redis", List.of("log", "backend", "base", "codec", "message")),
            Map.entry("log.s3", List.of("log", "backend", "base", "codec", "message", "text")),
            Map.entry("context", List.of("message", "tokens")),
            Map.entry("metrics", List.of()),
            Map.entry("summary", List.of("message", "base", "backend", "log", "tokens", "text", "metrics")),
            Map.entry("view", List.of("message", "base", "log", "context")),
            Map.entry("turn", List.of("message", "base", "backend", "log")),
            Map.entry(
                    "chat",
                    List.of(
                            "message", "base", "codec", "text", "tokens", "log", "context", "summary", "view", "turn",
                            "metrics")),
            // The root package is the entry point; it knows nothing of a component on it.
            Map.entry(
                    "component",
                    List.of("", "message", "base", "codec", "tokens", "log", "context", "chat", "summary", "metrics")),
            Map.entry(
                    "recall",
                    List.of("message", "base", "log", "backend", "text", "tokens", "metrics", "recall.words")),
            Map.entry("recall.inmemory", List.of("recall", "recall.words", "recall.vectors", "log", "message")),
            Map.entry(
                    "recall.jdbc",
                    List.of("recall", "recall.words", "recall.vectors", "log", "message", "jdbc", "sql")),
            Map.entry("recall.vectors", List.of("recall", "message")),
            Map.entry("recall.words", List.of("message")),
            Map.entry(
                    "memories",
                    List.of("message", "base", "codec", "log", "tokens", "text", "context", "recall", "recall.words")),
            Map.entry(
                    "memories.store",
                    List.of(
                            "memories",
                            "recall",
                            "recall.vectors",
                            "recall.words",
                            "backend",
                            "log",
                            "base",
                            "codec",
                            "message")),
            Map.entry("memories.background", List.of("memories", "backend", "log", "base", "text", "message")),
            Map.entry("memories.inmemory", List.of("memories", "memories.store", "recall.words", "log", "message")),
            Map.entry(
                    "memories.jdbc",
                    List.of("memories", "memories.store", "recall.words", "log", "message", "jdbc", "sql")),
            // The facts of a conversation are a database in a file.
            Map.entry(
                    "memories.file",
                    List.of(
                            "memories",
                            "memories.store",
                            "memories.jdbc",
                            "recall.words",
                            "log",
                            "backend",
                            "base",
                            "codec",
                            "message",
                            "sql")),
            // The command line is what a user calls; it uses what an application does, and nothing uses it.
            Map.entry(
                    "cli",
                    List.of(
                            "",
                            "base",
                            "chat",
                            "message",
                            "codec",
                            "log",
                            "log.file",
                            "log.inmemory",
                            "log.jdbc",
                            "log.redis",
                            "log.s3",
                            "jdbc",
                            "sql",
                            "recall",
                            "recall.jdbc",
                            "recall.words",
                            "summary",
                            "component",
                            "transfer",
                            "retention")),
            // What makes the beans of an application; nothing uses it.
            Map.entry(
                    "spring",
                    List.of(
                            "",
                            "message",
                            "codec",
                            "tokens",
                            "log",
                            "log.file",
                            "log.inmemory",
                            "log.jdbc",
                            "log.redis",
                            "log.s3",
                            "context",
                            "chat",
                            "summary",
                            "turn",
                            "metrics",
                            "recall",
                            "recall.inmemory",
                            "recall.jdbc",
                            "recall.words",
                            "memories",
                            "memories.file",
                            "memories.inmemory",
                            "memories.jdbc",
                            "jdbc",
                            "sql",
                            "transfer",
                            "retention")),
            Map.entry("transfer", List.of("message", "base", "codec", "backend", "tokens", "log")),
            Map.entry("transfer.jdbc", List.of("message", "sql", "transfer")),
            Map.entry("retention", List.of("message", "log", "metrics")),
            Map.entry(
                    "workflow",
                    List.of(
                            "message",
                            "base",
                            "codec",
                            "tokens",
                            "log",
                            "context",
                            "view",
                            "metrics",
                            "workflow.files")),
            Map.entry("workflow.files", List.of("message")),
            Map.entry("workflow.files.jdbc", List.of("message", "sql", "workflow.files")),
            Map.entry("workflow.files.s3", List.of("message", "workflow.files")));

    @ArchTest
    static final ArchRule one_way =
            classes().that().resideInAPackage(ROOT + "..").should(importOnlyWhatTheirPackageMay());

    @ArchTest
    static final ArchRule no_cycles = slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

    /** A class and its nested classes count as one. */
    @ArchTest
    static void at_most_five_classes_of_a_package_are_in_a_circle(JavaClasses all) {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass type : all) {
            String outer = outer(type);
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .filter(used -> used.getPackageName().equals(type.getPackageName()))
                    .filter(used -> !outer(used).equals(outer))
                    .forEach(used ->
                            uses.computeIfAbsent(outer, name -> new TreeSet<>()).add(outer(used)));
        }
        assertThat(circles(uses)).allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(5));
    }

    @Test
    void a_circle_of_six_classes_is_found() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (int i = 0; i < 6; i++) {
            uses.put("c" + i, Set.of("c" + (i + 1) % 6, "leaf"));
        }
        assertThat(circles(uses)).containsExactly(Set.of("c0", "c1", "c2", "c3", "c4", "c5"));
    }

    private static String outer(JavaClass type) {
        return type.getName().replaceAll("\\$.*", "");
    }

    private static Set<Set<String>> circles(Map<String, Set<String>> uses) {
        Map<String, Set<String>> reached = new TreeMap<>();
        uses.keySet().forEach(from -> reach(from, uses, reached.computeIfAbsent(from, name -> new TreeSet<>())));
        return reached.keySet().stream()
                .map(one -> reached.get(one).stream()
                        .filter(other -> reached.getOrDefault(other, Set.of()).contains(one))
                        .collect(Collectors.toSet()))
                .filter(circle -> !circle.isEmpty())
                .collect(Collectors.toSet());
    }

    private static void reach(String from, Map<String, Set<String>> uses, Set<String> reached) {
        for (String next : uses.getOrDefault(from, Set.of())) {
            if (reached.add(next)) {
                reach(next, uses, reached);
            }
        }
    }

    /** Internal types may change in any version, so an application need not name one. */
    @ArchTest
    static final ArchRule signatures_name_no_internal_type =
            classes().that().arePublic().should(nameNoInternalType());

    @Test
    void an_internal_type_in_a_signature_is_found() {
        for (Class<?> planted : List.of(ReturnsLock.class, ReturnsLocks.class, IsBodies.class)) {
            assertThat(signatures_name_no_internal_type
                            .evaluate(new ClassFileImporter().importClasses(planted, ArchitectureTest.class))
                            .hasViolation())
                    .as(planted.getSimpleName())
                    .isTrue();
        }
    }

    public interface ReturnsLock {
        LockFile lock();
    }

    public interface ReturnsLocks {
        void lock(Function<String, List<LockFile>> locks);
    }

    public interface IsBodies extends MemoryTree.Bodies {}

    private static ArchCondition<JavaClass> nameNoInternalType() {
        Set<String> internal = internalPackages();
        return new ArchCondition<>("name no internal type that an application sees") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (internal.contains(type.getPackageName()) || !isSeen(type)) {
                    return;
                }
                boolean isFinal = type.getModifiers().contains(JavaModifier.FINAL);
                Stream<JavaType> members = type.getMembers().stream()
                        .filter(member -> member.getModifiers().contains(JavaModifier.PUBLIC)
                                || !isFinal && member.getModifiers().contains(JavaModifier.PROTECTED))
                        .flatMap(ArchitectureTest::named);
                Stream.concat(members, type.getInterfaces().stream())
                        .flatMap(named -> named.getAllInvolvedRawTypes().stream())
                        .filter(named -> internal.contains(named.getPackageName()))
                        .forEach(named -> events.add(
                                SimpleConditionEvent.violated(type, type.getName() + " names " + named.getName())));
                type.getAllRawSuperclasses().stream()
                        .filter(above -> internal.contains(above.getPackageName()))
                        .flatMap(above -> above.getMethods().stream())
                        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(method -> !isOfInterface(method, type, internal))
                        .forEach(method -> events.add(SimpleConditionEvent.violated(
                                type, type.getName() + " inherits " + method.getFullName())));
            }
        };
    }

    private static Set<String> internalPackages() {
        Path sources = Path.of("src/main/java");
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.endsWith("package-info.java"))
                    .filter(file -> read(file).contains("<p>Internal:"))
                    .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isSeen(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(ArchitectureTest::isSeen).orElse(true);
    }

    private static Stream<JavaType> named(JavaMember member) {
        if (member instanceof JavaField field) {
            return Stream.of(field.getType());
        }
        JavaCodeUnit code = (JavaCodeUnit) member;
        return Stream.of(
                        Stream.of(code.getReturnType()),
                        code.getParameterTypes().stream(),
                        code.getTypeParameters().stream(),
                        code.getExceptionTypes().stream())
                .flatMap(Function.identity());
    }

    /** What an internal superclass implements of a public interface is the interface's. */
    private static boolean isOfInterface(JavaMethod method, JavaClass type, Set<String> internal) {
        return type.getAllRawInterfaces().stream()
                .filter(above -> !internal.contains(above.getPackageName()))
                .anyMatch(above -> above.tryGetMethod(
                                method.getName(),
                                method.getRawParameterTypes().stream()
                                        .map(JavaClass::getName)
                                        .toArray(String[]::new))
                        .isPresent());
    }

    /** What concerns one conversation, search, recall and long-term memories is in handles. */
    @ArchTest
    static void the_entry_point_can_be_looked_over(JavaClasses all) {
        Function<Class<?>, Long> methods = type -> all.get(type).getMethods().stream()
                .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(method -> !method.getModifiers().contains(JavaModifier.SYNTHETIC))
                .filter(method -> !method.getName().equals("toString"))
                .count();
        assertThat(methods.apply(Keepsake.class)).isLessThanOrEqualTo(20);
        assertThat(Stream.of(Keepsake.class, Search.class, Recall.class, LongTermMemories.class)
                        .mapToLong(methods::apply)
                        .sum())
                .isLessThanOrEqualTo(38);
    }

    /** The floor knows drivers and pools. Spring is given data sources. */
    @ArchTest
    static final ArchRule drivers_stay_in_the_floor = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".sql..", ROOT + ".spring..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.sqlite..", "org.postgresql..", "com.zaxxer..");

    /** What holds statements reads rows, and is given a data source. Connections and transactions are the floor's. */
    @ArchTest
    static final ArchRule above_the_floor_are_statements_and_rows = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".sql..", ROOT + ".spring..")
            .should()
            .dependOnClassesThat(resideInAnyPackage("java.sql..", "javax.sql..")
                    .and(not(belongToAnyOf(
                            ResultSet.class,
                            ResultSetMetaData.class,
                            SQLException.class,
                            Timestamp.class,
                            Array.class,
                            DataSource.class))));

    @ArchTest
    static final ArchRule all_else_knows_no_sql = noClasses()
            .that()
            .resideOutsideOfPackages(
                    ROOT + ".sql..",
                    ROOT + ".jdbc..",
                    ROOT + ".log.jdbc..",
                    ROOT + ".recall.jdbc..",
                    ROOT + ".memories.jdbc..",
                    ROOT + ".workflow.files.jdbc..",
                    ROOT + ".transfer.jdbc..",
                    ROOT + ".spring..")
            .and()
            .doNotHaveFullyQualifiedName(FRONT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..");

    /** Texts of statements are where rows are read. */
    @Test
    void statements_are_where_rows_are_read() throws IOException {
        Pattern statement = Pattern.compile(
                "\"\\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE|BEGIN|PRAGMA|WITH) ");
        Path sources = Path.of("src/main/java/" + ROOT.replace('.', '/'));
        try (Stream<Path> files = Files.walk(sources)) {
            assertThat(files.filter(Files::isRegularFile)
                            .filter(file -> statement.matcher(read(file)).find())
                            .map(file -> sources.relativize(file.getParent()).toString())
                            .collect(Collectors.toSet()))
                    .containsExactlyInAnyOrder(
                            "sql", "log/jdbc", "recall/jdbc", "memories/jdbc", "workflow/files/jdbc", "transfer/jdbc");
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Others would prepare it on a server that may know another client's statement by the same name. */
    @ArchTest
    static final ArchRule one_class_makes_statements = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(ROOT + ".sql.SqlConnection")
            .should(makeStatements());

    @Test
    void a_statement_that_is_made_elsewhere_is_found() {
        for (Class<?> planted : List.of(MakesStatement.class, PreparesStatement.class)) {
            EvaluationResult result =
                    one_class_makes_statements.evaluate(new ClassFileImporter().importClasses(planted));
            assertThat(result.hasViolation()).as(planted.getSimpleName()).isTrue();
        }
    }

    private static final class MakesStatement {
        Object make(Connection connection) throws SQLException {
            return connection.createStatement();
        }
    }

    private static final class PreparesStatement {
        interface Make {
            Object make(String sql) throws SQLException;
        }

        Make prepare(PgConnection connection) {
            return connection::prepareStatement;
        }
    }

    /** Also by a method reference, and of any class of connections. */
    private static ArchCondition<JavaClass> makeStatements() {
        return new ArchCondition<>("make statements of a connection") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                type.getAccessesFromSelf().stream()
                        .filter(access -> access.getTargetOwner().isAssignableTo(Connection.class))
                        .filter(access -> Set.of("createStatement", "prepareStatement", "prepareCall")
                                .contains(access.getTarget().getName()))
                        .forEach(access -> events.add(SimpleConditionEvent.satisfied(type, access.getDescription())));
            }
        };
    }

    @ArchTest
    static final ArchRule one_class_knows_micrometer = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(ROOT + ".metrics.MicrometerMetrics")
            .and()
            .resideOutsideOfPackage(ROOT + ".spring..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.micrometer..");

    @ArchTest
    static final ArchRule one_class_knows_reactor = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(ROOT + ".chat.WatchedCall$HandedOut")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("reactor..");

    @ArchTest
    static final ArchRule one_class_knows_lucene = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(ROOT + ".recall.words.SnowballLanguage")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.lucene..", "org.tartarus..");

    @ArchTest
    static final ArchRule spring_stays_in_its_package = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + ".spring..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework..", "org.aopalliance..");

    /** A record's own text would hold what its components hold, and records get into logs. */
    @ArchTest
    static final ArchRule records_that_hold_what_was_said_do_not_print_it = classes()
            .that()
            .areRecords()
            .and()
            .arePublic()
            .should(new ArchCondition<JavaClass>("have a toString() of their own if they hold what was said") {
                @Override
                public void check(JavaClass type, ConditionEvents events) {
                    boolean ownText = type.getMethod("toString").getAccessesFromSelf().stream()
                            .anyMatch(access -> access.getTargetOwner().equals(type));
                    for (RecordComponent component : type.reflect().getRecordComponents()) {
                        if (!ownText && holdsWhatWasSaid(component)) {
                            events.add(SimpleConditionEvent.violated(type, type.getName() + " prints " + component));
                        }
                    }
                }
            });

    private static boolean holdsWhatWasSaid(RecordComponent component) {
        String type = component.getGenericType().getTypeName();
        return !type.startsWith("java.util.function.")
                && (SAID.contains(component.getName()) && type.contains("String")
                        || type.matches(".*dev\\.langchain4j\\.data\\.message\\.(\\w*Message|\\w*Content)[>,\\]\\s]*"));
    }

    @Test
    void a_record_that_prints_what_was_said_is_found() {
        assertThat(records_that_hold_what_was_said_do_not_print_it
                        .evaluate(new ClassFileImporter().importClasses(PrintsText.class))
                        .hasViolation())
                .isTrue();
    }

    public record PrintsText(String text) {}

    /** A native image needs a hint for each use; {@code KeepsakeRuntimeHints} has them. */
    @ArchTest
    static final ArchRule reflection_is_used_where_it_is_known = noClasses()
            .that()
            .haveNameNotMatching(ROOT.replace(".", "\\.") + "\\.("
                    + String.join(
                            "|",
                            "BlockingWork",
                            "chat\\.AttachedServices",
                            "chat\\.KeepsakeListenerRegistrarFactory",
                            "chat\\.WatchedCall",
                            "base\\.Library",
                            "sql\\.ConnectException",
                            "cli\\.Terminal",
                            "chat\\.AskedForms",
                            "chat\\.ServiceMethods(\\$1)?",
                            "chat\\.Invocation",
                            "log\\.CachedTokens(\\$1)?",
                            "log\\.s3\\.KeepsakeField",
                            "memories\\.Discussions",
                            "recall\\.words\\.Languages",
                            "spring\\.TracedLog",
                            "spring\\.StreamingModels")
                    + ")")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.lang.reflect..", "java.lang.invoke..")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(ServiceLoader.class)
            .orShould()
            .callMethod(Class.class, "forName", String.class)
            .orShould()
            .callMethod(Class.class, "forName", String.class, boolean.class, ClassLoader.class);

    @ArchTest
    static final ArchRule the_aws_sdk_stays_in_its_adapters = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".log.s3..", ROOT + ".workflow.files.s3..")
            .and()
            .doNotHaveFullyQualifiedName(ROOT + ".spring.S3Store")
            .and()
            .doNotHaveFullyQualifiedName(FRONT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("software.amazon..", "org.apache.hc..");

    @ArchTest
    static final ArchRule jedis_stays_in_its_adapter = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + ".log.redis..")
            .and()
            .doNotHaveFullyQualifiedName(ROOT + ".spring.RedisStore")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("redis..");

    @ArchTest
    static final ArchRule picocli_stays_in_the_command_line = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + ".cli..")
            .or()
            .haveFullyQualifiedName(ROOT + ".cli.Main")
            .or()
            .haveFullyQualifiedName(ROOT + ".cli.Library")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule one_class_knows_a_real_model = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(ROOT + ".cli.OpenAi")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.langchain4j.model.openai..");

    @ArchTest
    static final ArchRule jackson_stays_where_bytes_are = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".codec..", ROOT + ".log.*..", ROOT + ".tokens..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.fasterxml.jackson..");

    @ArchTest
    static final ArchRule one_public_class_for_each_backend = classes()
            .that()
            .resideInAnyPackage(
                    ROOT + ".log.file",
                    ROOT + ".log.inmemory",
                    ROOT + ".log.jdbc",
                    ROOT + ".log.redis",
                    ROOT + ".log.s3")
            .and()
            .haveSimpleNameNotEndingWith("MessageLog")
            .and()
            .areTopLevelClasses()
            .and()
            .doNotHaveSimpleName("package-info")
            .should()
            .notBePublic();

    @ArchTest
    static final ArchRule errors_have_one_root = classes()
            .that()
            .areAssignableTo(Exception.class)
            .and()
            .arePublic()
            .should()
            .beAssignableTo("io.github.keepsake4j.message.KeepsakeException");

    @ArchTest
    static final ArchRule packages_are_null_marked =
            classes().that().haveSimpleName("package-info").should().beAnnotatedWith(NullMarked.class);

    private static ArchCondition<JavaClass> importOnlyWhatTheirPackageMay() {
        return new ArchCondition<>("import only what their package may") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                String from = relative(type);
                if (from.isEmpty()) {
                    type.getDirectDependenciesFromSelf().stream()
                            .filter(dependency -> ours(dependency.getTargetClass()))
                            .filter(dependency -> List.of("component", "cli", "spring")
                                    .contains(relative(dependency.getTargetClass())))
                            .forEach(dependency ->
                                    events.add(SimpleConditionEvent.violated(type, dependency.getDescription())));
                    return;
                }
                List<String> allowed = MAY_IMPORT.get(from);
                if (allowed == null) {
                    events.add(SimpleConditionEvent.violated(type, "package " + from + " is not in the list"));
                    return;
                }
                type.getDirectDependenciesFromSelf().stream()
                        .filter(dependency -> ours(dependency.getTargetClass()))
                        .filter(dependency -> {
                            String to = relative(dependency.getTargetClass());
                            return !to.equals(from) && !allowed.contains(to);
                        })
                        .forEach(dependency ->
                                events.add(SimpleConditionEvent.violated(type, dependency.getDescription())));
            }
        };
    }

    private static boolean ours(JavaClass type) {
        return type.getPackageName().startsWith(ROOT);
    }

    private static String relative(JavaClass type) {
        String name = type.getPackageName();
        return name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1);
    }
}
