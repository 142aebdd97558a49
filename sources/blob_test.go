package sources_test

import (
	"strings"
	"testing"

	"coordtop/sources"
)

func TestBlobMasksSecretsAndTellsThemApart(t *testing.T) {
	t.Parallel()
	one, two := []byte("redis://app:TOPSECRET99@host eu"), []byte("redis://app:TOPSECRET98@host eu")
	a, b := sources.NewBlob(one, len(one)), sources.NewBlob(two, len(two))
	if a.Head != "redis://app:***@host eu" || a.Len != len(a.Head) || !a.Masked() || !a.Shows(one) {
		t.Errorf("%+v", a)
	}
	if a.Sum == b.Sum || b.Shows(one) {
		t.Error("another secret is taken for the same data")
	}
	huge := []byte(strings.Repeat("x", sources.BlobHead-10) + " password=TOPSECRET99")
	if c := sources.NewBlob(huge, 1<<20); strings.Contains(c.Head, "TOP") || len(c.Head) > sources.BlobHead || c.Len <= len(c.Head) {
		t.Errorf("%d bytes, the last %q", c.Len, c.Head[len(c.Head)-20:])
	}
	if plain := sources.NewBlob([]byte("eu"), 2); plain.Masked() || plain.Head != "eu" || plain.Len != 2 {
		t.Errorf("%+v", plain)
	}
}
