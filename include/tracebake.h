/* tracebake as a library: tokenizers, and conversions of traces.
 *
 *     struct tb_tokenizer *tokenizer;
 *     struct tb_codec *codec;
 *     struct tb_error error;
 *     tb_token ids[4096];
 *     size_t count;
 *     if (tb_tokenizer_load("llama/", NULL, &tokenizer, &error) != TB_OK)
 *         ... error.message, error.path, error.line ...
 *     if (tb_codec_new(tokenizer, &codec, &error) == TB_OK &&
 *         tb_codec_encode(codec, text, strlen(text), ids, 4096, &count,
 *                         &error) == TB_OK)
 *         ... ids[0] to ids[count - 1] ...
 *     tb_codec_free(codec);
 *     tb_tokenizer_free(tokenizer);
 *
 * Ids are those of Hugging Face `tokenizers` for the same tokenizer.json and
 * text with add_special_tokens=False, and tiktoken's for its rank files, for
 * every text. What a file asks for and is not built here is refused by name.
 *
 * Threads: a loaded tokenizer is read-only and may be used by any number of
 * them at once; a codec belongs to one thread at a time. Functions of two
 * different codecs, and loads, may run at the same time.
 *
 * Nothing is printed, no signal handler is set, and the process is never
 * ended; who lets a conversion write into a pipe ignores SIGPIPE. Nothing goes
 * to the network unless the caller says so. All texts are UTF-8, and numbers
 * have a point, whatever locale the program has set. Results go into memory of
 * the caller or belong to an object of the library that has a function to free
 * it.
 *
 * Within one major version (and within one minor version as long as the major
 * one is 0) a program runs with every later library: functions stay, structs
 * that a caller fills begin with their size, others are only seen through
 * pointers, and numbers of statuses and flags keep their meaning.
 */
#ifndef TRACEBAKE_H
#define TRACEBAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TB_API __attribute__((visibility("default")))
#define TB_NODISCARD __attribute__((warn_unused_result))
#else
#define TB_API
#define TB_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ----------------------------------------------------------------
 */

/* Of this header. */
#define TB_VERSION_MAJOR 0
#define TB_VERSION_MINOR 1
#define TB_VERSION_PATCH 0

/* Of the library that runs: "0.1.0". */
TB_API const char *tb_version(void);

/* ---- how things fail --------------------------------------------------------
 */

typedef enum tb_status {
    TB_OK = 0,
    TB_ERR_MEMORY = 1,       /* an allocation failed */
    TB_ERR_LIMIT = 2,        /* a stated limit was passed */
    TB_ERR_IO = 3,           /* the system refused to open, read or write */
    TB_ERR_CLOSED = 4,       /* whoever read our output closed the pipe */
    TB_ERR_SYNTAX = 5,       /* the bytes are not what their format says */
    TB_ERR_CUT = 6,          /* the bytes end in the middle of a value */
    TB_ERR_TYPE = 7,         /* well formed, but of the wrong kind */
    TB_ERR_VALUE = 8,        /* of the right kind, but out of range */
    TB_ERR_UNSUPPORTED = 9,  /* known and named, but not built */
    TB_ERR_NOT_FOUND = 10,   /* no such file or tokenizer */
    TB_ERR_USAGE = 11,       /* options that contradict each other */
    TB_ERR_EMPTY = 12,       /* nothing came out; the summary says why */
    TB_ERR_INTERRUPTED = 13, /* the caller asked to stop */
} tb_status;

/* A short constant name such as "syntax"; never NULL. */
TB_API const char *tb_status_name(tb_status status);

/* What a person needs to know about a failure. Plain data, no ownership: copy
 * it as you like. A last parameter `error` may be NULL everywhere; it is
 * filled when a function fails and left alone otherwise. */
struct tb_error {
    tb_status status;
    char path[256];      /* file concerned, or "" */
    uint64_t line;       /* 1 is the first; 0: not known */
    uint64_t offset;     /* bytes from the file's start; with line only */
    char json_path[128]; /* for example $[3].payload.UUID, or "" */
    char message[512];   /* fault first, lower case, no full stop */
};

/* Writes "path:line:offset: $json.path: message" with the parts that are
 * known; always zero-terminated, cut at `size`. */
TB_API void tb_error_format(const struct tb_error *error, char *text,
                            size_t size);

/* ---- tokenizers -------------------------------------------------------------
 */

typedef uint32_t tb_token;

/* Loaded once, read-only from then on, shared by all threads. */
struct tb_tokenizer;

/* What is happening while a tokenizer is fetched. */
struct tb_load_progress {
    const char *repo;     /* "org/name" */
    const char *file;     /* "" while the hub is asked what there is */
    uint64_t bytes_done;  /* of this file */
    uint64_t bytes_total; /* 0: not known */
    bool is_waiting;      /* for another process, or because the hub asked */
};

/* How to load. Zeroed but for `size`: from this machine alone. */
struct tb_load_options {
    size_t size;    /* sizeof(struct tb_load_options) */
    bool may_fetch; /* from the Hugging Face hub, into its cache */
    /* Called several times a second while something is fetched; false stops
     * with TB_ERR_INTERRUPTED. May be NULL. */
    bool (*on_progress)(void *context, const struct tb_load_progress *progress);
    void *context;
};

/* Loads the tokenizer that `name` means, the first that there is of:
 *
 *     "builtin", "o200k_base"     the one that is part of the library
 *     a path                      a tokenizer.json, tekken.json, rank file of
 *                                 tiktoken's or SentencePiece model, or a
 *                                 folder with one
 *     "org/model"                 in the Hugging Face cache, also
 *                                 "org/model@revision"
 *     "cl100k_base" and the like  where tiktoken keeps its files
 *     "org/model"                 on the hub, when `options` allow it
 *
 * `options` may be NULL. TB_ERR_NOT_FOUND with all that was tried,
 * TB_ERR_UNSUPPORTED with the component's name, TB_ERR_SYNTAX and its kin with
 * the place, TB_ERR_IO, TB_ERR_INTERRUPTED, TB_ERR_USAGE (a `size` that is no
 * version's), TB_ERR_MEMORY. On failure *tokenizer is NULL. */
TB_API TB_NODISCARD tb_status
tb_tokenizer_load(const char *name, const struct tb_load_options *options,
                  struct tb_tokenizer **tokenizer, struct tb_error *error);

/* The same with the content of a tokenizer.json, which is not needed
 * afterwards. */
TB_API TB_NODISCARD tb_status
tb_tokenizer_load_json(const char *json, size_t len,
                       struct tb_tokenizer **tokenizer, struct tb_error *error);

/* No codec of it may be left. NULL is accepted. */
TB_API void tb_tokenizer_free(struct tb_tokenizer *tokenizer);

/* Where it came from: a path, "built in", or "" for a content. */
TB_API const char *tb_tokenizer_origin(const struct tb_tokenizer *tokenizer);

/* XXH3-128 of the file it was made from, 32 hex digits. */
TB_API const char *
tb_tokenizer_fingerprint(const struct tb_tokenizer *tokenizer);

/* The largest id + 1, added tokens included. */
TB_API uint32_t tb_tokenizer_vocab_size(const struct tb_tokenizer *tokenizer);

/* ---- texts to ids and back --------------------------------------------------
 */

/* Working memory for both ways, with a cache of words; one per thread. It
 * needs its tokenizer until it is freed. */
struct tb_codec;

/* TB_ERR_MEMORY. On failure *codec is NULL. */
TB_API TB_NODISCARD tb_status tb_codec_new(const struct tb_tokenizer *tokenizer,
                                           struct tb_codec **codec,
                                           struct tb_error *error);

/* NULL is accepted. */
TB_API void tb_codec_free(struct tb_codec *codec);

/* Writes the ids of `text`, `len` bytes of UTF-8, to `ids`, and how many there
 * are to `*count`. When that is more than `capacity`, nothing is written to
 * `ids`, which may be NULL then, and TB_ERR_LIMIT comes back with `*count`
 * set; tb_codec_ids has them. TB_ERR_SYNTAX: not UTF-8, at `error->offset`;
 * TB_ERR_VALUE: a part is unknown and the model has no token for that;
 * TB_ERR_MEMORY. */
TB_API TB_NODISCARD tb_status tb_codec_encode(struct tb_codec *codec,
                                              const char *text, size_t len,
                                              tb_token *ids, size_t capacity,
                                              size_t *count,
                                              struct tb_error *error);

/* The ids of many texts, one after the other: those of text i begin at
 * ids[offsets[i]] and end before ids[offsets[i + 1]], so that `offsets` has
 * room for `text_count` + 1. `*done` is how many texts are in `ids`: all, or
 * those before the one that failed as tb_codec_encode does. After TB_ERR_LIMIT
 * the rest can be encoded where there is more room. */
TB_API TB_NODISCARD tb_status tb_codec_encode_batch(
    struct tb_codec *codec, const char *const *texts, const size_t *lens,
    size_t text_count, tb_token *ids, size_t capacity, size_t *offsets,
    size_t *done, struct tb_error *error);

/* How many ids `text` has. As tb_codec_encode with a capacity that is always
 * enough. */
TB_API TB_NODISCARD tb_status tb_codec_count(struct tb_codec *codec,
                                             const char *text, size_t len,
                                             size_t *count,
                                             struct tb_error *error);

/* The ids of the text that was encoded or counted last; the codec's own, until
 * its next use. */
TB_API const tb_token *tb_codec_ids(const struct tb_codec *codec);

enum {
    TB_DECODE_SKIP_SPECIAL = 1, /* special tokens give nothing */
    TB_DECODE_RAW = 2,          /* bytes that are no UTF-8 stay as they are */
};

/* Writes what `ids` are written as to `text`, without a terminating zero, and
 * its length in bytes to `*len`. When that is more than `capacity`, nothing is
 * written to `text`, which may be NULL then, and TB_ERR_LIMIT comes back with
 * `*len` set; tb_codec_text has it.
 *
 * With `flags` 0 it is what Hugging Face gives for decode(ids,
 * skip_special_tokens=False), and tiktoken for its files: bytes that are no
 * UTF-8 become U+FFFD. Who decodes a stream of ids in pieces wants
 * TB_DECODE_RAW, since a character may be spread over pieces. An id that no
 * token has gives nothing. TB_ERR_UNSUPPORTED: the file names a decoder that is
 * not built; TB_ERR_LIMIT with *len 0: more than 256 MB; TB_ERR_MEMORY. */
TB_API TB_NODISCARD tb_status tb_codec_decode(struct tb_codec *codec,
                                              const tb_token *ids, size_t count,
                                              unsigned flags, char *text,
                                              size_t capacity, size_t *len,
                                              struct tb_error *error);

/* What was decoded last, not zero-terminated; the codec's own, until its next
 * use. */
TB_API const char *tb_codec_text(const struct tb_codec *codec);

/* ---- traces to rows ---------------------------------------------------------
 */

/* How far a conversion is. */
struct tb_conversion_progress {
    const char *path;     /* trace being read */
    uint64_t bytes_done;  /* of all traces, as stored */
    uint64_t bytes_total; /* 0: not known */
    uint64_t row_count;
    double seconds; /* since the start */
};

/* What is to be converted, in the words of the program, so that its manual is
 * this one's and a new option needs no new member:
 *
 *     const char *arguments[] = {"--tokenizer", "builtin", "--for", "aiperf",
 *                                "trace.json"};
 *     struct tb_conversion_options options = {
 *         .size = sizeof(options), .command = "nat",
 *         .arguments = arguments, .argument_count = 5};
 *
 * Options that say what to print (--stats, --quiet) change nothing here;
 * --help and --max-memory, which holds for a process, are refused. */
struct tb_conversion_options {
    size_t size;                  /* sizeof(struct tb_conversion_options) */
    const char *command;          /* "nat" or "telemetry" */
    const char *const *arguments; /* what stands behind it */
    size_t argument_count;
    bool may_fetch; /* the tokenizer, from the Hugging Face hub */
    /* Called now and then on the calling thread; false stops the conversion
     * with TB_ERR_INTERRUPTED and no output. May be NULL. */
    bool (*on_progress)(void *context,
                        const struct tb_conversion_progress *progress);
    /* The same while the tokenizer is fetched. */
    bool (*on_fetch)(void *context, const struct tb_load_progress *progress);
    void *context; /* of both */
};

/* What came of a conversion. */
struct tb_conversion;

/* Converts. Rows are there whole when TB_OK comes back, and else not at all.
 * *conversion tells the figures as far as it came, also on failure, and is to
 * be freed; it is NULL when there was no memory for it. Several conversions
 * may run at once; each has threads of its own (--threads).
 *
 * TB_ERR_USAGE (words that are none, options that contradict each other,
 * output onto an input), TB_ERR_NOT_FOUND (trace, tokenizer), TB_ERR_IO,
 * TB_ERR_EMPTY (no rows), TB_ERR_VALUE (--strict), TB_ERR_INTERRUPTED,
 * TB_ERR_CLOSED, TB_ERR_UNSUPPORTED (a tokenizer's component), TB_ERR_MEMORY.
 */
TB_API TB_NODISCARD tb_status
tb_conversion_run(const struct tb_conversion_options *options,
                  struct tb_conversion **conversion, struct tb_error *error);

/* The figures as JSON, as --stats json prints them; "" when it did not come to
 * that. Lives as long as the conversion. */
TB_API const char *
tb_conversion_summary(const struct tb_conversion *conversion);

/* NULL is accepted. */
TB_API void tb_conversion_free(struct tb_conversion *conversion);

#ifdef __cplusplus
}
#endif

#endif
