// Package ydbsource watches the semaphores of YDB coordination nodes: who owns which, who
// waits in which order, and with what data.
package ydbsource
