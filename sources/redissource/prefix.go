package redissource

import (
	"slices"
	"strings"
)

// mostPrefixes bounds how many prefixes are tracked: the server compares every key that
// anybody writes with all of them.
const mostPrefixes = 8

// separators end a part of a key's name.
const separators = ":/.|-_#@{}"

// prefixes returns at most mostPrefixes literal prefixes, none a prefix of another (the
// server refuses those), so that every name in from has one of them in front. Where
// there are too many they are cut behind separators, as late as possible: never to nothing
// and never inside a part, because tracking "a" would bring in strangers. ok is false if it
// cannot be done, or if a name in from is empty.
func prefixes(from []string) (list []string, ok bool) {
	if len(from) == 0 || slices.Contains(from, "") {
		return nil, false
	}
	list = withoutCovered(slices.Clone(from))
	if len(list) <= mostPrefixes {
		return list, true
	}
	stems := branches(list, 1)
	if len(stems) > mostPrefixes {
		return nil, false
	}
	for i := 0; i < len(stems); {
		finer := branches(stems[i].names, stems[i].parts+1)
		if len(stems)-1+len(finer) > mostPrefixes || stems[i].names[0] == stems[i].prefix { // with nothing behind it
			i++
			continue
		}
		stems = slices.Replace(stems, i, i+1, finer...)
	}
	list = list[:0]
	for _, s := range stems {
		list = append(list, s.prefix)
	}
	return withoutCovered(list), true
}

// stem is a prefix of so many parts that some names have in common.
type stem struct {
	prefix string
	parts  int
	names  []string
}

// branches groups sorted names by their first n parts.
func branches(names []string, n int) (list []stem) {
	for _, name := range names {
		p := firstParts(name, n)
		if last := len(list) - 1; last < 0 || list[last].prefix != p {
			list = append(list, stem{prefix: p, parts: n})
		}
		list[len(list)-1].names = append(list[len(list)-1].names, name)
	}
	return list
}

// withoutCovered sorts and drops what has another of the list as its prefix.
func withoutCovered(list []string) []string {
	slices.Sort(list)
	kept := list[:0]
	for _, p := range list {
		if len(kept) == 0 || !strings.HasPrefix(p, kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return kept
}

// firstParts cuts name behind its n-th separator; one with fewer is left whole.
func firstParts(name string, n int) string {
	for i := range len(name) {
		if strings.IndexByte(separators, name[i]) < 0 {
			continue
		}
		if n--; n == 0 {
			return name[:i+1]
		}
	}
	return name
}

// covered reports whether one of the prefixes stands in front of name.
func covered(list []string, name string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(name, p) })
}
