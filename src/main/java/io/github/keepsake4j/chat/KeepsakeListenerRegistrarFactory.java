package io.github.keepsake4j.chat;

import dev.langchain4j.observability.api.AiServiceListenerRegistrar;
import dev.langchain4j.observability.api.DefaultAiServiceListenerRegistrar;
import dev.langchain4j.spi.observability.AiServiceListenerRegistrarFactory;
import java.util.ServiceLoader;

/**
 * Reports the ends of the turns of AI services to the chat memories of this library. LangChain4j finds this class by
 * itself; applications do not use it. AI services without a memory of this library are not affected.
 *
 * <p>LangChain4j uses only the first factory on the class path. This one keeps the registrar of the next factory, if
 * there is one. If another factory is first, use {@code Keepsake.attach(...)}. The system property
 * {@value #PROPERTY} with the value {@code off} turns this class off. It is read for each service that is built.
 */
public final class KeepsakeListenerRegistrarFactory implements AiServiceListenerRegistrarFactory {

    /** The system property that turns this class off, with the value {@code off}. */
    public static final String PROPERTY = "keepsake.listeners";

    /** Creates a factory. LangChain4j calls this. */
    public KeepsakeListenerRegistrarFactory() {}

    /**
     * Creates a registrar for one service.
     *
     * @return a new registrar: that of the next factory on the class path, or LangChain4j's own
     */
    @Override
    public AiServiceListenerRegistrar get() {
        AiServiceListenerRegistrar registrar = ServiceLoader.load(AiServiceListenerRegistrarFactory.class).stream()
                .filter(factory -> factory.type() != KeepsakeListenerRegistrarFactory.class)
                .findFirst()
                .map(factory -> factory.get().get())
                .orElseGet(DefaultAiServiceListenerRegistrar::new);
        if (!"off".equals(System.getProperty(PROPERTY))) {
            TurnListeners.register(registrar);
        }
        return registrar;
    }
}
