package io.github.keepsake4j.workflow.files;

import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.TextContent;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.TransferMethod;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts file references to message contents. A file that cannot be loaded becomes a placeholder that the model sees,
 * and a warning is logged. A missing file never makes the whole history fail. Thread-safe.
 */
public final class FileRebuilder {

    private static final Logger LOG = LoggerFactory.getLogger(FileRebuilder.class);

    private static final String PDF = "application/pdf";
    private static final int MAX_NAME = 100;

    /**
     * The time limit of the look-ups for all remote files of a history together. A look-up that has begun may exceed
     * it.
     */
    private static final Duration REMOTE = Duration.ofSeconds(15);

    private static final Duration LOOKUP = Duration.ofSeconds(5);

    private final FileResolver resolver;
    private final FileContentSource source;
    private final RemoteUrls remote;
    private final LongSupplier nanos;

    /** Creates a rebuilder that checks URLs with the given rules. */
    FileRebuilder(FileResolver resolver, FileContentSource source, RemoteUrls remote, LongSupplier nanos) {
        this.resolver = resolver;
        this.source = source;
        this.remote = remote;
        this.nanos = nanos;
    }

    /**
     * Creates a rebuilder.
     *
     * @param resolver looks up the files
     * @param source loads their contents
     * @param hosts the hosts whose URLs are passed on
     * @return the rebuilder
     */
    public static FileRebuilder of(FileResolver resolver, FileContentSource source, RemoteHosts hosts) {
        RemoteUrls remote = new RemoteUrls(RemoteUrls.within(LOOKUP, InetAddress::getAllByName), hosts);
        return new FileRebuilder(resolver, source, remote, System::nanoTime);
    }

    /**
     * Returns the text that represents a file where only text is possible.
     *
     * @param file the file, or null for a malformed reference
     * @return the text, such as {@code [image]}
     */
    public static String marker(@Nullable FileReference file) {
        return "[" + kind(file) + "]";
    }

    /**
     * Returns a function that converts files to contents. The resolver is called once, now. Each file's content is
     * loaded once, when it is first requested.
     *
     * @param key the memory, for warnings
     * @param tenantId the tenant whose files may be shown
     * @param config the settings for showing files
     * @param files the files with which the function will be called
     * @return the function, for one thread; it returns a placeholder for null, which means a malformed reference
     */
    public Function<@Nullable FileReference, Content> rebuild(
            MemoryKey key, String tenantId, FileUploadConfig config, List<FileReference> files) {
        List<FileReference> wanted = files.stream()
                .filter(file -> file.transferMethod() != TransferMethod.REMOTE_URL)
                .distinct()
                .toList();
        Request request = new Request(key, tenantId, config);
        Map<FileReference, ResolvedFile> found = wanted.isEmpty() ? Map.of() : request.resolve(wanted);
        Map<FileReference, Content> made = new HashMap<>();
        return file -> file == null ? malformed(key) : made.computeIfAbsent(file, f -> request.content(f, found));
    }

    private static Content malformed(MemoryKey key) {
        LOG.warn("Memory {}: a file reference is malformed; a placeholder is shown", key);
        return notAvailable(null);
    }

    /** One request for files. */
    private final class Request {

        private final MemoryKey key;
        private final String tenantId;
        private final FileUploadConfig config;

        /** The time after which remote files are no longer looked up; null before the first one. */
        private @Nullable Long end;

        Request(MemoryKey key, String tenantId, FileUploadConfig config) {
            this.key = key;
            this.tenantId = tenantId;
            this.config = config;
        }

        /**
         * Returns the files that were found, or null if the rows cannot be read. A failure is logged once for all
         * files.
         */
        @Nullable
        Map<FileReference, ResolvedFile> resolve(List<FileReference> files) {
            try {
                return resolver.resolve(tenantId, files);
            } catch (RuntimeException e) {
                LOG.warn(
                        "Memory {}: the rows of {} files cannot be read ({}); placeholders are shown",
                        key,
                        files.size(),
                        e instanceof KeepsakeException ? e.getMessage() : name(e));
                return null;
            }
        }

        Content content(FileReference file, @Nullable Map<FileReference, ResolvedFile> found) {
            try {
                if (file.transferMethod() == TransferMethod.REMOTE_URL) {
                    return inWeb(file, URI.create(file.id()));
                }
                if (found == null) {
                    return notAvailable(file);
                }
                ResolvedFile resolved = found.get(file);
                if (resolved == null) {
                    return missing(file, "it does not exist or belongs to another tenant");
                }
                return isLoaded(file) ? load(resolved) : named(file, resolved.name());
            } catch (RuntimeException e) {
                return missing(file, name(e));
            }
        }

        private Content inWeb(FileReference file, URI url) {
            long now = nanos.getAsLong();
            long until = end == null ? now + REMOTE.toNanos() : end;
            end = until;
            if (now - until >= 0) {
                return missing(file, "the " + REMOTE.toSeconds() + " seconds for remote files are over");
            }
            return remote.isAllowed(url)
                    ? ofUrl(file, null, url)
                    : missing(file, "its URL is refused because its host is not allowed or not in the open web");
        }

        private Content load(ResolvedFile file) {
            if (file.size() > config.maxFileBytes()) {
                return tooLarge(file);
            }
            FileContentSource.FileContent content = source.load(tenantId, file);
            if (content.url != null) {
                return ofUrl(file.reference(), file, content.url);
            }
            byte[] bytes = content.bytes;
            if (bytes.length > config.maxFileBytes()) {
                return tooLarge(file);
            }
            String mime = file.mimeType() == null ? "" : file.mimeType().toLowerCase(Locale.ROOT);
            if (file.reference().type() == FileReference.Type.IMAGE) {
                if (!mime.isEmpty() && !mime.startsWith("image/") && !mime.endsWith("/octet-stream")) {
                    // The content may be an HTML page instead of an image. A provider would refuse it, and every later
                    // call with it.
                    return missing(file.reference(), "its content is not an image");
                }
                String type = mime.startsWith("image/") ? mime : "image/png";
                return ImageContent.from(Base64.getEncoder().encodeToString(bytes), type, config.imageDetail());
            }
            if (isPdf(mime, file.name())) {
                return PdfFileContent.from(Base64.getEncoder().encodeToString(bytes), PDF);
            }
            return isText(mime)
                    ? TextContent.from(new String(bytes, StandardCharsets.UTF_8))
                    : named(file.reference(), file.name());
        }

        private Content tooLarge(ResolvedFile file) {
            return missing(file.reference(), "it exceeds the limit of " + config.maxFileBytes() + " bytes");
        }

        /**
         * Returns the content for a URL. A text behind a URL is not fetched, because models accept only URLs of images
         * and PDF files.
         */
        private Content ofUrl(FileReference file, @Nullable ResolvedFile known, URI url) {
            if (file.type() == FileReference.Type.IMAGE) {
                return ImageContent.from(url, config.imageDetail());
            }
            String mime = known == null || known.mimeType() == null ? "" : known.mimeType();
            String name = known == null ? url.getPath() : known.name();
            return file.type() == FileReference.Type.DOCUMENT && isPdf(mime, name)
                    ? PdfFileContent.from(url)
                    : named(file, known == null ? null : known.name());
        }

        private Content missing(FileReference file, String why) {
            // A remote URL may contain secrets, so it is not logged.
            String id = file.transferMethod() == TransferMethod.REMOTE_URL ? "on the web" : MemoryKey.encode(file.id());
            LOG.warn("Memory {}: {} {} is shown as a placeholder: {}", key, kind(file), id, why);
            return notAvailable(file);
        }
    }

    /** Returns whether a model can be shown the file's content, not only its name. */
    private static boolean isLoaded(FileReference file) {
        return file.type() == FileReference.Type.IMAGE || file.type() == FileReference.Type.DOCUMENT;
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

    /** Returns only the exception's class, because its message may contain text of a user. */
    private static String name(RuntimeException e) {
        return e.getClass().getName();
    }
}
