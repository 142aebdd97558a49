// Package report writes a post-mortem from a recording: Markdown, and a timeline as a picture in SVG. Texts
// of other people are cleaned and escaped in both.
//
// It may import internal/history, internal/history/trouble, sources, sources/lane, internal/ground/format.
package report
