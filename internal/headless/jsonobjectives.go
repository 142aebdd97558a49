package headless

import (
	"strings"

	"coordtop/internal/history"
	"coordtop/internal/objective"
)

// Slo prints one object: how each primitive keeps its objectives, the worst first.
//
//	v           1
//	at          the end of the time over which they are judged
//	results     one object for each objective and primitive:
//	  result       missed, not_known (too much was not observed), or within
//	  objective    its text in the config
//	  pattern      of the names that it is for
//	  percent, over_ms, budget_ms
//	               the least part of the time with an owner, that time, and
//	               how long nobody may own it
//	  source, namespace, kind, name
//	               all but kind null: the pattern fits nothing that is recorded
//	  alias        what people call it
//	  vacant_ms    {"min","max"}: how long nobody owned it; max includes what
//	               was not observed; null: nothing fits
//	  used         {"min","max"}: the same as a part of budget_ms
//	  unobserved_ms
//	               how long it was not observed or not recorded; the same
//	               owner may be proved for a part of that
//	  hour         of the last hour, null: nothing fits:
//	    vacant_ms, unobserved_ms
//	    burn       {"min","max"}: how fast the budget was used: at 1 it lasts
//	               just as long as the objective
type objectivesJSON struct {
	V       int          `json:"v" is:"version"`
	At      *string      `json:"at" is:"time"`
	Results []resultJSON `json:"results"`
}

type resultJSON struct {
	Result    string  `json:"result" is:"result"`
	Objective string  `json:"objective"`
	Pattern   string  `json:"pattern"`
	Percent   float64 `json:"percent"`
	Over      int64   `json:"over_ms"`
	Budget    int64   `json:"budget_ms"`
	refJSON
	Alias  *aliasJSON    `json:"alias"`
	Vacant *intervalJSON `json:"vacant_ms"`
	Used   *shareJSON    `json:"used"`
	Unseen *int64        `json:"unobserved_ms"`
	Hour   *hourJSON     `json:"hour"`
}

type shareJSON struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

type hourJSON struct {
	Vacant *intervalJSON `json:"vacant_ms"`
	Unseen int64         `json:"unobserved_ms"`
	Burn   shareJSON     `json:"burn"`
}

func resultOf(r *objective.Result, alias history.Alias) resultJSON {
	o := r.Objective
	j := resultJSON{
		Result: strings.ReplaceAll(r.Verdict().String(), " ", "_"), Objective: o.Text, Pattern: text(string(o.Pattern)), Percent: o.Percent,
		Over: o.Over.Milliseconds(), Budget: o.Budget().Milliseconds(), refJSON: refOf(r.Ref, r.Kind), Alias: aliasOf(alias.Text, alias.How),
	}
	if r.Fits() {
		j.Vacant, j.Used, j.Unseen = knownInterval(r.All.Vacant), new(shareJSON(r.Used())), new(r.All.Unseen.Milliseconds())
		j.Hour = &hourJSON{knownInterval(r.Last.Vacant), r.Last.Unseen.Milliseconds(), shareJSON(r.Burn())}
	}
	return j
}
