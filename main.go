// The runtime would wake the program each second to read how many processors its container may use.
//
//go:debug updatemaxprocs=0

// Command coordtop is top for coordination state: it shows live who leads, who owns,
// since when and for how much longer.
package main

import (
	_ "embed"
	"os"

	"coordtop/internal/app"
)

//go:embed config.example.yaml
var example string

func main() { os.Exit(app.Main(app.OS(example))) }
