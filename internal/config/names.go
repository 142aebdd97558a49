package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/ground/legible"
)

// nameSources gives every source without a name one that is unique and as short as can be:
// the name of its primary behind Sentinels, else its hosts without ports, or its type where
// another source has these hosts and none has that type. Else its hosts with ports, with the
// number of its database if that is taken and there is one, with a number if that is taken too.
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

// hostsOf are the hosts of a source without their ports, each once, with commas; "" where it
// is the usual local socket; the name of the file of another. Sentinels are not what is watched: the primary that they name is. Text
// there that is not positively a name may be a password in the wrong place.
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
	hosts := strings.Split(rest, ",")
	for i, h := range hosts {
		if at := strings.LastIndexByte(h, ':'); at > strings.LastIndexByte(h, ']') && (h[0] == '[' || strings.IndexByte(h, ':') == at) {
			hosts[i] = h[:at]
		}
	}
	var once []string
	for _, h := range hosts {
		if !slices.Contains(once, h) {
			once = append(once, h)
		}
	}
	return strings.Join(once, ",")
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
