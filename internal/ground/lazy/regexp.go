package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the expression when it is called first, and panics if it is not one.
// It is safe for concurrent use.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
