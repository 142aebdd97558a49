// Package rows decides which rows and events are shown, in which order, and how bad each row
// is. It draws nothing.
//
//   - An Index judges each row at an instant (judge.go): its Verdict says how bad the row is,
//     and how far it can be believed.
//   - An Index keeps filter, order and severity up to date from the rows that differ, so that
//     a wake-up costs little with 100,000 rows. An order is one entry of a table (order.go).
//   - A Selection is what the person has typed as a filter; it says what rows and events
//     answer to the expressions of ui/filter.
//   - A Log keeps a bounded number of events and, apart, of renewals: a sawtooth is drawn
//     from those.
//
// Time and states are always handed in. Nothing here is safe for concurrent use.
package rows
