package ydbtest

import "context"

func rightsOf(context.Context) Rights { return Read | Write | Erase }

func userOf(context.Context) string { return "" }
