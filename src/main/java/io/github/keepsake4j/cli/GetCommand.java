package io.github.keepsake4j.cli;

import picocli.CommandLine.Command;

@Command(
        name = "get",
        header = "Prints what a model sees of a conversation.",
        description = {"Both limits hold. The history keeps what they leave out."})
final class GetCommand extends ActionCommand {

    GetCommand(Host host) {
        super(host, "get", false);
    }
}
