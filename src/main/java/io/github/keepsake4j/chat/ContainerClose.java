package io.github.keepsake4j.chat;

/**
 * Tells the end of a container's scope from a caller that wants an empty list. Quarkus clears every memory of an AI service
 * when the service's bean is destroyed: at the end of a request, and when the application stops. Only the stack of the call
 * tells this from its {@code ChatMemoryRemover}, by which a user removes a memory.
 */
final class ContainerClose {

    private static final String CONTEXT = "io.quarkiverse.langchain4j.runtime.aiservice.QuarkusAiServiceContext";

    private static final String METHOD = "close";

    /** The number of callers that are looked at. LangChain4j's memories are between the container and a store. */
    private static final int CALLERS = 16;

    private ContainerClose() {}

    /** Returns whether a container that ends calls the caller of this method. */
    static boolean isCalling() {
        return StackWalker.getInstance().walk(frames -> frames.limit(CALLERS)
                .anyMatch(frame -> frame.getMethodName().equals(METHOD)
                        && frame.getClassName().equals(CONTEXT)));
    }
}
