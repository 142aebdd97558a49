// Package fleet joins owners and waiters over all sources into parties: one for each host, program or session.
// It knows what each of them owns, leads and waits for, and what happens if it dies now: which rows fall, when,
// and who is next. The Owners screen and `coordtop owners` show what it finds and add nothing of their own.
//
// It may import internal/diagnose, sources, sources/origin, sources/verdict, internal/ground/format.
//
// A row that a party owns falls if nobody else keeps it. When it does is one of these ([Ends]):
//
//   - with the session, once the server notices that it has ended;
//   - with the lease, at the end that is known now: whoever is dead does not renew it;
//   - never: it has neither lease nor session;
//   - unknown, also where its source does not answer.
//
// Who is next ([Next]) is told where the server keeps a queue, or inferred from what is seen. Where there is no
// queue, whoever asks first takes it: candidates that were seen, and those that owned it within
// [diagnose.Lookback]. Where nobody was seen, somebody may exist nevertheless: only a server that keeps a queue tells
// that nobody waits.
//
// Parties is pure: it reads no clock and does no input or output. Its time grows with the number of rows. What
// it returns refers to the rows of the State, and is safe for concurrent use. What others wrote is cleaned and cut
// in all sentences, so they are fit for a terminal; Party.Name is not.
package fleet
