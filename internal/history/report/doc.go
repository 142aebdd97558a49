// Package report writes a post-mortem from a recording: Markdown, and a timeline as a picture in SVG. Texts
// of other people are cleaned and escaped in both.
package report
