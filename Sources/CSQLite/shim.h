#pragma once
#include <sqlite3.h>

/* Swift can't call C functions with variable arguments, nor spell SQLITE_TRANSIENT without casting an integer to a
   function pointer. These wrappers do nothing else. */

/// sqlite3_db_config for the operations that take an int and give the value in force back. `in_force` may be null.
static inline int causeway_db_config(sqlite3 *db, int operation, int value, int *in_force) {
    return sqlite3_db_config(db, operation, value, in_force);
}

/* A null pointer would bind NULL where an empty text or blob is meant. */

/// The caller keeps the bytes until the parameter is bound again, the bindings are cleared or the statement ends.
static inline int causeway_bind_text_static(sqlite3_stmt *s, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(s, index, bytes ? (const char *)bytes : "", count, SQLITE_STATIC, SQLITE_UTF8);
}

/// SQLite takes a copy.
static inline int causeway_bind_text_copy(sqlite3_stmt *s, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(s, index, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// The caller keeps the bytes until the parameter is bound again, the bindings are cleared or the statement ends.
static inline int causeway_bind_blob_static(sqlite3_stmt *s, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(s, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

/// SQLite takes a copy.
static inline int causeway_bind_blob_copy(sqlite3_stmt *s, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(s, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
