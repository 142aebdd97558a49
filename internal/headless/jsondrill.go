package headless

import (
	"io"

	"coordtop/internal/drill"
)

// Drill prints one object: how long there was no leader in each round, and in all of them.
//
//	v           1
//	at          when the drill was over
//	source, namespace, kind, name  of the election
//	way         how it ended leaders: kill, stop, cut, resign or release
//	candidates  processes of the drill that campaigned; 0: the leaders were
//	            somebody else's
//	ttl_ms      of their leases
//	began       when it began
//	rounds_wanted  how many rounds were asked for
//	ended_early    why there are fewer; null: there are not
//	rounds      one object a round:
//	  n           1, 2, 3 ...
//	  leader, next
//	              id, label, fence of the leader that was ended, and of the next
//	  acted, acted_after
//	              when the leader was ended, as since of an owner in get
//	  own_ms      {"min","max"}, as all lengths: from the leader's death, or
//	              the end of its trust, until the next one knew that it leads;
//	              null: not ours
//	  both_ms     how long the old leader trusted its lease after that; null:
//	              it did not
//	  kept_ms     from acted until the server ended its ownership
//	  nobody_ms   nobody owned it, as gap_ms of watch
//	  answer_ms   from the next ownership until its owner knew; null: not ours
//	figures     one object for each length that rounds have:
//	  length      own_ms, both_ms, kept_ms, nobody_ms or answer_ms
//	  count       how many rounds have it
//	  p50_ms, p95_ms, longest_ms
//	              min is the percentile of the lower bounds, max that of the
//	              upper bounds
type drillJSON struct {
	V  int     `json:"v" is:"version"`
	At *string `json:"at" is:"time"`
	refJSON
	Way        string           `json:"way"`
	Candidates int              `json:"candidates"`
	TTL        int64            `json:"ttl_ms"`
	Began      *string          `json:"began" is:"time"`
	Wanted     int              `json:"rounds_wanted"`
	Ended      *string          `json:"ended_early"`
	Rounds     []drillRoundJSON `json:"rounds"`
	Figures    []figureJSON     `json:"figures"`
}

type drillRoundJSON struct {
	N          int           `json:"n"`
	Leader     ownerRefJSON  `json:"leader"`
	Next       ownerRefJSON  `json:"next"`
	Acted      *string       `json:"acted" is:"time"`
	ActedAfter *string       `json:"acted_after" is:"time"`
	Own        *intervalJSON `json:"own_ms"`
	Both       *intervalJSON `json:"both_ms"`
	Kept       *intervalJSON `json:"kept_ms"`
	Nobody     *intervalJSON `json:"nobody_ms"`
	Answer     *intervalJSON `json:"answer_ms"`
}

type figureJSON struct {
	Length  string        `json:"length"`
	Count   int           `json:"count"`
	P50     *intervalJSON `json:"p50_ms"`
	P95     *intervalJSON `json:"p95_ms"`
	Longest *intervalJSON `json:"longest_ms"`
}

// WriteDrill writes one line of JSON about a drill. early is why it ended early; nil: it did not.
func WriteDrill(out io.Writer, r *drill.Result, early error) error {
	j := drillJSON{
		V: version, At: instant(r.Over), refJSON: refOf(r.Ref, r.Kind), Way: string(r.How), Candidates: r.Candidates, TTL: r.TTL.Milliseconds(),
		Began: instant(r.Began), Wanted: r.Wanted, Rounds: each(r.Rounds, drillRoundOf),
		Figures: each(r.Figures(), func(f *drill.Figure) figureJSON {
			return figureJSON{f.Key + "_ms", f.Count, knownInterval(f.P50), knownInterval(f.P95), knownInterval(f.Longest)}
		}),
	}
	if early != nil {
		j.Ended = orNull(early.Error())
	}
	return writeLine(out, j)
}

func drillRoundOf(x *drill.Round) drillRoundJSON {
	j := drillRoundJSON{N: x.N, Leader: refOfOwner(x.Leader), Next: refOfOwner(x.Next)}
	j.Acted, j.ActedAfter = stamp(x.Acted)
	for _, p := range x.Lengths() {
		*map[string]**intervalJSON{"own": &j.Own, "both": &j.Both, "kept": &j.Kept, "nobody": &j.Nobody, "answer": &j.Answer}[p.Key] = knownInterval(p.Length)
	}
	return j
}
