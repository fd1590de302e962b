/* The XML of S3's answers, flattened. */
#ifndef SERVER_STORE_S3_XML_H
#define SERVER_STORE_S3_XML_H

#include <stdbool.h>
#include <stddef.h>

/* Calls text() at the end of each element, with its path below the root ("Contents/Key") and the text in it, "" when it
 * has elements. Elements deeper than S3_XML_DEPTH or texts longer than S3_XML_TEXT bytes are errors, as is what is no
 * XML: false. */
enum { S3_XML_DEPTH = 6, S3_XML_TEXT = 8192 };
bool s3_xml(const char *data, size_t size, void (*text)(void *context, const char *path, const char *text),
            void *context);

#endif
