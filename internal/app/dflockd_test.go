package app

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

// dflockd starts an emulator and returns a URL of it.
func dflockd(t *testing.T, o dflocktest.Options) (*dflocktest.Server, string) {
	t.Helper()
	s, err := dflocktest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, "dflockd://" + s.Addr()
}

func TestDflockdIsWatchedLedAndResigned(t *testing.T) {
	t.Parallel()
	server, url := dflockd(t, dflocktest.Options{})
	h := holds(t, "campaign", "--write", "--yes", url+"?election=billing/leader")
	l := h.line(1, "acquired")
	w := newWorld(t)
	if code := w.main(t.Context(), "get", url+"?election=*"); code != 0 {
		t.Errorf("exit code %d: %s", code, w.stderr)
	}
	if text := w.stdout.String(); l.Owner == nil || !strings.Contains(text, "billing/leader") || !strings.Contains(text, l.Owner.ID) || !strings.Contains(text, "led") {
		t.Errorf("%+v leads, and get says %s", l.Owner, text)
	}
	h.types("proclaim anything")
	h.line(2, "refused")
	h.types("resign")
	h.line(3, "resigning")
	h.line(4, "resigned")
	h.ends(0)
	if e, err := server.Entry("billing/leader"); err != nil || len(e.Owners) != 0 {
		t.Errorf("it is %+v, %v", e, err)
	}
}

func TestAClaimOfASemaphoreNamesItsLimit(t *testing.T) {
	t.Parallel()
	server, url := dflockd(t, dflocktest.Options{})
	if _, err := server.Own("pool", 3, time.Minute); err != nil {
		t.Fatal(err)
	}
	known := holds(t, "acquire", "--write", "--yes", "--permits", "2", url+"?semaphore=pool")
	known.line(1, "acquired")
	known.types("resign")
	known.line(2, "resigning")
	known.line(3, "resigned")
	known.ends(0)
	holds(t, "acquire", "--write", "--yes", url+"?semaphore=unused").ends(exitCannot)
	named := holds(t, "acquire", "--write", "--yes", "--limit", "4", url+"?semaphore=unused")
	named.line(1, "acquired")
	if e, err := server.Entry("unused"); err != nil || e.Limit != 4 || len(e.Owners) != 1 {
		t.Errorf("it is %+v, %v", e, err)
	}
	named.types("resign")
	named.line(2, "resigning")
	named.line(3, "resigned")
	named.ends(0)
}

// TestALeaseIsRenewedInTimeWhateverTheURLWishes is of windows in which the usual pause, or the one that
// the URL names, leaves no room for a second try.
func TestALeaseIsRenewedInTimeWhateverTheURLWishes(t *testing.T) {
	t.Parallel()
	for _, wishes := range []string{"&idle=1s", "&lease=1s", "&lease=3s&renew=5s", "&idle=2s&renew=1m", "&lease=2s&renew=1s&idle=1s"} {
		_, url := dflockd(t, dflocktest.Options{})
		h := holds(t, "acquire", "--write", "--yes", url+"?mutex=m"+wishes)
		h.line(1, "acquired")
		h.types("resign")
		h.line(2, "resigning")
		h.line(3, "resigned")
		h.ends(0)
	}
}

func TestTheSecretOfDflockdIsItsPassword(t *testing.T) {
	t.Parallel()
	_, url := dflockd(t, dflocktest.Options{Secret: "s3cret-a"})
	w := newWorld(t)
	if code := w.main(t.Context(), "get", url); code != exitNoAnswer || !strings.Contains(w.stderr.String(), "wants an auth token: give it with password_env") {
		t.Errorf("without it: exit code %d: %s", code, w.stderr)
	}
	if code := newWorld(t).main(t.Context(), "get", strings.Replace(url, "://", "://:s3cret-a@", 1)); code != 0 && code != exitNotFound {
		t.Errorf("in the URL: exit code %d", code)
	}
	w = newWorld(t)
	w.vars["LOCK_SECRET"] = "s3cret-b"
	w.write(t, configFile, "sources: [{name: locks, url: '"+url+"', password_env: LOCK_SECRET}]\n")
	if code := w.main(t.Context(), "get"); code != exitNoAnswer || strings.Contains(w.stderr.String(), "s3cret-b") || !strings.Contains(w.stderr.String(), "refuses our auth token: check it") {
		t.Errorf("a wrong one: exit code %d: %s", code, w.stderr)
	}
}

func TestALimitMustFitTheClaim(t *testing.T) {
	t.Parallel()
	server, url := dflockd(t, dflocktest.Options{})
	if _, err := server.Own("pool", 3, time.Minute); err != nil {
		t.Fatal(err)
	}
	for query, says := range map[string]string{"?semaphore=pool": "its limit is 3", "?mutex=m": "no claim of it takes a limit"} {
		w := newWorld(t)
		if code := w.main(t.Context(), "acquire", "--write", "--yes", "--limit", "9", url+query); code != exitCannot || !strings.Contains(w.stderr.String(), says) {
			t.Errorf("%s: exit code %d: %s", query, code, w.stderr)
		}
	}
}

// TestASemaphoreIsNotClaimedAsAMutex: whoever asks for a mutex would get no more than a permit.
func TestASemaphoreIsNotClaimedAsAMutex(t *testing.T) {
	t.Parallel()
	server, url := dflockd(t, dflocktest.Options{})
	if _, err := server.Own("pool", 3, time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"?mutex=pool", "?election=pool"} {
		w := newWorld(t)
		if code := w.main(t.Context(), "acquire", "--write", "--yes", url+query); code != exitCannot || !strings.Contains(w.stderr.String(), "has it as a semaphore") {
			t.Errorf("%s: exit code %d: %s", query, code, w.stderr)
		}
	}
}

// TestAWaitingClaimSaysItsPlaceAsFarAsItIsKnown: the server counts its queues only, and serves them in
// order: nobody who comes later is before us.
func TestAWaitingClaimSaysItsPlaceAsFarAsItIsKnown(t *testing.T) {
	t.Parallel()
	_, url := dflockd(t, dflocktest.Options{Newer: dflocktest.Since1_16()})
	owner := holds(t, "acquire", "--write", "--yes", url+"?mutex=m")
	owner.line(1, "acquired")
	waits := func(says string) *kept {
		h := holds(t, "acquire", "--write", "--yes", url+"?mutex=m")
		h.errs.await(t, func(s string) bool { return strings.Contains(s, "owned by conn ") && strings.Contains(s, says) })
		return h
	}
	first := waits("; we are number 1 of 1 in the queue")
	second := waits("; the queue has 2, and we are number 2 or before")
	third := waits("; the queue has 3, and we are number 3 or before")
	first.types("resign")
	first.line(1, "resigned")
	second.errs.await(t, func(s string) bool { return strings.Contains(s, "the queue has 2, and we are number 2 or before") })
	third.errs.await(t, func(s string) bool { return strings.Contains(s, "the queue has 2, and we are number 2 or before") })
	owner.types("resign")
	second.line(1, "acquired")
	third.errs.await(t, func(s string) bool { return strings.Contains(s, "; we are number 1 of 1 in the queue") })
	for _, h := range []*kept{second, third} {
		h.types("resign")
		h.ends(0)
	}
	owner.ends(0)
	first.ends(0)
}
