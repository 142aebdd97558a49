// Package report writes what a post-mortem needs of a recording: a piece of Markdown, and a
// timeline as a picture in SVG. What other people wrote is cleaned and escaped in both.
package report
