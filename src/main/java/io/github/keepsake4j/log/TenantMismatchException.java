package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;

/**
 * Thrown when the place of a tenant's data holds the data of another tenant. That data is neither returned nor
 * overwritten nor erased. Not retryable: two logs use the same place for different tenants. Correct their
 * configuration.
 */
public class TenantMismatchException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param message the data that was requested, and what to do; never data of the other tenant
     */
    public TenantMismatchException(String message) {
        super(message);
    }
}
