// Package rows decides which rows and events are shown, in which order, and how bad each row
// is. It draws nothing.
//
//   - Judge weighs a row at an instant; its Verdict says how far it can be believed, too.
//   - An Index keeps filter, order and severity up to date from the rows that differ, so that
//     a wake-up costs little with 100,000 rows. An order is one entry of a table (order.go).
//   - A Selection is what the person has typed as a filter; it says what rows and events
//     answer to the expressions of ui/filter.
//   - A Log keeps a bounded number of events and, apart, of renewals: a sawtooth is drawn
//     from those.
//
// Time and states are always handed in. Nothing here is safe for concurrent use.
package rows
