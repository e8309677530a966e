package com.example.chat;

import com.example.chat.Mode.Session;

/** The three ends of a process. */
enum End {
    STOP(0) {
        @Override
        void begin(Session session) throws Exception {
            session.stop();
        }
    },
    SIGTERM(143) {
        @Override
        void begin(Session session) {
            session.process.terminate();
        }
    },
    SIGKILL(137) {
        @Override
        void begin(Session session) {
            session.process.kill();
        }
    };

    final int exitCode;

    End(int exitCode) {
        this.exitCode = exitCode;
    }

    abstract void begin(Session session) throws Exception;
}
