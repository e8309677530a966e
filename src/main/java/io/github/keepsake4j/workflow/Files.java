package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.TransferMethod;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts file references to message contents. A file that cannot be loaded becomes a placeholder that the model sees,
 * and a warning is logged. A missing file never makes the whole history fail.
 *
 * @param resolver looks up the files
 * @param source loads their content
 * @param remote decides which URLs may be passed on
 * @param fetcher fetches files from the web, or null to pass their URLs on
 */
record Files(FileResolver resolver, FileContentSource source, RemoteUrls remote, @Nullable RemoteFetcher fetcher) {

    private static final Logger LOG = LoggerFactory.getLogger(Files.class);

    private static final String PDF = "application/pdf";
    private static final int MAX_NAME = 100;

    /** Returns the reference that an entry of a message's attribute holds, or null if the entry is malformed. */
    static @Nullable FileReference reference(Map<?, ?> entry) {
        try {
            return FileReference.fromMap(entry);
        } catch (InvalidInputException e) {
            return null;
        }
    }

    /** Returns the text that represents a file where only text is possible. */
    static String marker(@Nullable FileReference file) {
        return "[" + kind(file) + "]";
    }

    /**
     * Returns a function that converts files to contents. The resolver is called once, now. Each file's content is
     * loaded once, when it is first requested.
     */
    Function<FileReference, Content> rebuild(
            MemoryKey key, String tenantId, FileUploadConfig config, List<FileReference> files) {
        Set<FileReference> wanted = new LinkedHashSet<>();
        for (FileReference file : files) {
            if (file.transferMethod() != TransferMethod.REMOTE_URL) {
                wanted.add(file);
            }
        }
        Map<FileReference, ResolvedFile> resolved =
                wanted.isEmpty() ? Map.of() : resolve(key, tenantId, List.copyOf(wanted));
        Map<FileReference, Content> made = new HashMap<>();
        return file -> made.computeIfAbsent(file, f -> content(key, tenantId, config, f, resolved.get(f)));
    }

    /** Returns the message that a node sends to the model, with the run's files first. */
    UserMessage show(NodeRun run, UserMessage asked) {
        if (run.files().isEmpty()) {
            return asked;
        }
        MemoryKey key = run.conversationId() == null || run.conversationId().isEmpty()
                ? NodeKey.of(run.tenantId(), run.appId(), "none", run.nodeId())
                : NodeKey.of(run.tenantId(), run.appId(), run.conversationId(), run.nodeId());
        Function<FileReference, Content> contents = rebuild(key, run.tenantId(), run.fileUploadConfig(), run.files());
        return PromptHistory.withContents(
                asked, run.files().stream().map(contents).toList());
    }

    /** Returns the placeholder for a malformed reference. */
    static Content malformed(MemoryKey key) {
        LOG.warn("Memory {}: a file reference is malformed; a placeholder is shown", key);
        return notAvailable(null);
    }

    private Map<FileReference, ResolvedFile> resolve(MemoryKey key, String tenantId, List<FileReference> files) {
        try {
            return resolver.resolve(tenantId, files);
        } catch (RuntimeException e) {
            LOG.warn(
                    "Memory {}: the rows of {} files cannot be read ({}); placeholders are shown",
                    key,
                    files.size(),
                    name(e));
            return Map.of();
        }
    }

    private Content content(
            MemoryKey key,
            String tenantId,
            FileUploadConfig config,
            FileReference file,
            @Nullable ResolvedFile resolved) {
        try {
            if (file.transferMethod() == TransferMethod.REMOTE_URL) {
                return inWeb(key, config, file, URI.create(file.id()));
            }
            if (resolved == null) {
                return missing(key, file, "it does not exist or belongs to another tenant");
            }
            return switch (file.type()) {
                case IMAGE, DOCUMENT -> load(key, tenantId, config, resolved);
                case AUDIO, VIDEO, CUSTOM -> named(file, resolved.name());
            };
        } catch (RuntimeException e) {
            return missing(key, file, name(e));
        }
    }

    private Content inWeb(MemoryKey key, FileUploadConfig config, FileReference file, URI url) {
        if (!remote.isOutside(url)) {
            return missing(key, file, "its URL is refused because it does not point to the open web");
        }
        boolean loads = file.type() == FileReference.Type.IMAGE || file.type() == FileReference.Type.DOCUMENT;
        if (fetcher == null || !loads) {
            return ofUrl(config, file, null, url);
        }
        return fetcher.fetch(url, config.maxFileBytes())
                .map(found -> ofBytes(key, config, file, url.getPath(), found.mimeType(), found.bytes()))
                .orElseGet(() -> missing(key, file, "its URL is refused or redirects to a URL that is refused"));
    }

    private Content load(MemoryKey key, String tenantId, FileUploadConfig config, ResolvedFile file) {
        if (file.size() > config.maxFileBytes()) {
            return missing(key, file.reference(), "it exceeds the limit of " + config.maxFileBytes() + " bytes");
        }
        FileContent content = source.load(tenantId, file);
        if (content instanceof FileContent.Url url) {
            return ofUrl(config, file.reference(), file, url.url());
        }
        byte[] bytes = ((FileContent.Bytes) content).bytes();
        if (bytes.length > config.maxFileBytes()) {
            return missing(key, file.reference(), "it exceeds the limit of " + config.maxFileBytes() + " bytes");
        }
        String mime = file.mimeType() == null ? "" : file.mimeType().toLowerCase(Locale.ROOT);
        return ofBytes(key, config, file.reference(), file.name(), mime, bytes);
    }

    private static Content ofBytes(
            MemoryKey key,
            FileUploadConfig config,
            FileReference file,
            @Nullable String name,
            String mime,
            byte[] bytes) {
        if (file.type() == FileReference.Type.IMAGE) {
            if (!mime.isEmpty() && !mime.startsWith("image/") && !mime.endsWith("/octet-stream")) {
                // The content may be an HTML page instead of an image. A provider would refuse it, and every later call
                // with it.
                return missing(key, file, "its content is not an image");
            }
            String type = mime.startsWith("image/") ? mime : "image/png";
            return ImageContent.from(Base64.getEncoder().encodeToString(bytes), type, config.imageDetail());
        }
        if (isPdf(mime, name)) {
            return PdfFileContent.from(Base64.getEncoder().encodeToString(bytes), PDF);
        }
        return isText(mime)
                ? TextContent.from(new String(bytes, StandardCharsets.UTF_8))
                : named(file, file.transferMethod() == TransferMethod.REMOTE_URL ? null : name);
    }

    /**
     * Returns the content for a URL. A text behind a URL is not fetched, because models accept only URLs of images and
     * PDF files.
     */
    private static Content ofUrl(FileUploadConfig config, FileReference file, @Nullable ResolvedFile known, URI url) {
        if (file.type() == FileReference.Type.IMAGE) {
            return ImageContent.from(url, config.imageDetail());
        }
        String mime = known == null || known.mimeType() == null ? "" : known.mimeType();
        String name = known == null ? url.getPath() : known.name();
        return file.type() == FileReference.Type.DOCUMENT && isPdf(mime, name)
                ? PdfFileContent.from(url)
                : named(file, known == null ? null : known.name());
    }

    private static boolean isPdf(String mime, @Nullable String name) {
        return mime.startsWith(PDF)
                || (mime.isEmpty()
                        && name != null
                        && name.toLowerCase(Locale.ROOT).endsWith(".pdf"));
    }

    private static boolean isText(String mime) {
        return mime.startsWith("text/") || mime.startsWith("application/json") || mime.startsWith("application/xml");
    }

    private static Content missing(MemoryKey key, FileReference file, String why) {
        // A remote URL may contain secrets, so it is not logged.
        String id = file.transferMethod() == TransferMethod.REMOTE_URL ? "on the web" : MemoryKey.encode(file.id());
        LOG.warn("Memory {}: {} {} is shown as a placeholder: {}", key, kind(file), id, why);
        return notAvailable(file);
    }

    private static Content notAvailable(@Nullable FileReference file) {
        return TextContent.from("[" + kind(file) + ": not available]");
    }

    private static Content named(FileReference file, @Nullable String name) {
        if (name == null || name.isBlank()) {
            return TextContent.from(marker(file));
        }
        String line = name.replaceAll("[\\p{Cntrl}\\[\\]\\u2028\\u2029]", " ").strip();
        int end = Math.min(line.length(), MAX_NAME);
        if (end < line.length() && Character.isHighSurrogate(line.charAt(end - 1))) {
            end--;
        }
        return TextContent.from("[" + kind(file) + ": " + line.substring(0, end) + "]");
    }

    private static String kind(@Nullable FileReference file) {
        return file == null || file.type() == FileReference.Type.CUSTOM
                ? "file"
                : file.type().name().toLowerCase(Locale.ROOT);
    }

    /** Returns only the exception's class, because its text may contain what a user wrote. */
    private static String name(RuntimeException e) {
        return e.getClass().getName();
    }
}
