import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;

/**
 * Says whether the folder of a release has all that Maven Central asks for: {@code java src/release/CheckRelease.java
 * target/release}. Each fault is a line, and the exit code is 1 if there is one. gpg checks the signatures with the
 * keys of its home.
 */
class CheckRelease {

    private static final Map<String, String> ALGORITHMS =
            new TreeMap<>(Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512"));
    private static final List<String> FIELDS = List.of(
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "organization/name",
            "developers/developer/name",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");
    /** What each file holds at least: an entry of an archive, or words. */
    private static final Map<String, String> FILES = new TreeMap<>(Map.of(
            ".jar", "META-INF/MANIFEST.MF",
            "-sources.jar", "io/github/keepsake4j/Keepsake.java",
            "-javadoc.jar", "index.html",
            "-cyclonedx.json", "CycloneDX",
            "-cyclonedx.xml", "cyclonedx.org"));

    private final List<String> faults = new ArrayList<>();
    private final Path root;

    private CheckRelease(Path root) {
        this.root = root;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 1 || !Files.isDirectory(Path.of(args[0]))) {
            System.err.println("Usage: java src/release/CheckRelease.java target/release, after src/release/release.sh");
            System.exit(2);
        }
        CheckRelease check = new CheckRelease(Path.of(args[0]));
        int files = check.files();
        check.faults.forEach(System.out::println);
        System.out.println(files + " files, " + check.faults.size() + " faults");
        System.exit(check.faults.isEmpty() ? 0 : 1);
    }

    private int files() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(Files::isRegularFile)
                    .filter(each -> !ALGORITHMS.containsKey(extension(each)))
                    .sorted()
                    .toList();
        }
        List<Path> poms = files.stream().filter(each -> "pom".equals(extension(each))).toList();
        if (poms.size() != 1) {
            faults.add(poms.size() + " POMs below " + root);
        }
        for (Path pom : poms) {
            project(pom);
        }
        for (Path file : files) {
            checksums(file);
            if (!"asc".equals(extension(file)) && !name(file).startsWith("maven-metadata")) {
                signature(file);
            }
        }
        return files.size();
    }

    private void project(Path pom) throws Exception {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
        XPath path = XPathFactory.newInstance().newXPath();
        for (String field : FIELDS) {
            if (path.evaluate("/project/" + field, document).isBlank()) {
                faults.add("POM without " + field);
            }
        }
        String version = path.evaluate("/project/version", document);
        String artifact = path.evaluate("/project/artifactId", document);
        if (!version.matches("\\d+\\.\\d+\\.\\d+")) {
            faults.add("No version of a release: " + version);
        }
        Path folder = root.resolve(path.evaluate("/project/groupId", document).replace('.', '/'))
                .resolve(artifact)
                .resolve(version);
        if (!pom.equals(folder.resolve(artifact + "-" + version + ".pom"))) {
            faults.add("POM at another place than its coordinates': " + pom);
        }
        for (Map.Entry<String, String> each : FILES.entrySet()) {
            Path file = folder.resolve(artifact + "-" + version + each.getKey());
            if (!Files.isRegularFile(file)) {
                faults.add("Missing: " + name(file));
            } else if (!holds(file, each.getValue())) {
                faults.add("Without " + each.getValue() + ": " + name(file));
            }
        }
    }

    private static boolean holds(Path file, String part) throws IOException {
        if (!"jar".equals(extension(file))) {
            return Files.readString(file).contains(part);
        }
        try (JarFile jar = new JarFile(file.toFile())) {
            return jar.getEntry(part) != null;
        } catch (IOException unreadable) {
            return false;
        }
    }

    private void checksums(Path file) throws IOException, GeneralSecurityException {
        for (Map.Entry<String, String> each : ALGORITHMS.entrySet()) {
            Path checksum = Path.of(file + "." + each.getKey());
            if (!Files.isRegularFile(checksum)) {
                faults.add("Missing: " + name(checksum));
            } else if (!Files.readString(checksum).strip().equals(digest(file, each.getValue()))) {
                faults.add("Another content than its checksum says: " + name(checksum));
            }
        }
    }

    private static String digest(Path file, String algorithm) throws IOException, GeneralSecurityException {
        byte[] digest = MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file));
        return String.format("%0" + 2 * digest.length + "x", new BigInteger(1, digest));
    }

    private void signature(Path file) throws IOException, InterruptedException {
        Path signature = Path.of(file + ".asc");
        if (!Files.isRegularFile(signature)) {
            faults.add("Missing: " + name(signature));
            return;
        }
        Process gpg = new ProcessBuilder("gpg", "--batch", "--verify", signature.toString(), file.toString())
                .redirectErrorStream(true)
                .start();
        try (InputStream output = gpg.getInputStream()) {
            String said = new String(output.readAllBytes());
            if (gpg.waitFor() != 0) {
                faults.add("Another content than was signed, or an unknown key: " + name(file) + "\n" + said.strip());
            }
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    private static String extension(Path file) {
        return name(file).substring(name(file).lastIndexOf('.') + 1);
    }
}
