package io.github.keepsake4j.chat.conformance;

/** The faults that are planted, each with the check that must find it. */
enum Fault {
    NONE(""),
    NEWEST_FIRST("order_is_kept"),
    DROPS_AN_UPDATE_THAT_MEETS_ANOTHER("threads_with_an_id_each_read_what_they_wrote"),
    DROPS_ATTRIBUTES("ai_messages_come_back_equal"),
    REPLACES_ROW_BY_ROW("a_failed_update_leaves_the_old_list"),
    IGNORES_THE_CASE_OF_IDS("ids_that_differ_are_different_memories"),
    HANDS_OUT_ITS_OWN_LIST("a_list_of_the_caller_is_not_a_list_of_the_store"),
    CUTS_LONG_TEXTS("a_large_message_is_kept"),
    DELETES_ALL_MEMORIES("delete_empties_this_list_only"),
    KEEPS_EQUAL_MESSAGES_ONCE("equal_messages_are_kept_as_often_as_they_were_said"),
    ANSWERS_BEFORE_IT_WRITES("a_killed_process_leaves_the_list_before_or_after"),
    ANSWERS_FROM_A_CACHE("another_instance_reads_each_update"),
    EVICTS_ONE_BY_ONE("eviction_tears_no_tool_pair"),
    READS_AND_WRITES_WITHOUT_A_LOCK("threads_with_a_memory_each_on_one_id_lose_no_message"),
    ADDS_SYSTEM_MESSAGES("a_new_system_message_replaces_the_old_one");

    final String foundBy;

    Fault(String foundBy) {
        this.foundBy = foundBy;
    }

    boolean isOfMemories() {
        return compareTo(EVICTS_ONE_BY_ONE) >= 0;
    }
}
