package sqlite

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

func TestARecordingIsPrivate(t *testing.T) {
	t.Parallel()
	o := place(t)
	write(t, begun(t, o, 0), batchOf(0, m))
	for path, mode := range map[string]os.FileMode{o.Path: 0o600, o.Path + "-wal": 0o600, filepath.Dir(o.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v: want the mode %o", path, info.Mode(), err, mode)
		}
	}
}

func TestAFileThatIsNoRecordingIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		spoil   func(t *testing.T, path string)
		theirs  bool
		want    error
		reading error
		note    string
	}{
		{"of another program", func(t *testing.T, path string) { change(t, path, "pragma application_id = 1") }, false, history.ErrForeign, history.ErrForeign, ""},
		{"no SQLite", func(t *testing.T, path string) { overwrite(t, path, []byte("hello, this is a text of somebody")) }, true, history.ErrForeign, history.ErrForeign, ""},
		{"garbage at our own place", func(t *testing.T, path string) { overwrite(t, path, []byte("hello, this is a text of nobody")) }, false, nil, nil, "was damaged"},
		{"newer and readable", func(t *testing.T, path string) { change(t, path, "pragma user_version = 1900") }, false, history.ErrNewer, nil, ""},
		{"newer", func(t *testing.T, path string) { change(t, path, "pragma user_version = 9900") }, false, history.ErrNewer, history.ErrNewer, ""},
		{"damaged at our own place", func(t *testing.T, path string) { overwrite(t, path, damagedOfOthers()) }, false, nil, nil, "was damaged"},
		{"damaged, and none of ours as far as can be read", func(t *testing.T, path string) { overwrite(t, path, damagedOfOthers()) }, true, history.ErrForeign, history.ErrDamaged, ""},
		{"damaged behind its first page", func(t *testing.T, path string) { garble(t, path, math.MaxInt) }, true, nil, nil, "was damaged"},
		{"damaged in its last page", func(t *testing.T, path string) { garble(t, path, 1) }, true, nil, nil, "was damaged"},
		{"read-only", func(t *testing.T, path string) { protect(t, path) }, false, os.ErrPermission, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := place(t)
			if o.Ours = !tt.theirs; tt.theirs { // they made the folder too
				if err := os.Mkdir(filepath.Dir(o.Path), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			w := begun(t, o, 0)
			write(t, w, batchOf(0, m))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(o.Path + "-*"); len(left) > 0 {
				t.Errorf("%v is left after a clean end", left)
			}
			tt.spoil(t, o.Path)
			again, err := Begin(t.Context(), o, history.Run{Span: span(2*m, 2*m)})
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if err == nil {
				if !strings.Contains(again.Note(), tt.note) {
					t.Errorf("note %q, want %q", again.Note(), tt.note)
				}
				if aside, _ := filepath.Glob(o.Path + ".broken-*"); len(aside) != 1 {
					t.Errorf("put aside: %v", aside)
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := store(t, o).Runs(t.Context()); !errors.Is(err, tt.reading) {
				t.Errorf("reading: %v, want %v", err, tt.reading)
			}
		})
	}
}

// damagedOfOthers is a file that begins as one of SQLite.
func damagedOfOthers() []byte { return append([]byte("SQLite format 3\x00"), make([]byte, 8000)...) }

// TestAFileOfOthersStaysAsItIs names files of other programs, sound and damaged, as the recording.
func TestAFileOfOthersStaysAsItIs(t *testing.T) {
	t.Parallel()
	sql := func(texts ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			overwrite(t, path, nil)
			for _, text := range texts {
				change(t, path, text)
			}
		}
	}
	table := "create table t(a); insert into t select zeroblob(3000) from (values(1),(2),(3),(4))"
	for name, spoil := range map[string]func(t *testing.T, path string){
		"sound":                         sql(table),
		"of a program with a number":    sql(table, "pragma application_id = 7"),
		"without a table":               sql("pragma user_version = 1"),
		"damaged behind its first page": func(t *testing.T, path string) { sql(table)(t, path); garble(t, path, math.MaxInt) },
		"damaged where it begins":       func(t *testing.T, path string) { overwrite(t, path, damagedOfOthers()) },
		"nothing but zeros":             func(t *testing.T, path string) { overwrite(t, path, make([]byte, 8192)) },
		"a text":                        func(t *testing.T, path string) { overwrite(t, path, []byte("hello")) },
		"with what was not written yet": func(t *testing.T, path string) {
			sql(table, "pragma journal_mode = wal")(t, path)
			overwrite(t, path+"-wal", []byte("somebody's"))
			overwrite(t, path+"-journal", []byte("somebody's"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Path: filepath.Join(t.TempDir(), "theirs.db")}
			spoil(t, o.Path)
			if err := os.Chmod(o.Path, 0o644); err != nil {
				t.Fatal(err)
			}
			before := folderOf(t, o.Path)
			if _, err := Begin(t.Context(), o, history.Run{Span: span(0, 0)}); !errors.Is(err, history.ErrForeign) {
				t.Errorf("error %v, want ErrForeign", err)
			}
			if after := folderOf(t, o.Path); !reflect.DeepEqual(after, before) {
				t.Errorf("there are %v, and were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

// folderOf is what stands in the folder of a file: modes and contents.
func folderOf(t *testing.T, path string) map[string]string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range all {
		b, err := os.ReadFile(name)
		info, failed := os.Stat(name)
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		found[name] = info.Mode().String() + string(b)
	}
	return found
}

func change(t *testing.T, path, text string) {
	t.Helper()
	db, err := connect(path, writing, 1)
	if err == nil {
		_, err = db.Exec(text)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// garble overwrites the last so many pages but the first.
func garble(t *testing.T, path string, pages int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 4096
	for i := max(1, len(b)/size-pages) * size; i < len(b); i++ {
		b[i] = 0x5a
	}
	overwrite(t, path, b)
}

func protect(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	if err := errors.Join(os.Chmod(path, 0o400), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
}

// TestAGroupThatCannotBeReadSaysWhy reads what another version wrote, and what is no group.
func TestAGroupThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	const magic = len("coordtop") // behind it stand the version and the lowest that can read it
	for name, c := range map[string]struct {
		spoil func(b *history.Batch)
		text  string // of SQL
		open  error
		next  error
	}{
		"sound":                      {},
		"a keyframe that is none":    {spoil: func(b *history.Batch) { b.Keyframe = []byte("key") }, open: history.ErrDamaged},
		"a keyframe that is cut":     {spoil: func(b *history.Batch) { b.Keyframe = b.Keyframe[:len(b.Keyframe)-1] }, open: history.ErrDamaged},
		"a keyframe of a newer one":  {spoil: func(b *history.Batch) { b.Keyframe[magic+1] = 99 }, open: history.ErrNewer},
		"a number that is a text":    {text: "update gop set thin = 'x'", open: history.ErrDamaged},
		"a keyframe that is no zstd": {text: "update gop set body = x'00'", open: history.ErrDamaged},
		"Inputs that are none":       {spoil: func(b *history.Batch) { b.Inputs = []byte{0, 0, 0} }, next: history.ErrDamaged},
		"Inputs that are cut":        {spoil: func(b *history.Batch) { b.Inputs = b.Inputs[:len(b.Inputs)-1] }, next: history.ErrDamaged},
		"Inputs of a newer one":      {spoil: func(b *history.Batch) { b.Inputs = []byte{0, byte(sources.InputPublished) + 1, 0, 0, 0} }, next: history.ErrNewer},
		"a chunk that is no zstd":    {text: "update chunk set body = x'00'", next: history.ErrDamaged},
		"a chunk that has nothing":   {text: "update chunk set body = x''", next: history.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, e := place(t), tape.NewEncoder(tape.EncoderOptions{})
			w := begun(t, o, 0)
			b := batchOf(0, 2*m)
			b.Keyframe = e.Keyframe(nil, &sources.Keyframe{})
			b.Inputs = e.Input(nil, &sources.Input{Seq: 1, Kind: sources.InputPublished, At: sources.Instant{Wall: after(sec), Mono: sec}})
			if c.spoil != nil {
				c.spoil(b)
			}
			write(t, w, b)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if c.text != "" {
				change(t, o.Path, c.text)
			}
			cursor, err := store(t, o).Cursor(t.Context(), 0, after(0))
			if !errors.Is(err, c.open) || err == nil && c.open != nil {
				t.Fatalf("opening: %v, want %v", err, c.open)
			}
			if err != nil {
				return
			}
			p, err := cursor.Next(t.Context())
			if err == nil {
				p, err = cursor.Next(t.Context()) // the first one has the keyframe
			}
			if err == nil && c.next == nil && len(p.Inputs) == 1 {
				return
			}
			if c.next == nil || !errors.Is(err, c.next) || !strings.Contains(err.Error(), o.Path) {
				t.Errorf("%d Inputs, %v; want %v, and which file", len(p.Inputs), err, c.next)
			}
		})
	}
}
