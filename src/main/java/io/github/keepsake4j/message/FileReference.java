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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A reference to a file that belongs to a message. It names the place of the file's bytes and does not contain the
 * bytes themselves. A message carries its references in the attribute {@value #ATTRIBUTE}, as a list of maps in the
 * form of {@link #toMap()}, so that every log stores them.
 *
 * @param type the kind of file
 * @param transferMethod which of the next three components locates the file
 * @param uploadFileId the id of an uploaded file; required for {@link TransferMethod#LOCAL_FILE}
 * @param toolFileId the id of a file that a tool made; required for {@link TransferMethod#TOOL_FILE}
 * @param url an absolute http or https URL; required for {@link TransferMethod#REMOTE_URL}
 * @param belongsTo the owner of the file; null means the user
 */
public record FileReference(
        Type type,
        TransferMethod transferMethod,
        @Nullable String uploadFileId,
        @Nullable String toolFileId,
        @Nullable String url,
        @Nullable Owner belongsTo) {

    /** The name of the message attribute that holds the references. */
    public static final String ATTRIBUTE = "files";

    private static final String TYPE = "type";
    private static final String TRANSFER_METHOD = "transfer_method";
    private static final String UPLOAD_FILE_ID = "upload_file_id";
    private static final String TOOL_FILE_ID = "tool_file_id";
    private static final String URL = "url";
    private static final String BELONGS_TO = "belongs_to";

    /** The kinds of files. JSON uses the constants' names in lower case. */
    public enum Type {
        /** An image. */
        IMAGE,
        /** An audio file. */
        AUDIO,
        /** A video. */
        VIDEO,
        /** A document, such as a text, a PDF or an office document. */
        DOCUMENT,
        /** Any other kind of file. */
        CUSTOM
    }

    /** The ways to locate a file. JSON uses the constants' names in lower case. */
    public enum TransferMethod {
        /** The file was uploaded and is located by its upload id. */
        LOCAL_FILE,
        /** A tool made the file; it is located by its tool file id. */
        TOOL_FILE,
        /** The file is on the web and is located by its URL. */
        REMOTE_URL
    }

    /** The owners of a file. JSON uses the constants' names in lower case. */
    public enum Owner {
        /** The user, who sent the file. */
        USER,
        /** The assistant, which made the file. */
        ASSISTANT
    }

    /** Checks that the id or URL that the transfer method requires is present and valid. */
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
     * Creates a reference to an uploaded file that belongs to the user.
     *
     * @param type the kind of file
     * @param uploadFileId the file's id
     * @return the reference
     * @throws InvalidInputException if the id is missing or malformed
     */
    public static FileReference localFile(Type type, String uploadFileId) {
        return new FileReference(type, TransferMethod.LOCAL_FILE, uploadFileId, null, null, null);
    }

    /**
     * Creates a reference to a file that a tool created.
     *
     * @param type the kind of file
     * @param toolFileId the file's id
     * @return the reference; it belongs to the user until {@link #belongingTo} changes that
     * @throws InvalidInputException if the id is missing or malformed
     */
    public static FileReference toolFile(Type type, String toolFileId) {
        return new FileReference(type, TransferMethod.TOOL_FILE, null, toolFileId, null, null);
    }

    /**
     * Creates a reference to a file on the web.
     *
     * @param type the kind of file
     * @param url an absolute http or https URL
     * @return the reference; it belongs to the user until {@link #belongingTo} changes that
     * @throws InvalidInputException if the URL is missing or malformed
     */
    public static FileReference remoteUrl(Type type, String url) {
        return new FileReference(type, TransferMethod.REMOTE_URL, null, null, url, null);
    }

    /**
     * Returns a copy of this reference with the given owner.
     *
     * @param owner the owner of the file
     * @return the copy
     */
    public FileReference belongingTo(Owner owner) {
        return new FileReference(type, transferMethod, uploadFileId, toolFileId, url, owner);
    }

    /**
     * Returns the file's id, or its URL for {@link TransferMethod#REMOTE_URL}.
     *
     * @return the id or URL that the transfer method uses
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
     * Returns this reference as plain JSON values, the form in which a message's attribute and the node document hold
     * it.
     *
     * @return a new map without entries for null values
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
     * Reads a reference from plain JSON values. Unknown names are ignored.
     *
     * @param map the values by name
     * @return the reference
     * @throws InvalidInputException if a value is missing or malformed; the error names the value
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
     * Attaches references to a user message and replaces the references that it has.
     *
     * @param message the message
     * @param files the references; if there are none, the message is returned unchanged
     * @return a copy of the message with the attribute {@value #ATTRIBUTE}
     */
    public static UserMessage attach(UserMessage message, List<FileReference> files) {
        return files.isEmpty()
                ? message
                : message.toBuilder()
                        .attributes(with(message.attributes(), files))
                        .build();
    }

    /**
     * Attaches references to an assistant message and replaces the references that it has.
     *
     * @param message the message
     * @param files the references; if there are none, the message is returned unchanged
     * @return a copy of the message with the attribute {@value #ATTRIBUTE}
     */
    public static AiMessage attach(AiMessage message, List<FileReference> files) {
        return files.isEmpty()
                ? message
                : message.toBuilder()
                        .attributes(with(message.attributes(), files))
                        .build();
    }

    /**
     * Returns the entries of a message's attribute {@value #ATTRIBUTE} without parsing them. An entry may be malformed.
     *
     * @param message any message
     * @return the entries, each to be parsed with {@link #fromMap}; empty if the attribute is not a list
     */
    public static List<Map<?, ?>> entries(ChatMessage message) {
        Map<String, Object> attributes = message instanceof UserMessage user
                ? user.attributes()
                : message instanceof AiMessage ai ? ai.attributes() : Map.of();
        List<Map<?, ?>> entries = new ArrayList<>();
        if (attributes.get(ATTRIBUTE) instanceof List<?> list) {
            list.forEach(entry -> entries.add(entry instanceof Map<?, ?> map ? map : Map.of()));
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
            throw new InvalidInputException(URL, "is not a URL (error at character " + e.getIndex() + ")");
        }
    }

    private static @Nullable String text(Map<?, ?> map, String field) {
        Object value = map.get(field);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw new InvalidInputException(field, "must be a string");
    }

    private static <E extends Enum<E>> E named(Class<E> type, String field, @Nullable String name) {
        String given = required(field, name);
        return Stream.of(type.getEnumConstants())
                .filter(constant -> lower(constant).equals(given))
                .findFirst()
                .orElseThrow(() -> new InvalidInputException(
                        field, "is not a known value; use a constant of the enums of FileReference in lower case"));
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
