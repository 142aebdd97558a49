package redissource

// denials decides which of the keys that the user has no right to read are asked for again.
// Each question is counted in the server's ACL LOG, so one of them is asked for each second
// and in each sweep, and all of them once that one can be read.
type denials struct {
	probe string // the key to ask for; "": none
	ask   bool   // a person asked for all
	all   bool   // this sweep reads all
	some  bool   // a key was refused since none was found that is
}

// begin chooses what a sweep asks for.
func (d *denials) begin(keys map[string]*key) {
	d.probe, d.all, d.ask = "", d.ask, false
	var oldest *key
	for _, k := range keys {
		if k.denied && (oldest == nil || k.sent.Before(oldest.sent)) {
			oldest = k
		}
	}
	if d.some = oldest != nil; d.some {
		d.probe = oldest.name
	}
}

// readable leaves out the names of keys that the user was refused.
func (w *watcher) readable(names []string, notices []notice) ([]string, []notice) {
	keep, said := names[:0:0], notices[:0:0]
	for i, name := range names {
		if k := w.keys[name]; k != nil && k.denied && !w.denials.all && name != w.denials.probe {
			continue
		}
		keep = append(keep, name)
		if notices != nil {
			said = append(said, notices[i])
		}
	}
	if notices == nil {
		return keep, nil
	}
	return keep, said
}

// retry looks whether the key that was asked for again can be read. Then the sweep that is
// due next asks for all of them.
func (w *watcher) retry(names []string, readings []*reading) {
	for i, name := range names {
		if name != w.denials.probe {
			continue
		}
		w.denials.probe = ""
		if r := readings[i]; r != nil && r.shape != denied {
			w.denials.ask = true
			w.resyncSoon()
		}
	}
}
