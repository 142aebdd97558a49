// Package metrics turns what a Hub knows into metrics for Prometheus, or another program that reads its formats.
//
// It may import internal/ground/format, internal/history/record, internal/objective, sources, sources/lane, sources/verdict, ui/rows.
//
// A [Collector] looks at the Hub once a second, also while nobody scrapes it, because its counters add up what it sees.
// A scrape gets what the last look found. So many scrapes cost the Hub as much as none, and none asks a server.
//
//   - What is stale or unknown has no sample. A sum over a source has none unless all its servers answer and their
//     listings are complete, because a part of a sum would look like a change.
//   - Counters begin at 0 with the process, and never decrease while it runs, also over lost connections. While a row is
//     stale its counters have no samples either, so that a rate is no 0 that nobody saw. Time without a leader counts
//     as far as it is certain; the time that is certain of a row is a counter, too, to divide by.
//   - Names of primitives are labels only as far as [Options].Names selects them, and for a bounded number of series;
//     rows are taken in the order of their names, whole, and the number of series left out is a metric. No owner, waiter,
//     value or text is ever a label. A name is cleaned and cut; of two that are then equal the second is left out.
//   - Objectives are computed by package objective. What is not known of one is a number of its own, so it has samples
//     also while its row is stale.
//   - Package verdict decides what is a problem. Acknowledged and muted problems are counted like the others.
//
// A standby shows only the metrics of coordtop itself.
package metrics
