package io.github.keepsake4j.spring.bare;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application without beans of its own, in a package of its own, so that no service is found beside it. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class BareApplication {

    /** Starts and ends. */
    public static void main(String[] args) {
        SpringApplication.run(BareApplication.class, args).close();
    }

    /** Chats on files, in a class loader that lacks what is optional, and returns the backend. */
    public static String chat(String directory) {
        SpringApplication application = new SpringApplication(BareApplication.class);
        application.setRegisterShutdownHook(false);
        try (ConfigurableApplicationContext context = application.run(
                "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none",
                "--spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration,"
                        + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "--keepsake4j.file.directory=" + directory)) {
            context.getBean(Keepsake.class).chatMemory("alice").add(UserMessage.from("hello"));
            return context.getBean(MessageLog.class).backend();
        }
    }
}
