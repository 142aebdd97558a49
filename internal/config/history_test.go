package config_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	. "coordtop/internal/config"
)

func TestWhatIsRecordedIsConfigured(t *testing.T) {
	t.Parallel()
	c, err := written(t, "history: {file: h.db, group_reads: true, keep: 2d, full: 1h, size: 2GB}\n")
	if c.History.File != "" {
		c.History.File = filepath.Base(c.History.File) // it begins at the config file
	}
	if want := (History{File: "h.db", GroupReads: true, Keep: 48 * time.Hour, Full: time.Hour, Size: 2 << 30}); err != nil || !reflect.DeepEqual(c.History, want) {
		t.Errorf("%+v, %v, want %+v", c.History, err, want)
	}
	if c, err := written(t, "history: {off: true, size: 500MB}\n"); err != nil || !c.History.Off || c.History.Size != 500<<20 {
		t.Errorf("%+v, %v", c.History, err)
	}
	if c, err := written(t, "history: {url: 'postgres://u@h/d', direct: 'postgres://u@p/d', group: eu, password_env: HOME}\n"); err != nil || c.History.URL != "postgres://u@h/d" || c.History.Direct == "" || c.History.Group != "eu" || c.History.Password().Env != "HOME" {
		t.Errorf("%+v, %v", c.History, err)
	}
	for text, says := range map[string]string{
		"{size: 2}":                                   "must be a size, as 500MB or 2GB",
		"{size: 0MB}":                                 "must be a size",
		"{size: 2GBMB}":                               "must be a size",
		"{keep: 30}":                                  "must be a length of time",
		"{group_reads: true}":                         "needs history.file",
		"{off: yes please}":                           "must be true or false",
		"{records: everything }":                      "history",
		"{url: 'redis://h'}":                          "must be a Postgres",
		"{url: 'postgres://u:p@h/d'}":                 "holds a password",
		"{direct: 'postgres://u@h/d'}":                "write its history.url too",
		"{url: 'postgres://u@h/d', group: A-b}":       "must be small letters",
		"{url: 'postgres://u@h/d', group: all}":       "must not be here, all or servers",
		"{url: 'postgres://u@h/d', password_env: ''}": "is empty",
		"{size: 2GB}\nteam: EU west":                  "team: must be here, all, servers, or the history.group",
		"{size: 2GB}\nteam: eu":                       "team: is about the store of a team",
	} {
		if _, err := written(t, "history: "+text+"\n"); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), fmt.Sprintf(":%d:", 3+strings.Count(text, "\n"))) {
			t.Errorf("%s: %v, want %q and the line", text, err, says)
		}
	}
}
