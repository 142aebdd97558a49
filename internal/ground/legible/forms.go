package legible

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"coordtop/internal/ground/lazy"
)

// formsOf returns how many atoms at the end of a label are random but have a form that clouds and clusters give to
// their names. Each form has a part that random hex does not have.
func formsOf(label string, texts []string) int {
	n := len(texts)
	switch {
	case n >= 3 && len(texts[n-1]) == podSigns && podEnd().MatchString(label) && podHash(texts[n-2]):
		return 2
	case n >= 3 && jobEnd().MatchString(label) && strings.ContainsFunc(texts[n-1], unicode.IsLetter), n >= 3 && revisionEnd().MatchString(label):
		return 2
	case n >= 3 && versionEnd().MatchString(label) && plainWords(texts[:n-2]):
		return 2
	case n >= 4 && texts[0] == "gke" && nodeEnd().MatchString(label) && (strings.Contains(label, "-pool-") || strings.ContainsFunc(texts[n-1], beyondHex)):
		return nodeForms
	case n == 4 && texts[0] == "aks" && scaleSetEnd().MatchString(label):
		return 4
	case n == 2 && windows().MatchString(label):
		return 2
	}
	return 0
}

var (
	// A pod of a Deployment: the template's checksum as kube-controller-manager writes it, then five characters
	// (k8s.io/apimachinery, pkg/util/rand/rand.go: String, SafeEncodeString).
	podEnd = lazy.Regexp(`-[456789bcdf]{8,10}-[bcdfghjklmnpqrstvwxz2456789]*[gh-z][bcdfghjklmnpqrstvwxz2456789]*$`)
	// A pod of a CronJob: the minute since 1970 at which it was due, then five characters. A nonce in groups of digits
	// has no letters before it.
	jobEnd = lazy.Regexp(`^[a-z].*-(?:2[7-9]|3[0-3])\d{6}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)
	// A revision of Cloud Run and Knative: a serial number, then three letters.
	revisionEnd = lazy.Regexp(`^[a-z].*-00\d{3}-[a-z]{3}$`)
	// A pod of a StatefulSet whose name ends in a version: the version, then the pod's ordinal.
	versionEnd = lazy.Regexp(`(?i)^[a-z].*[-_]v(?:0|[1-9]\d{0,2})[-_](?:0|[1-9]\d{0,2})$`)
	// A node of GKE: the checksum of its group, then four characters.
	nodeEnd = lazy.Regexp(`-[0-9a-f]{8}-[0-9a-z]{4}$`)
	// A node of AKS: the number of its group, then its number in base 36.
	scaleSetEnd = lazy.Regexp(`-\d{8}-vmss[0-9a-z]{6}$`)
	// The name that Windows gives to a machine, for example on EC2.
	windows = lazy.Regexp(`^(?:(?:DESKTOP|LAPTOP|EC2AMAZ)-[0-9A-Z]{7,8}|WIN-[0-9A-Z]{11})$`)
)

// plainWords reports whether each of texts is a word, alone or followed by a number.
func plainWords(texts []string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool {
		list, ok := read(t)
		return !ok || !list[0].named
	})
}

// nodeForms is the number of texts at the end of the name of a GKE node: the pool and two random ones.
const nodeForms = 3

// podTail matches the text that distinguishes the pods of a DaemonSet.
var podTail = lazy.Regexp(`^[bcdfghjklmnpqrstvwxz2456789]{5}$`)

func beyondHex(r rune) bool { return r > 'f' }

// podSigns is the number of characters that distinguish the pods of one template.
const podSigns = 5

// podDigits are the digits 0 to 9 as SafeEncodeString writes them.
const podDigits = "456789bcdf"

// podHash reports whether s is a 32-bit checksum as a pod's name has it before its last five characters.
func podHash(s string) bool {
	sum := uint64(0)
	for i := range len(s) {
		sum = sum*10 + uint64(strings.IndexByte(podDigits, s[i]))
	}
	return sum < 1<<32
}

// place is a stretch of atoms in a part that is an address or a region.
type place struct{ first, end int }

// region matches a region of AWS, of Google Cloud or of others that name their regions alike, with or without a zone.
var region = lazy.Regexp(`(?:^|[-._])((?:us-gov|[a-z]{2}|europe|asia|africa|australia|northamerica|southamerica)-(?:north|south|east|west|central|northeast|northwest|southeast|southwest)-?[1-9]\d?(?:-?[a-f])?)(?:$|[-._])`)

// placesOf finds regions and IPv4 addresses in a part. The addresses have dots, or dashes after ip or ec2, as in the
// names of AWS's machines.
func placesOf(text string) []place {
	var list []place
	if m := region().FindStringSubmatchIndex(text); m != nil && strings.Contains(text, "-") {
		first := separators(text[:m[2]])
		list = append(list, place{first, first + separators(text[m[2]:m[3]]) + 1})
	}
	texts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(weak, r) })
	at := 0
	for i := 0; i+4 <= len(texts); i++ {
		four := texts[i : i+4]
		dashed := i > 0 && (texts[i-1] == "ip" || texts[i-1] == "ec2")
		longer := !dashed && (i > 0 && groupLike(texts[i-1]) || i+4 < len(texts) && groupLike(texts[i+4]) || !usual(four, text))
		if longer || slices.ContainsFunc(four, func(s string) bool { return !octet(s) }) {
			at += len(texts[i]) + 1
			continue
		}
		if strings.HasPrefix(text[at:], strings.Join(four, ".")) || dashed && strings.HasPrefix(text[at:], strings.Join(four, "-")) {
			return append(list, place{i, i + 4})
		}
		at += len(texts[i]) + 1
	}
	return list
}

func separators(s string) int { return len(s) - len(strings.Map(notWeak, s)) }

func notWeak(r rune) rune {
	if strings.ContainsRune(weak, r) {
		return -1
	}
	return r
}

// groupLike reports whether a text beside four numbers may be one more group of a nonce, and not a word as in
// static.10.0.0.1.clients.
func groupLike(s string) bool { return len(s) < shortestSpoken || strings.ContainsAny(s, "0123456789") }

// usual reports whether four numbers are a private address or one of a manual, or text is short and has a group of one
// digit, which nonces hardly have.
func usual(four []string, text string) bool {
	a, err := netip.ParseAddr(strings.Join(four, "."))
	if err != nil {
		return false
	}
	if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() ||
		slices.ContainsFunc(manuals, func(net netip.Prefix) bool { return net.Contains(a) }) {
		return true
	}
	return len(text) == len(a.String()) && len(text) < shortestSecret && slices.ContainsFunc(four, func(s string) bool { return len(s) == 1 })
}

// manuals are networks for examples (RFC 5737), and those of carriers (RFC 6598).
var manuals = []netip.Prefix{
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("100.64.0.0/10"),
}

func octet(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n <= 255 && strconv.Itoa(n) == s
}

// longestHost is the most hex digits of an IPv6 address that may be shown: the address of a machine that a person
// numbered, not a random one.
const longestHost = 16

// isAddress reports whether text is a short IPv4 address, or an IPv6 address, with or without a port. An IPv6 address
// that is not shortened by :: looks like a nonce in groups, and does not count.
func isAddress(text string) bool {
	if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
		return len(text) < shortestSecret // a longer one may be a nonce
	}
	if len(text) < 2 || !strings.Contains(text, "::") {
		return false
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		ap, err := netip.ParseAddrPort(text)
		if err != nil {
			return false
		}
		a = ap.Addr()
	}
	before, _, _ := strings.Cut(text, "::")
	if len(strings.TrimPrefix(before, "[")) >= shortestSecret {
		return false // it may be a nonce with :: after it
	}
	host, _, _ := strings.Cut(strings.Trim(a.String(), "[]"), "%")
	_, behind, _ := strings.Cut(host, "::")
	return a.Is6() && len(host)-strings.Count(host, ":") <= longestHost && len(behind) <= 4 && a.Zone() == ""
}
