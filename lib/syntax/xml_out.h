/* Text of XML documents. */
#ifndef REEL_SYNTAX_XML_OUT_H
#define REEL_SYNTAX_XML_OUT_H

#include <stdio.h>

/* Text of an element or of an attribute in double quotes. Bytes that are no UTF-8 and characters that XML cannot
 * represent become U+FFFD. */
void xml_put_text(FILE *out, const char *text);

#endif
