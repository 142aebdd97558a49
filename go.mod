module coordtop

go 1.26
