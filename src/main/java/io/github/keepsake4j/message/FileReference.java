package io.github.keepsake4j.message;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file that belongs to a message: not its bytes, but where they are. A message carries its references as the attribute
 * {@value #ATTRIBUTE}, a list of maps with the names that {@link #toMap()} gives, so that every log keeps them.
 *
 * @param type what kind of file it is
 * @param transferMethod which of the three ids below says where it is
 * @param uploadFileId the id of an uploaded file; required for {@link TransferMethod#LOCAL_FILE}
 * @param toolFileId the id of a file that a tool made; required for {@link TransferMethod#TOOL_FILE}
 * @param url an absolute http or https URL; required for {@link TransferMethod#REMOTE_URL}
 * @param belongsTo whose file it is; null counts as the user's
 */
public record FileReference(
        Type type,
        TransferMethod transferMethod,
        @Nullable String uploadFileId,
        @Nullable String toolFileId,
        @Nullable String url,
        @Nullable Owner belongsTo) {

    /** The attribute of a message that holds its references. */
    public static final String ATTRIBUTE = "files";

    private static final String TYPE = "type";
    private static final String TRANSFER_METHOD = "transfer_method";
    private static final String UPLOAD_FILE_ID = "upload_file_id";
    private static final String TOOL_FILE_ID = "tool_file_id";
    private static final String URL = "url";
    private static final String BELONGS_TO = "belongs_to";

    /** Kinds of files. In JSON their names are in lower case. */
    public enum Type {
        /** A picture. */
        IMAGE,
        /** A sound. */
        AUDIO,
        /** A film. */
        VIDEO,
        /** A text, a PDF, an office document. */
        DOCUMENT,
        /** Anything else. */
        CUSTOM
    }

    /** How a file is found. In JSON their names are in lower case. */
    public enum TransferMethod {
        /** Somebody uploaded it. */
        LOCAL_FILE,
        /** A tool made it. */
        TOOL_FILE,
        /** It is somewhere in the web. */
        REMOTE_URL
    }

    /** Whose file it is. In JSON their names are in lower case. */
    public enum Owner {
        /** The user sent it. */
        USER,
        /** The assistant made it. */
        ASSISTANT
    }

    /** Checks that what the transfer method needs is there. */
    public FileReference {
        required(TYPE, type);
        required(TRANSFER_METHOD, transferMethod);
        switch (transferMethod) {
            case LOCAL_FILE -> checkId(UPLOAD_FILE_ID, uploadFileId);
            case TOOL_FILE -> checkId(TOOL_FILE_ID, toolFileId);
            case REMOTE_URL -> checkUrl(url);
        }
        belongsTo = belongsTo == null ? Owner.USER : belongsTo;
    }

    /**
     * Refers to an uploaded file of the user's.
     *
     * @param type what kind of file it is
     * @param uploadFileId its id
     * @return the reference
     * @throws InvalidInputException if the id is missing or malformed
     */
    public static FileReference localFile(Type type, String uploadFileId) {
        return new FileReference(type, TransferMethod.LOCAL_FILE, uploadFileId, null, null, Owner.USER);
    }

    /**
     * Refers to a file that a tool made.
     *
     * @param type what kind of file it is
     * @param toolFileId its id
     * @return the reference, which counts as the user's until {@link #belongingTo} says otherwise
     * @throws InvalidInputException if the id is missing or malformed
     */
    public static FileReference toolFile(Type type, String toolFileId) {
        return new FileReference(type, TransferMethod.TOOL_FILE, null, toolFileId, null, Owner.USER);
    }

    /**
     * Refers to a file in the web.
     *
     * @param type what kind of file it is
     * @param url an absolute http or https URL
     * @return the reference, which counts as the user's until {@link #belongingTo} says otherwise
     * @throws InvalidInputException if the URL is missing or malformed
     */
    public static FileReference remoteUrl(Type type, String url) {
        return new FileReference(type, TransferMethod.REMOTE_URL, null, null, url, Owner.USER);
    }

    /**
     * Says whose file it is.
     *
     * @param owner whose
     * @return a copy
     */
    public FileReference belongingTo(Owner owner) {
        return new FileReference(type, transferMethod, uploadFileId, toolFileId, url, owner);
    }

    /**
     * Returns the file's id, or its URL if it is in the web.
     *
     * @return what the transfer method needs
     */
    public String id() {
        String id =
                switch (transferMethod) {
                    case LOCAL_FILE -> uploadFileId;
                    case TOOL_FILE -> toolFileId;
                    case REMOTE_URL -> url;
                };
        return required("id", id);
    }

    /**
     * Returns the reference as plain JSON values, as a message's attribute and the node document hold it.
     *
     * @return a new map; what is null is left out
     */
    public Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(TYPE, lower(type));
        map.put(TRANSFER_METHOD, lower(transferMethod));
        putIfThere(map, UPLOAD_FILE_ID, uploadFileId);
        putIfThere(map, TOOL_FILE_ID, toolFileId);
        putIfThere(map, URL, url);
        map.put(BELONGS_TO, lower(belongsTo == null ? Owner.USER : belongsTo));
        return map;
    }

    /**
     * Reads a reference from plain JSON values; names that it does not know are ignored.
     *
     * @param map the values by name
     * @return the reference
     * @throws InvalidInputException if a value is missing or malformed; the error names it
     */
    public static FileReference fromMap(Map<?, ?> map) {
        String owner = text(map, BELONGS_TO);
        return new FileReference(
                named(Type.class, TYPE, text(map, TYPE)),
                named(TransferMethod.class, TRANSFER_METHOD, text(map, TRANSFER_METHOD)),
                text(map, UPLOAD_FILE_ID),
                text(map, TOOL_FILE_ID),
                text(map, URL),
                owner == null ? null : named(Owner.class, BELONGS_TO, owner));
    }

    /**
     * Puts references on a user message, in place of those that it has.
     *
     * @param message the message
     * @param files the references; the message stays as it is if there are none
     * @return a copy with the attribute {@value #ATTRIBUTE}
     */
    public static UserMessage attach(UserMessage message, List<FileReference> files) {
        return files.isEmpty()
                ? message
                : message.toBuilder()
                        .attributes(with(message.attributes(), files))
                        .build();
    }

    /**
     * Puts references on an assistant message, in place of those that it has.
     *
     * @param message the message
     * @param files the references; the message stays as it is if there are none
     * @return a copy with the attribute {@value #ATTRIBUTE}
     */
    public static AiMessage attach(AiMessage message, List<FileReference> files) {
        return files.isEmpty()
                ? message
                : message.toBuilder()
                        .attributes(with(message.attributes(), files))
                        .build();
    }

    /**
     * Returns what a message's attribute {@value #ATTRIBUTE} holds, unread: an entry may be malformed.
     *
     * @param message any message
     * @return the entries, each to be read with {@link #fromMap}; empty if there is no such list of maps
     */
    public static List<Map<?, ?>> entries(ChatMessage message) {
        Object value = null;
        if (message instanceof UserMessage user) {
            value = user.attributes().get(ATTRIBUTE);
        } else if (message instanceof AiMessage ai) {
            value = ai.attributes().get(ATTRIBUTE);
        }
        List<Map<?, ?>> entries = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (Object entry : list) {
                entries.add(entry instanceof Map<?, ?> map ? map : Map.of());
            }
        }
        return entries;
    }

    private static Map<String, Object> with(Map<String, Object> attributes, List<FileReference> files) {
        Map<String, Object> all = new HashMap<>(attributes);
        all.put(ATTRIBUTE, files.stream().map(FileReference::toMap).toList());
        return all;
    }

    private static <T> T required(String field, @Nullable T value) {
        if (value == null) {
            throw new InvalidInputException(field, "is missing");
        }
        return value;
    }

    private static void checkId(String field, @Nullable String id) {
        if (Ids.check(field, required(field, id)).isBlank()) {
            throw new InvalidInputException(field, "must not be blank");
        }
    }

    private static void checkUrl(@Nullable String url) {
        try {
            URI uri = new URI(required(URL, url));
            String scheme = uri.getScheme();
            if (uri.getHost() == null || !("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))) {
                throw new InvalidInputException(URL, "must be an absolute http or https URL");
            }
        } catch (URISyntaxException e) {
            throw new InvalidInputException(URL, "is no URL (at character " + e.getIndex() + ")");
        }
    }

    private static @Nullable String text(Map<?, ?> map, String field) {
        Object value = map.get(field);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw new InvalidInputException(field, "must be a text");
    }

    private static <E extends Enum<E>> E named(Class<E> type, String field, @Nullable String name) {
        String given = required(field, name);
        for (E constant : type.getEnumConstants()) {
            if (lower(constant).equals(given)) {
                return constant;
            }
        }
        throw new InvalidInputException(field, "is none of those that are known");
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static void putIfThere(Map<String, Object> map, String name, @Nullable String value) {
        if (value != null) {
            map.put(name, value);
        }
    }
}
