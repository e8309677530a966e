package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.MessageLog;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Objects whose calls a test sees, and may answer itself. */
public final class Watched {

    private Watched() {}

    /**
     * A call of an object, before it reaches the object.
     *
     * @param arguments none for a method without parameters
     */
    public record Call(Object of, Method method, Object[] arguments) {

        public String name() {
            return method.getName();
        }

        /** Returns the word of {@link Logs} for it. */
        public String word() {
            return Logs.word(method, arguments.length == 0 ? null : arguments);
        }

        public Object proceed() throws Throwable {
            return proceed(of);
        }

        /** Makes the call of another object. */
        public Object proceed(Object other) throws Throwable {
            try {
                return method.invoke(other, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    /** What is done in place of a call. */
    @FunctionalInterface
    public interface Watch {
        Object on(Call call) throws Throwable;
    }

    public static <T> T of(Class<T> type, T object, Watch watch) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) ->
                        watch.on(new Call(object, method, arguments == null ? new Object[0] : arguments))));
    }

    public static MessageLog log(MessageLog log, Watch watch) {
        return of(MessageLog.class, log, watch);
    }
}
