package com.example.league;

import java.sql.ResultSet;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.ExecutionInfo;
import net.ttddyy.dsproxy.QueryInfo;
import net.ttddyy.dsproxy.listener.MethodExecutionContext;
import net.ttddyy.dsproxy.listener.MethodExecutionListener;
import net.ttddyy.dsproxy.listener.QueryExecutionListener;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;

/** Counts the statements that are sent, one of a batch as one, and the rows that are read. */
final class Counter implements QueryExecutionListener, MethodExecutionListener {

    private final AtomicLong statements = new AtomicLong();
    private final AtomicLong rows = new AtomicLong();

    DataSource around(DataSource source) {
        return ProxyDataSourceBuilder.create(source)
                .listener(this)
                .methodListener(this)
                .proxyResultSet()
                .build();
    }

    long statements() {
        return statements.get();
    }

    long rows() {
        return rows.get();
    }

    @Override
    public void beforeQuery(ExecutionInfo execution, java.util.List<QueryInfo> queries) {}

    @Override
    public void afterQuery(ExecutionInfo execution, java.util.List<QueryInfo> queries) {
        statements.addAndGet(execution.isBatch() ? execution.getBatchSize() : queries.size());
    }

    @Override
    public void beforeMethod(MethodExecutionContext method) {}

    @Override
    public void afterMethod(MethodExecutionContext method) {
        if (method.getTarget() instanceof ResultSet
                && method.getMethod().getName().equals("next")
                && Boolean.TRUE.equals(method.getResult())) {
            rows.incrementAndGet();
        }
    }
}
