package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.AskedConversation.Turn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.cjk.CJKAnalyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** The rival of the benchmarks: Lucene's BM25 over turns, with its analyzer of the turns' language. */
final class LuceneBm25 implements AutoCloseable {

    private static final String ID = "id";
    private static final String TEXT = "text";

    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
    private final Analyzer analyzer;
    private final DirectoryReader reader;

    LuceneBm25(List<Turn> turns) throws IOException {
        boolean characters = turns.stream()
                        .flatMapToInt(turn -> turn.text().codePoints())
                        .filter(Character::isIdeographic)
                        .limit(turns.size())
                        .count()
                == turns.size();
        analyzer = characters ? new CJKAnalyzer() : new EnglishAnalyzer();
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(analyzer))) {
            for (Turn turn : turns) {
                Document document = new Document();
                document.add(new StringField(ID, turn.id(), Field.Store.YES));
                document.add(new TextField(TEXT, turn.text(), Field.Store.NO));
                writer.addDocument(document);
            }
        }
        reader = DirectoryReader.open(directory);
    }

    /** Returns the ids of the best turns of some, best first. */
    List<String> best(String question, int most, Set<String> of) throws IOException {
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        try (TokenStream tokens = analyzer.tokenStream(TEXT, question)) {
            CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
            tokens.reset();
            while (tokens.incrementToken()) {
                query.add(new TermQuery(new Term(TEXT, term.toString())), BooleanClause.Occur.SHOULD);
            }
        }
        IndexSearcher searcher = new IndexSearcher(reader);
        List<String> ids = new ArrayList<>();
        for (ScoreDoc hit : searcher.search(query.build(), reader.maxDoc()).scoreDocs) {
            String id = searcher.storedFields().document(hit.doc).get(ID);
            if (ids.size() < most && of.contains(id)) {
                ids.add(id);
            }
        }
        return ids;
    }

    @Override
    public void close() throws IOException {
        reader.close();
        directory.close();
    }
}
