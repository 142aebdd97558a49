// Package report writes a post-mortem from a recording: Markdown, and a timeline as a picture in SVG. Both contain
// texts of other people only cleaned and escaped.
//
// It may import internal/history, internal/history/trouble, sources, sources/lane, internal/ground/format.
package report
