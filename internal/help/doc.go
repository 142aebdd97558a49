// Package help has the reference for people, one Markdown file a topic: what `coordtop help
// TOPIC` prints, what is searched by `coordtop help -k` and by the help of the board, and a part of
// the manual page. The files are read on GitHub as they are.
//
// It may import internal/ground/format.
//
// Of Markdown a topic has headings, paragraphs, lists, tables, and code that is indented by four
// columns. Links are to other files; a reader without links loses nothing. A heading "coordtop get"
// begins what belongs to the help of that command.
//
// Each fact stands once. Tables that follow from code are compared with it by tests beside that code.
package help
