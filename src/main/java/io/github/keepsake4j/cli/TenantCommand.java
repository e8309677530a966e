package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.Ids;
import picocli.CommandLine.Option;

/** A command that uses one tenant's memories in one log. */
abstract class TenantCommand extends LogCommand {

    @Option(
            names = "--tenant",
            paramLabel = "<id>",
            defaultValue = "default",
            order = 2,
            description = "The tenant. Default: ${DEFAULT-VALUE}.")
    private String tenant = "default";

    TenantCommand(Host host, boolean creates) {
        super(host, creates);
    }

    String tenant() {
        return Ids.check("tenant", tenant);
    }
}
