// Package rows decides which rows and events are shown, and in which order. It draws nothing.
//
// It may import internal/action, sources, sources/origin, sources/verdict, ui/filter, ui/paint.
//
//   - An Index judges each row with sources/verdict, and judges it again when time alone may
//     change its verdict, or when the same lock in another source changed.
//   - An Index keeps filter, order and severity up to date from the rows that differ, so that
//     a wake-up costs little with 100,000 rows. Each order is an entry of a table (order.go).
//   - A Selection is the filter that the person typed; it evaluates the expressions of ui/filter
//     for rows, events and actions of the audit.
//   - A Log keeps a bounded number of events and, apart, of renewals, from which sawtooths are
//     drawn.
//
// Callers pass time and states as arguments. Nothing here is safe for concurrent use.
package rows
