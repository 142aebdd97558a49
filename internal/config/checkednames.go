package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/ground/legible"
)

// nameSources gives every source without a name a short unique one: the name of its primary behind Sentinels, otherwise
// its hosts without ports. If another source has these hosts, it uses the source's type; if another has that type, the
// hosts with ports; and if that name is also taken, the hosts with the number of the database, or with another number.
func (all Backends) nameSources(sources []Source) {
	taken, hosts, types := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range sources {
		taken[sources[i].Name]++
		hosts[all.hostsOf(&sources[i])]++
		types[sources[i].Type]++
	}
	for i := range sources {
		s := &sources[i]
		if s.Name != "" {
			continue
		}
		switch host := all.hostsOf(s); {
		case host != "" && hosts[host] == 1 && taken[host] == 0:
			s.Name = host
		case types[s.Type] == 1 && taken[s.Type] == 0:
			s.Name = s.Type
		default:
			s.Name = all.freeName(s, taken)
		}
		taken[s.Name]++
	}
}

// hostsOf returns the hosts of a source without ports and duplicates, separated by commas. It returns "" for the usual
// local socket, and the file name of another socket. Behind Sentinels it returns the primary if that is positively a
// name, because any other text may be a password in the wrong place.
func (all Backends) hostsOf(s *Source) string {
	scheme, rest, _ := strings.Cut(s.Address, "://")
	rest, path, _ := strings.Cut(rest, "/")
	_, known := all.byScheme(scheme)
	if known.Socket {
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	if primary, _, _ := strings.Cut(path, "/"); known.Primary && legible.Name(primary) {
		return primary
	}
	var hosts []string
	for h := range strings.SplitSeq(rest, ",") {
		if at := strings.LastIndexByte(h, ':'); at > strings.LastIndexByte(h, ']') && (h[0] == '[' || strings.IndexByte(h, ':') == at) {
			h = h[:at]
		}
		if !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return strings.Join(hosts, ",")
}

func (all Backends) freeName(s *Source, taken map[string]int) string {
	_, rest, _ := strings.Cut(all.AddressWithoutLogin(s), "://")
	host, _, _ := strings.Cut(rest, "/")
	if host == "" {
		host = cmp.Or(all.hostsOf(s), s.Type)
		rest = host
	}
	name := host
	for n := 1; taken[name] > 0; n++ {
		if name = rest; n > 1 {
			name = fmt.Sprintf("%s #%d", rest, n)
		}
	}
	return name
}
