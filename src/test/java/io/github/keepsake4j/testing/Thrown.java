package io.github.keepsake4j.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What a call throws. */
public final class Thrown {

    private Thrown() {}

    /** Asserts that a call throws an error of a type, whose message has all the parts. */
    public static AbstractThrowableAssert<?, ? extends Throwable> assertThrown(
            Class<? extends Throwable> type, ThrowingCallable call, String... parts) {
        AbstractThrowableAssert<?, ? extends Throwable> thrown =
                assertThatThrownBy(call).isInstanceOf(type);
        return parts.length == 0 ? thrown : thrown.hasMessageContainingAll(parts);
    }
}
