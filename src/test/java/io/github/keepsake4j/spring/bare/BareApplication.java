package io.github.keepsake4j.spring.bare;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application without beans of its own, in a package of its own, so that no service is found beside it. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class BareApplication {

    /** Separates the arguments of two starts, and their outputs as a line. */
    public static final String NEXT = "--next";

    /** Starts and ends, as often as there are arguments of a start. */
    public static void main(String[] args) {
        List<String> arguments = new ArrayList<>();
        for (String argument : args) {
            if (argument.equals(NEXT)) {
                start(arguments);
                arguments.clear();
                System.out.println(NEXT);
            } else {
                arguments.add(argument);
            }
        }
        start(arguments);
    }

    private static void start(List<String> arguments) {
        try {
            SpringApplication.run(BareApplication.class, arguments.toArray(new String[0]))
                    .close();
        } catch (RuntimeException e) {
            // Spring Boot has printed why, but for what no failure analyzer knows.
            System.out.println(e);
        }
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
