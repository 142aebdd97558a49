// Figures prints measures of the size and regularity of checkouts of this project: figures DIR [DIR ...] prints a line
// for each. It reads Go files only as text and syntax, so that it can read any commit. The comment of a function that
// counts describes its figure.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// figure is one line of what is printed.
type figure struct {
	name  string
	value string
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: figures DIR [DIR ...]")
		os.Exit(2)
	}
	var columns [][]figure
	for _, dir := range os.Args[1:] {
		t, err := read(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		columns = append(columns, t.figures())
	}
	for i, first := range columns[0] {
		fmt.Println(first.name + ":")
		for n, column := range columns {
			fmt.Printf("  %-8s %s\n", filepath.Base(os.Args[1+n]), column[i].value)
		}
	}
}
