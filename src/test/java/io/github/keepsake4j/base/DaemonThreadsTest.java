package io.github.keepsake4j.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A library that outlives an application holds nothing of it. */
class DaemonThreadsTest {

    /** The class loader of an application, which loads its own class and shares the library. */
    private static final class Application extends ClassLoader {

        Application() {
            super(DaemonThreadsTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(DeployedApplication.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known == null ? load(name) : known;
        }

        private Class<?> load(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length, new ProtectionDomain(null, null, this, null));
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void the_class_loader_of_the_first_application_is_freed_while_a_second_one_works() throws Exception {
        // SQLite's driver starts a process when it is loaded, and the JDK's thread for it stays for a minute.
        Class.forName("org.sqlite.SQLiteJDBCLoader").getMethod("initialize").invoke(null);
        WeakReference<ClassLoader> first = run(new Application());
        ClassLoader second = new Application();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            run(second);
            System.gc();
            return first.get() == null;
        });
    }

    @Test
    void a_thread_is_not_of_the_callers_group_which_may_wait_for_its_threads() throws Exception {
        ThreadGroup[] made = new ThreadGroup[1];
        Thread caller = new Thread(
                new ThreadGroup("of an application"),
                () -> made[0] = DaemonThreads.named("test").newThread(() -> {}).getThreadGroup());
        caller.start();
        caller.join();
        assertThat(made[0].getParent()).as("the root has none").isNull();
    }

    /** Returns a reference to the loader after its application has taken turns, as if it was stopped. */
    private static WeakReference<ClassLoader> run(ClassLoader loader) throws Exception {
        Throwable[] failure = {null};
        Thread application = new Thread(() -> {
            try {
                Callable<?> deployed = (Callable<?>) loader.loadClass(DeployedApplication.class.getName())
                        .getDeclaredConstructor()
                        .newInstance();
                assertThat(deployed.getClass().getClassLoader()).isSameAs(loader);
                assertThat(deployed.call()).isEqualTo("all work has the class loader of its application");
            } catch (Throwable e) {
                failure[0] = e;
            }
        });
        application.setContextClassLoader(loader);
        application.start();
        application.join();
        assertThat(failure[0]).isNull();
        return new WeakReference<>(loader);
    }
}
