// Package notify tells people what package diagnose finds: once when a cause appears, and once when it ends.
//
// It may import internal/diagnose, sources, internal/ground/*.
//
// A cause is a pattern with the rows, or the source, that it is about. It lasts while a Finding of its
// pattern has one of its rows: ten elections that one host lost are one cause, while the leases run out one
// by one and while others take them one by one.
//
//   - A [Tracker] decides, for one rule, what to tell after each look: a state machine that reads no clock.
//     A cause is found once it lasts for [Steady], and it has ended once it is gone for [Hold]. Where it
//     returns within that time the two are one message. Nothing ends while nobody knows: while its source does
//     not answer, or while another cause that was told explains all its rows, or while it is muted. What is muted is found once that ends.
//   - More than [MostMessages] in a minute are counted, and one message has the counts.
//   - What was told is kept in a file, so a restart, or another process that takes over, tells nothing twice.
//     What was not delivered is sent again then.
//   - A [Notifier] looks once a second and hands messages to a goroutine for each rule. A receiver that hangs
//     or fails delays only the messages of its own rule; what it did not take is counted and reported.
//
// No URL, and nothing that a receiver answered, is in an error or in the log.
package notify
