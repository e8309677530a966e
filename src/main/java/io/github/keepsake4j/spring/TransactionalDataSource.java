package io.github.keepsake4j.spring;

import io.github.keepsake4j.message.StorageUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Provides connections of the pool that the application's transactions use too. A log takes a connection of its own for
 * each call, so a thread in a transaction needs two. If all threads are in transactions and the pool is empty, they
 * wait for each other until the pool's timeout. The error then names the reason and the remedy.
 */
final class TransactionalDataSource extends DelegatingDataSource {

    private static final Logger LOG = LoggerFactory.getLogger(TransactionalDataSource.class);

    private static final String WHAT_TO_DO =
            "Call the model outside of @Transactional methods, or give the memories a pool of their own: a second DataSource"
                    + " bean with @KeepsakeDataSource";

    private final AtomicBoolean warned = new AtomicBoolean();

    private TransactionalDataSource(DataSource target) {
        super(target);
    }

    static DataSource around(DataSource source) {
        DataSource plain = source;
        // It would return the transaction's own connection.
        while (plain instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
            plain = proxy.getTargetDataSource();
        }
        return new TransactionalDataSource(plain);
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (!holdsConnection()) {
            return super.getConnection();
        }
        if (warned.compareAndSet(false, true)) {
            LOG.warn(
                    "A memory is used within a transaction, so its thread holds two connections of one pool at once. {}",
                    WHAT_TO_DO);
        }
        try {
            return super.getConnection();
        } catch (SQLException e) {
            throw new StorageUnavailableException(
                    "The pool gave no connection to a memory. The thread is in a transaction, which holds another connection of"
                            + " the same pool. " + WHAT_TO_DO,
                    e);
        }
    }

    private boolean holdsConnection() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.hasResource(obtainTargetDataSource());
    }
}
