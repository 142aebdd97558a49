// Package headless is the dashboard without a screen: Get prints the state once, Watch prints one line for each
// change. Both read the same published states and events as the board, and print text for people or JSON for
// programs.
//
// It may import coord, internal/diagnose, internal/drill, internal/fleet, internal/history, internal/mute, internal/notify, internal/objective, sources, sources/lane,
// sources/origin, sources/verdict, ui/rows, internal/ground/address, internal/ground/format.
//
// # Text
//
// Text is for people: it may gain columns. format.Clean has cleaned everything in it that came from other programs.
// Unknown is ?, none is -, and ≥ before an age means that it was already so when we first looked.
//
// # JSON
//
// The JSON is an interface. Fields may be added; none is renamed, removed or given
// another meaning without another "v".
//
//   - null is unknown, or "there is none" where the table says so; [] is none.
//   - Times are RFC 3339 in UTC with six digits of fraction. Fields that end in _ms
//     are milliseconds.
//   - Fences and orders are strings: they pass 2^53, where many readers of JSON lose
//     digits.
//   - -1 is no limit, and all permits of it.
//   - Names, ids, labels and the like are strings. A byte that is not UTF-8 is \xNN;
//     beside a name that has one, name_b64 has the bytes in base64.
//   - data is null where there is none, else {"text"|"base64", "len", "cut"}: text if
//     the value is UTF-8, else base64; len is the length of the whole value in bytes;
//     cut reports whether a part of it is left out: only its first 4096 bytes, or, without text
//     and base64, nothing, because the value is a secret that proves ownership. Passwords
//     and the like in it are ***, and len counts them so.
//   - alias is what people call a primitive whose name is only a number: null where
//     nothing is known, else {"text", "known"}. known is told where the configuration or
//     the server says so (the text then may be "key 4242", the number of a name), and
//     inferred where the number is one that a well-known program takes: its text begins
//     with "likely" unless the number is that program's alone.
//   - "known" words say how a thing is known: told (by the server), seen (by us, as
//     the difference of two looks), inferred, at_least (it was so when we first
//     looked), claimed (written by the owner), bound (no earlier than this), ours,
//     unknown.
//
// Get prints one object, and wait the same once it is so:
//
//	v           1
//	at          when it was printed
//	sources     one object a source:
//	  name, type, health      health: connecting (never heard from), live,
//	                          stale
//	  mode                    how changes are learned, as "tracking" or
//	                          "polling"
//	  error                   why it is not live; null: no error
//	  age_ms                  since its server last answered; null: never
//	  sampling_ms             between two looks; 0: changes are pushed
//	  scopes                  one object for each server that can be silent
//	                          alone: name, health, synced (its listing is
//	                          complete), mode, age_ms, sampling_ms, version,
//	                          role, settings (of the server or of a YDB node,
//	                          and of how it is read, by name)
//	  warnings                sentences
//	primitives  one object each, by source, namespace and name:
//	  source, namespace, name
//	                          namespace: number of a Redis database, name of a
//	                          Postgres one, path of a coordination node of YDB
//	  alias                   what people call it
//	  format                  the library that keeps it in Redis, as an alias:
//	                          inferred where others write the same
//	  kind                    election, mutex, semaphore
//	  guess                   only where true: nothing but its name, or its
//	                          value, suggests that it is a lock
//	  limit, taken            permits that exist, that are owned
//	  ephemeral               it goes with its last owner
//	  data                    of the primitive itself; null: none or unknown
//	  fresh                   false: the source is silent, this is the last
//	                          that was seen
//	  state                   led; led, renewal late; no leader; no candidates
//	                          (only where all are known); free; held; held,
//	                          owner silent; full; absent (there is none of
//	                          this name); stale; conflict; not
//	                          observed yet; unknown
//	  note                    only where it cannot be read as a lock: why
//	  owners                  null: unknown; [] nobody; else one object each:
//	    id, label             equal ids are one owner; label is for people. Of
//	                          Redis the id is the value only if all of it is
//	                          positively a name, else # and 8 hex digits of the
//	                          sha1 of what stays the same (a nonce); label then
//	                          is the part of it that is a name, or the first
//	                          word of the data behind a UUID, or the id
//	    session               null: none
//	    mode, permits         exclusive or shared; how many it owns
//	    fence                 null: none known
//	    since, since_known    when it began to own it, and how that is known.
//	                          What this machine recorded counts as seen by
//	                          us, in free_since and before too
//	    since_after           with seen: it happened after this and not after
//	                          since
//	    expires, lease_ms     end and full length of its lease, as far as it
//	                          was seen: at the first look what is left of it;
//	                          lease_ms -1: it has no end
//	    data, attrs           what it wrote; facts of the backend by name. The
//	                          attribute query has a ? for each literal and
//	                          comment, and for what follows a password
//	    guard                 what a release would compare, for its --if-owner;
//	                          null: this backend has none
//	    release               {"action","not"}: not: why its ownership cannot be
//	                          ended by force; null: it can
//	  owners_known            how the owners are known
//	  free_since, free_since_known, free_since_after
//	                          since when nobody owns it, as since of an owner;
//	                          null and unknown: somebody does, or not known
//	  before                  who owned it before, the newest first, as far as
//	                          it was seen (only where one owns it at a time);
//	                          [] nobody that is known; else one object each:
//	    id, label, fence
//	    since, since_known, since_after, until, until_after
//	                          until: as since, with until_after where it is
//	                          only seen; at_least: since is not when it began,
//	                          it owned it then already
//	    held_ms               {"min","max"}: how long it owned it; max null: it
//	                          may be any longer; null: not known
//	    cause, cause_known    why it ended, as of an event
//	  queue                   known (told: the order is the server's;
//	                          inferred: it follows from what is seen), len, at
//	                          (when it was read), waiters: null: unknown; []
//	                          none; else, as they will be served, one object
//	                          each: id, label, session, mode, permits, order,
//	                          turn (those with the same number are served
//	                          together, 1 first; null: not known), since,
//	                          since_known, since_after, timeout_ms (null:
//	                          none), data, attrs, guard
//	  candidates              who would take it and does not stand in the
//	                          queue: seen or probable, attrs say which; null:
//	                          unknown; else as waiters
//	  candidates_known        unknown: there may be others that nobody can see
//	  problems                what is wrong with it, the gravest first, as the
//	                          board and --fail-on judge it; [] nothing; else
//	                          one object each:
//	    fault                 as --fail-on names it: two-owners no-leader
//	                          absent no-ttl wait late full flapping stale
//	    severity              needs a person; worth a look; unknown: of
//	                          stale, which is a problem of its source
//	    sentence              for people
//	    since, since_known, since_after
//	                          since when it is so, as since of an owner
//	    acknowledged          by, until, text (null: none) of who acknowledged
//	                          or muted the problems of the row; null: nobody
//	  actions                 one object each: action, and not: why it is not
//	                          possible; null: it is, once writing is confirmed.
//	                          Only get has these, and release of an owner
//
// Watch prints one object a line. First what is already there, as "present", and what is
// configured and does not exist, as "absent", then one "synced" for each scope, then the
// changes:
//
//	v, seq       seq counts the events of this run
//	at, after    it happened at `at`, or, where after is not null, after
//	             `after` and not after `at`
//	event        present absent synced acquired released expired owner_changed
//	             renewed proclaimed waiter_joined waiter_left created deleted
//	             source_up source_down restarted clock_step missed; action:
//	             somebody did something through this program, told in detail
//	             with what was seen of it; owner_unknown: who owns it cannot
//	             be told any more, detail says why (a present or a change
//	             follows once it can); lease_changed: the lease of
//	             owner, who goes on owning it, ends sooner, has no end any more,
//	             or has one now, which detail says (a renewal is renewed);
//	             note: a person noted something, see detail; count_changed:
//	             the counts of a semaphore whose owners are not told.
//	             A waiter that becomes an owner leaves the queue without
//	             waiter_left. source_down comes again, with after null, where
//	             a source is down for another reason than was told, which
//	             detail says
//	source, scope, namespace, kind, name
//	             scope: which of the scopes of get it is about, as the path of
//	             a coordination node of YDB; null: the source has but one, or
//	             it is about the whole source. namespace, kind and name are
//	             null for events of a whole source or scope
//	alias        what people call it
//	owner        id, label, fence of who owns it by this event, or goes on
//	             owning it; with waiter_joined and waiter_left the waiter;
//	             null: nobody, or, where known is unknown, unknown. And data:
//	             what it wrote, of present, acquired, owner_changed and
//	             proclaimed; of other events null
//	data         of the primitive itself, as of a semaphore of YDB; also of
//	             created and of a present without an owner
//	previous     the same of whose ownership ended by it; null: nobody's did
//	last         with acquired: the same of who owned it before the gap; with
//	             owner_unknown: of who owned it until then; null: not known
//	             (another may have owned it unseen since, also between two
//	             looks where the source is polled), or several did
//	last_seen    the same of who was seen to own it last before, whoever may
//	             have owned it unseen since; null: nobody was, or several did
//	cause        why it ended: released expired deleted evicted replaced
//	             restart session_ended unknown; null: none ended
//	known        how the least certain thing that it says is known
//	gap_ms       {"min","max"}: how long nobody owned it before owner took it:
//	             at least its last piece that was seen, at most from end to end.
//	             With "how":"sampled" and "every_ms" the bounds rest on looks
//	             so far apart at most, and hold if nothing came and went
//	             between two of them; the same in every length of time.
//	             null: no gap, or none known
//	held_ms      {"min","max"}: how long previous had owned it; max null: it may
//	             be any longer, since it did when we first looked; null: not
//	             known, or none ended
//	counts       {"before","after"} of count_changed, each {"taken","limit",
//	             "waiting"}; limit null: not known. Also of present, with before
//	             null, where owners are only counted; other events have none
//	detail       a sentence for people; null: none
//
// A reader that falls behind by more than the program keeps gets one line with event
// "missed" and the count in "missed", then the state as "present" and "absent" lines and a
// "synced" line for each source, then what happened after it.
//
// Acquire and campaign print one object a line: "acquired" as soon as the service has said
// that it is ours, then one line in answer to each line of standard input (`proclaim TEXT`,
// `resign`), "resigning" just before anything is sent to give it up, and "resigned" or "lost" as the
// last. With --reopen the next "acquired" follows "lost":
//
//	v, at
//	event          enqueued: it has a place in the queue, with
//	               --enqueue; acquired; proclaimed; notification: one
//	               arrived, with --listen; notified: ours was sent;
//	               resigning: about to be given up, from now on another
//	               may own it; resigned: given up; lost: it ended
//	               without our wish; refused: the line could not be
//	               obeyed, what we own is untouched
//	source, namespace, kind, name
//	alias          what people call it
//	owner          id, label, fence of us; null: it is not ours yet
//	mode, permits
//	data           what others see beside us, our name before it where
//	               they know owners by nothing else; null: none
//	trusted_until  until when it is surely ours if nothing more is heard from
//	               the service; each renewal moves it; null: not ours
//	place          of enqueued: our place in the queue, from 1, or a
//	               later one; left out: not known, or ours already
//	notification   of a notification: channel, payload, and missed: how
//	               many were lost just before it, because we read too
//	               slowly; else left out
//	detail         a sentence for people; null: none
//
// Release prints one object, once its result is on our watch or the time for that is over:
//
//	v, at
//	event          release
//	result         done: seen to be over; not seen: sent, and no change on
//	               our watch; missed: it changed just before, and nothing
//	               was released; failed; called off; not known: sent without an
//	               answer
//	source, namespace, kind, name
//	alias          what people call it
//	previous       id, label, fence of the owner whose ownership was to end
//	owners         the same of those that own it afterwards, as far as known
//	detail         a sentence for people: what was seen, as the next owner and
//	               for how long nobody owned it
//
// Semaphore prints one object. create, update and delete: once the result is on our watch or
// the time for that is over:
//
//	v, at
//	event          create, update, delete; of coordtop node create-node,
//	               alter-node, drop-node
//	result         done, not seen, missed, failed, called off, not known: as of
//	               release
//	source, namespace, kind, name
//	               kind and name are null of a coordination node
//	limit, data    as of get, afterwards; null: it is gone or not seen
//	detail         a sentence for people; null: none
//
// describe: v, at, and a primitive as get prints it, but with data in full, and
//
//	data_sha256    SHA-256 of data in hex, for --if-data-sha; null: a part of
//	               data is *** because it is secret
//
// History prints one object a line: what is recorded of each primitive, the oldest first:
//
//	v
//	what           term: somebody owned it; gap: nobody did, between two terms
//	               (only with --gaps, which then leaves the terms out);
//	               unobserved: nothing is known about that time
//	why            of what is unobserved: not_observed: the source did not
//	               answer; not_recorded: no coordtop recorded, or it could
//	               not write; dropped: it was recorded, and dropped since
//	               because it was too old or too much
//	source, namespace, kind, name
//	alias          what people call it
//	owner          id, label, fence of who owned it; null: no term
//	start, start_known, start_after, end, end_known, end_after
//	               as since of an owner in get; end null and unknown: it
//	               was not seen to end
//	length_ms      {"min","max"}: how long it was; of a gap its part in the time
//	               that was asked for, at a stretch: min the longest piece
//	               that was observed, max from end to end; max null: it may
//	               be any longer, as of a term that runs; null: not known
//	sum_ms         {"min","max"}: of a gap, all its pieces together; only
//	               gaps have it
//	cause, cause_known
//	               why a term ended, as of an event; null: it did not
//	gap_before_ms  {"min","max"}: length_ms of the gap before a term; null:
//	               no gap, or none known
//
// Why prints one object: what is wrong, the gravest first.
//
//	v
//	at             when it was so: now, or the instant of --at
//	recorded       whether there is a recording: without one former owners
//	               are known only as far as the servers tell
//	findings[]     each with one cause, or the causes that fit equally well
//	  pattern      its kind, as help why lists them; the config names
//	               runbooks by it
//	  severity     needs a person, or worth a look
//	  title        a sentence
//	  source       null: of several
//	  since, since_known, since_after
//	               when the first of its problems began, as of an owner in get
//	  reasons[]    text, and sure: told (by a server, or seen), inferred, or
//	               possible: one of several that fit, and none is preferred
//	  effect       what it means for others; null: nothing is known
//	  steps[]      what to do next, the first one first: text; key, which
//	               leads there on the board, and command, or null
//	  runbook      URL from the config; null: it has none for the pattern
//	  who[]        the hosts, programs or owners that it is about
//	  rows[]       whose problems it explains: source, namespace, name,
//	               short, and a problem as in get
//	  acknowledged by, until, text: all that it explains is acknowledged or
//	               muted; null: not all is. A problem of rows has it too
//	  hidden       rows of a source that does not answer which had a problem
//	               when they were last known: they are not in rows
//
// Owners prints one object: who owns what over all sources, those with a problem first, then those that hurt most if
// they die.
//
//	v, at
//	by             host, program or session: what one of owners is
//	owners[]
//	  name
//	  severity     of the gravest finding about it: needs a person, worth a
//	               look; else well, or unknown: its sources do not answer
//	  findings[]   the titles of the findings about it, as of why
//	  sources[]    of what it owns, awaits or has lost
//	  leads        how many elections are among owns
//	  since, since_known, since_after
//	               its oldest ownership, as of an owner in get
//	  last_active  when it was last seen to take, renew or ask for something;
//	               null: it was not seen
//	  changes      how often what it owns or has lost changed hands in the last
//	               hour
//	  sentence     what happens if it dies now, for people
//	  falls        the same in numbers:
//	    rows       that others may own then; of them
//	    alone      those for which nobody else is known
//	  owns[]       source, namespace, kind, name, and
//	    since, since_known, since_after
//	               as of an owner in get; of several owners of one host, the
//	               one that lasts longest
//	    ends       session, lease, never or unknown
//	    until      the end of its lease; null: it has none
//	    next       told: next_owners are first in the queue; inferred:
//	               they probably are; waiting: somebody waits, and it is not
//	               told who is first; race: whoever asks first of those that
//	               were seen; nobody: the server tells that nobody waits;
//	               unknown: nobody else was seen; kept: other owners keep it
//	    next_owners[]
//	               names; [] not known, or nobody
//	  awaits[]     source, namespace, kind, name; since, since_known,
//	               since_after: when it asked; and its place in the queue,
//	               from 1
//	  may_await_more
//	               a backend of what it owns reports no queue
//	  lost[]       what a finding is about, it owned last, and nobody owns now:
//	               source, namespace, kind, name
//
// A notification is one object, which a command gets on its standard input and
// a URL in a POST.
//
//	v
//	at             when it was found, ended, or came back
//	event          found; ended: it is gone for five minutes; found_again: it
//	               was gone and came back within five minutes; more: these were
//	               too many to be sent one by one
//	id             of the cause: the same in all its notifications; null: more
//	environment    title of the config; null: it has none
//	text           all of it in one line, for people
//	finding        what was found, as in findings of why, with the first 20
//	               rows; of what has ended as it was sent last; null: more
//	  rows_left_out
//	               how many rows more there are; not there: none
//	returns        how often it has come back
//	counts         of more, what was not sent: found, ended, found_again; else
//	               null
package headless
