package com.example.chat;

import dev.langchain4j.agent.tool.Tool;
import java.time.Clock;
import java.time.Instant;
import org.springframework.stereotype.Component;

/** A tool for the assistant, to show how a memory keeps calls and results. */
@Component
class Tools {

    private static final int READINGS = 40;

    @Tool("Reads the thermometer of a city")
    String temperature(String city) {
        StringBuilder readings = new StringBuilder("Temperature in " + city + " by hour, in °C:");
        Instant now = Clock.systemUTC().instant();
        for (int i = 0; i < READINGS; i++) {
            readings.append(' ').append((now.getEpochSecond() + i * 7) % 25);
        }
        return readings.toString();
    }
}
