package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The guide and the help say what the commands do. */
class DocumentsTest {

    private static final String GUIDE = "src/docs/guide/moving.md";

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(console|sh)\\n(.*?)^```$");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");
    private static final Pattern VARIES = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}");

    @TempDir
    Path directory;

    /** The times and ids of messages differ in each run. */
    @Test
    void the_console_shows_what_the_commands_print() throws IOException {
        List<String> blocks = blocks(GUIDE, "console");
        assertThat(blocks).isNotEmpty();
        for (String block : blocks) {
            StringBuilder printed = new StringBuilder();
            Shell shell = new Shell();
            for (String line :
                    block.lines().filter(each -> each.startsWith("$ ")).toList()) {
                printed.append(line).append('\n');
                List<String> words = words(here(line.substring(2)));
                if (words.get(0).equals("export")) {
                    String[] variable = words.get(1).split("=", 2);
                    shell.with(variable[0], variable[1]);
                } else {
                    printed.append(shell.good(arguments(words)).out());
                }
            }
            assertThat(masked(printed.toString())).isEqualTo(masked(block));
        }
    }

    private String here(String line) {
        return line.replaceAll("(sqlite|file):", "$1:" + Matcher.quoteReplacement(directory + "/"));
    }

    private static String masked(String text) {
        return VARIES.matcher(text).replaceAll("<varies>");
    }

    @Test
    void every_command_of_the_guide_is_understood() throws IOException {
        CommandLine line = CommandTree.of(host());
        for (String block : blocks(GUIDE, "sh")) {
            for (String each : block.lines().toList()) {
                int begin = each.indexOf("keepsake ");
                String command =
                        each.substring(Math.max(0, begin)).replace("<id>", "id").split("[|<>#]")[0];
                assertThat(begin).as(each).isNotNegative();
                line.parseArgs(arguments(words(command)));
            }
        }
    }

    @Test
    void the_guide_has_every_command_and_every_option() throws IOException {
        String guide = Files.readString(Path.of(GUIDE));
        for (Map.Entry<String, CommandLine> command :
                CommandTree.of(host()).getSubcommands().entrySet()) {
            Pattern named = Pattern.compile("(keepsake |`)" + command.getKey() + "\\b");
            assertThat(named.matcher(guide).find()).as(command.getKey()).isTrue();
            for (OptionSpec option : command.getValue().getCommandSpec().options()) {
                assertThat(guide).as(command.getKey()).contains(option.longestName());
            }
        }
    }

    @Test
    void the_guide_has_every_exit_code() throws IOException {
        String guide = Files.readString(Path.of(GUIDE)).replace("`", "");
        CommandTree.of(host()).getCommandSpec().usageMessage().exitCodeList().forEach((code, meaning) -> assertThat(
                        guide)
                .contains("| " + code + " | " + meaning));
    }

    /** A user's scripts know the names of options, so a change of the help must be seen. */
    @Test
    void the_help_is_as_it_was() throws IOException {
        StringBuilder help = new StringBuilder();
        help.append(help("--help"));
        for (String command : CommandTree.of(host()).getSubcommands().keySet()) {
            help.append("\n$ keepsake ").append(command).append(" --help\n").append(help(command, "--help"));
        }
        try (var golden = DocumentsTest.class.getResourceAsStream("help.txt")) {
            assertThat(help.toString())
                    .isEqualTo(new String(
                            Objects.requireNonNull(golden, "help.txt").readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    private static String help(String... arguments) {
        return new Shell().good(arguments).out();
    }

    private static Host host() {
        return Host.ofProcess(java.io.OutputStream.nullOutputStream(), System.err);
    }

    private static List<String> blocks(String document, String kind) throws IOException {
        return BLOCK.matcher(Files.readString(Path.of(document)))
                .results()
                .filter(block -> block.group(1).equals(kind))
                .map(block -> block.group(2))
                .toList();
    }

    /** Splits a line as a shell does, as far as the documents need it. */
    private static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(line);
        while (matcher.find()) {
            words.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(matcher.group(2) != null ? 2 : 3));
        }
        return words;
    }

    private static String[] arguments(List<String> words) {
        assertThat(words.get(0)).isEqualTo("keepsake");
        return words.subList(1, words.size()).toArray(String[]::new);
    }
}
