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

// skips reports whether k, of which nothing is known if it is nil, is not to be asked for.
func (d *denials) skips(k *key) bool {
	return k != nil && k.denied && !d.all && k.name != d.probe
}

// probed reports whether one of these readings shows that the key that was asked for again can be
// read. Then the sweep that is due next asks for all of them.
func (d *denials) probed(questions []question, readings []*reading) bool {
	for i, q := range questions {
		if q.name == d.probe {
			d.probe = ""
			if r := readings[i]; r != nil && r.shape != denied {
				d.ask = true
				return true
			}
		}
	}
	return false
}
