// Package rows decides which rows and events are shown, and in which order. It draws nothing.
//
//   - An Index has each row judged by sources/verdict, again when its verdict may be another by
//     time alone, or when the same lock elsewhere changed.
//   - An Index keeps filter, order and severity up to date from the rows that differ, so that
//     a wake-up costs little with 100,000 rows. An order is one entry of a table (order.go).
//   - A Selection is what the person has typed as a filter; it says what rows and events
//     answer to the expressions of ui/filter.
//   - A Log keeps a bounded number of events and, apart, of renewals: a sawtooth is drawn
//     from those.
//
// Time and states are always handed in. Nothing here is safe for concurrent use.
package rows
