package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;

/**
 * Thrown when the place where a tenant's data would be holds another tenant's. Nothing of it is returned, and nothing is
 * written over it or erased. Not retryable: two logs name the same place for different tenants, which is to be mended in their
 * configuration.
 */
public class TenantMismatchException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was asked for, and what to do; never anything of the other tenant's
     */
    public TenantMismatchException(String message) {
        super(message, null);
    }
}
