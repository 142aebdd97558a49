package sources_test

import (
	"strings"
	"testing"

	"coordtop/sources"
)

func TestOnlyTheBeginningOfAHugeValueIsKept(t *testing.T) {
	t.Parallel()
	const whole = 1 << 20
	read := []byte(strings.Repeat("v", 2*sources.BlobHead))
	b := sources.NewBlob(read, whole)
	read[0] = 'x'
	if b.Head != strings.Repeat("v", sources.BlobHead) || b.Len != whole {
		t.Errorf("%d of %d bytes, beginning %.3q", len(b.Head), b.Len, b.Head)
	}
}

func TestValuesAreToldApartByTheirSums(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	for name, b := range map[string]sources.Blob{
		"none": sources.NewBlob(nil, 0), "a": sources.NewBlob([]byte("a"), 1), "b": sources.NewBlob([]byte("b"), 1),
		"a and more": sources.NewBlob([]byte("a"), 2), "hidden": sources.NewBlob(nil, 1),
	} {
		if other, ok := seen[b.Sum]; ok {
			t.Errorf("%s and %s have one sum", name, other)
		}
		seen[b.Sum] = name
	}
}
