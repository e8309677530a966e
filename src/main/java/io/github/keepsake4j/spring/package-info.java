/**
 * Auto-configuration for Spring Boot 3.5, 4.0 and 4.1. Start with the properties. An application sets
 * {@code keepsake4j.*} properties and gets a {@link io.github.keepsake4j.Keepsake}, a {@code ChatMemoryProvider} and a
 * {@code ChatMemoryStore} as beans; its own beans of these types take precedence. Nothing in here is loaded without
 * Spring. Applications use {@link io.github.keepsake4j.spring.KeepsakeCustomizer} and
 * {@link io.github.keepsake4j.spring.KeepsakeDataSource}.
 *
 * <p>The classes compile against Boot 3.5. Classes that Boot 4 moved to other packages are referenced by name, or have
 * one class for each version.
 */
@NullMarked
package io.github.keepsake4j.spring;

import org.jspecify.annotations.NullMarked;
