/**
 * A chat on the module path. Keepsake4j and LangChain4j are automatic modules, which cannot require others: the
 * application requires them, as below, or starts with {@code --add-modules ALL-MODULE-PATH}.
 */
module com.example.modules {
    requires com.fasterxml.jackson.databind;
    requires io.github.keepsake4j;
    requires langchain4j;
    requires langchain4j.core;
    requires org.slf4j;
    requires org.xerial.sqlitejdbc;
}
