package com.example.chat;

import dev.langchain4j.agent.tool.Tool;
import jakarta.enterprise.context.ApplicationScoped;

/** A tool, to show that a memory keeps calls and results. */
@ApplicationScoped
public class Thermometer {

    @Tool("Reads the thermometer of a city")
    String temperature(String city) {
        return "21 °C in " + city;
    }
}
