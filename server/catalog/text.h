/* Text as it is searched: words in lower case without accents, two blanks around each, "  run  042  bag  ". A text of
 * three characters and more is then found anywhere in it, a shorter one at the beginnings of words (" ru", "  r") and a
 * phrase between its blanks, all as a part of the text: by the trigrams of the full-text index, and in a single text by
 * strstr().
 *
 * SQL functions: search_text(text, …), which keeps its texts apart; search_needle(word, is_phrase), '' when there is
 * nothing to search for; search_has(needle, text, text). */
#ifndef SERVER_CATALOG_TEXT_H
#define SERVER_CATALOG_TEXT_H

#include <sqlite3.h>

/* Registers the functions with a connection; SQLite's code. */
int text_register(sqlite3 *sqlite);

#endif
