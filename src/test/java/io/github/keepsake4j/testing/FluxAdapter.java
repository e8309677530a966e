package io.github.keepsake4j.testing;

import dev.langchain4j.service.TokenStream;
import dev.langchain4j.spi.services.TokenStreamAdapter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/** Lets AI services return a flux of tokens: it starts at once and keeps what its subscriber has not asked for. */
public class FluxAdapter implements TokenStreamAdapter {

    @Override
    public boolean canAdaptTokenStreamTo(Type type) {
        return type instanceof ParameterizedType parameterized
                && parameterized.getRawType() == Flux.class
                && parameterized.getActualTypeArguments()[0] == String.class;
    }

    @Override
    public Object adapt(TokenStream stream) {
        Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();
        stream.onPartialResponse(sink::tryEmitNext)
                .onCompleteResponse(response -> sink.tryEmitComplete())
                .onError(sink::tryEmitError)
                .start();
        return sink.asFlux();
    }
}
