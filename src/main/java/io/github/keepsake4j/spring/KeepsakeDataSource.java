package io.github.keepsake4j.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} bean that keeps the memories. Use it if the application has several, or if its
 * transactions must not compete with the memories for connections. Declare such a bean with {@code defaultCandidate =
 * false}, so that Spring Boot still creates the application's own data source.
 *
 * <pre>
 * &#64;Bean(defaultCandidate = false)
 * &#64;KeepsakeDataSource
 * DataSource memories(DataSourceProperties properties) {
 *     return properties.initializeDataSourceBuilder().build();
 * }
 * </pre>
 */
@Documented
@Qualifier
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface KeepsakeDataSource {}
