package com.example.league;

import java.io.File;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The class path of this program, which Maven runs with a class loader of its own. */
final class ClassPath {

    private ClassPath() {}

    static String text() throws URISyntaxException {
        if (!(ClassPath.class.getClassLoader() instanceof URLClassLoader loader)) {
            return System.getProperty("java.class.path");
        }
        List<String> entries = new ArrayList<>();
        for (URL each : loader.getURLs()) {
            entries.add(Path.of(each.toURI()).toString());
        }
        return String.join(File.pathSeparator, entries);
    }
}
