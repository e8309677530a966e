package io.github.keepsake4j.spring;

import io.github.keepsake4j.Keepsake;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Makes the memories at the start, so that what is wrong with the configuration is told then and not in the first chat. */
final class EagerStart implements SmartInitializingSingleton {

    private final ObjectProvider<Keepsake> keepsakes;

    EagerStart(ObjectProvider<Keepsake> keepsakes) {
        this.keepsakes = keepsakes;
    }

    @Override
    public void afterSingletonsInstantiated() {
        keepsakes.stream().forEach(keepsake -> {});
    }
}
