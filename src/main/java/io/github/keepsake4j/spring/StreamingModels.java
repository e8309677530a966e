package io.github.keepsake4j.spring;

import dev.langchain4j.model.chat.ChatRequestOptions;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import io.github.keepsake4j.Keepsake;
import java.lang.reflect.Modifier;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.NativeDetector;

/**
 * Puts a streaming model behind a proxy, as Spring does for its own aspects, so that interrupted answers are kept.
 * LangChain4j's starter has no other place for this.
 */
final class StreamingModels {

    private StreamingModels() {}

    /**
     * Returns a proxy of the model's own class, or of its interfaces if it was declared as one of them, or if its class
     * cannot be extended.
     */
    static Object remembering(
            StreamingChatModel model, @Nullable Class<?> declared, Supplier<@Nullable Keepsake> keepsake) {
        ProxyFactory factory = new ProxyFactory(model);
        Class<?> type = model.getClass();
        boolean isExtensible =
                !Modifier.isFinal(type.getModifiers()) && !type.isHidden() && !NativeDetector.inNativeImage();
        factory.setProxyTargetClass(isExtensible && (declared == null || !declared.isInterface()));
        factory.addAdvice((MethodInterceptor) call -> advise(call, keepsake.get()));
        return factory.getProxy(type.getClassLoader());
    }

    /** Returns the type that the bean's definition declares, or null if it is not known. */
    static @Nullable Class<?> declaredType(BeanFactory beans, String name) {
        return beans instanceof ConfigurableBeanFactory factory && factory.containsBean(name)
                ? factory.getMergedBeanDefinition(name).getResolvableType().resolve()
                : null;
    }

    private static @Nullable Object advise(MethodInvocation call, @Nullable Keepsake keepsake) throws Throwable {
        Object[] arguments = call.getArguments();
        boolean isChat = call.getMethod().getName().equals("chat")
                && arguments.length >= 2
                && arguments[0] instanceof ChatRequest
                && arguments[arguments.length - 1] instanceof StreamingChatResponseHandler;
        if (keepsake == null || !isChat || !(call.getThis() instanceof StreamingChatModel model)) {
            return call.proceed();
        }
        StreamingChatModel remembering = keepsake.remembering(model);
        ChatRequest request = (ChatRequest) arguments[0];
        StreamingChatResponseHandler handler = (StreamingChatResponseHandler) arguments[arguments.length - 1];
        if (arguments.length == 2) {
            remembering.chat(request, handler);
        } else {
            remembering.chat(request, (ChatRequestOptions) arguments[1], handler);
        }
        return null;
    }
}
