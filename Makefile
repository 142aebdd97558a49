# coordtop. `make` lists what can be made. `make demo` and `make test` each work
# alone on a fresh clone: they install what they lack, as root or with DEPS=install, or ask
# (see .ci/deps).

GO        ?= go
PREFIX    ?= /usr/local
BIN       := bin/coordtop
TESTFLAGS ?=
QUICKFLAGS ?=
FUZZTIME  ?= 20s
BENCHTIME ?= 1s
TRUTHFLAGS ?=
DEPS      ?=
export DEPS

# Only the person who publishes a release can know these.
MAINTAINER ?= unset
LICENSE    ?= unset
HOMEPAGE   ?=

# Every build but those with the race detector is static, and leaves out the traces of gRPC, which keep the
# linker from dropping what nobody calls: a quarter of the program.
CGO_ENABLED ?= 0
GOFLAGS     := $(strip $(shell $(GO) env GOFLAGS 2>/dev/null) -tags=grpcnotrace)
export CGO_ENABLED GOFLAGS

# What the demo and the tests need beside Go: commands, any of which will do, and the
# Debian package that has them.
SERVERS := redis-server:redis-server postgres,pg_ctlcluster:postgresql
TOOLS   := gcc:gcc pgbouncer:pgbouncer ip:iproute2 promtool:prometheus

.DEFAULT_GOAL := help
.PHONY: help demo build install uninstall quick figures test race truth incidents stories kills lint bench bench-idle fuzz golden shots release release-test deps clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## start private servers and candidates and watch them on the board
	@GO="$(GO)" sh .ci/demo $(BIN) $(SERVERS)

build: ## build bin/coordtop, static and stripped; the version is stamped from git
	@GO="$(GO)" sh .ci/build $(BIN)

install: build ## install coordtop, its manual page and completions under PREFIX (default /usr/local)
	@set -e; umask 022; \
	put() { to="$(DESTDIR)$(PREFIX)/$$2"; mkdir -p "$${to%/*}"; cp "$$3" "$$to.new"; chmod "$$1" "$$to.new"; mv -f "$$to.new" "$$to"; echo "$$to"; }; \
	made() { $(BIN) $$2 >bin/put; put 0644 "share/$$1" bin/put; rm bin/put; }; \
	put 0755 bin/coordtop $(BIN); \
	made man/man1/coordtop.1 man; \
	made bash-completion/completions/coordtop 'completion bash'; \
	made zsh/site-functions/_coordtop 'completion zsh'; \
	made fish/vendor_completions.d/coordtop.fish 'completion fish'

uninstall: ## remove what install put under PREFIX
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/coordtop share/man/man1/coordtop.1 share/bash-completion/completions/coordtop \
		share/zsh/site-functions/_coordtop share/fish/vendor_completions.d/coordtop.fish)

quick: ## before each commit: formatting, vet and the tests that need no server, in seconds (QUICKFLAGS=-count=1: uncached)
	@GO="$(GO)" sh .ci/quick $(QUICKFLAGS)

# The commit that `make figures` compares with: the last one before the tree was put in order.
BEFORE := 9089e046^
figures: ## print how large and how regular the tree is, beside what it was at the commit BEFORE
	@set -e; d=$$(mktemp -d); trap 'rm -rf "$$d"' EXIT; mkdir "$$d/before"; ln -s "$$PWD" "$$d/now"; \
	git archive $(BEFORE) | tar -x -C "$$d/before"; \
	$(GO) run ./.ci/figures "$$d/before/" "$$d/now/"

# Packages that compute much in one goroutine and share nothing, and the comparison with the truth, which looks at a
# program of its own from outside: they run without the race detector.
ALONE := /sources/(lane|redissource/lockformat)$$|/internal/(ground/(legible|format)|history/report|truth|incidents|stories)$$
test: deps ## run each test once, with the race detector where that helps; says which packages took longest and which cases were run again
	@GO="$(GO)" ALONE='$(ALONE)' sh .ci/test -timeout 20m $(TESTFLAGS)

race: test ## the same

truth: deps build ## compare what watch prints with 2,000 random changes on each backend, over cut connections (some minutes; TRUTHFLAGS='-seed 7')
	$(GO) test -count=1 -v -timeout 30m ./internal/truth -program $(CURDIR)/$(BIN) -steps 2000 -cuts 10 $(TRUTHFLAGS)
	COORDTOP_TEST_LIVE_STATES=200 $(GO) test -count=1 -v -timeout 10m -run TestAReplayShowsWhatWasShownLive ./internal/app/backends
	COORDTOP_TRUTH_QUEUES=2000 $(GO) test -count=1 -v -timeout 30m ./sources/pgsource -run TestNextOwnersOfASelectedQueueAreForetold

incidents: deps build ## make five incidents on real servers, record them into bin/incidents and ask eight questions about each (some minutes)
	@mkdir -p bin/incidents
	$(GO) test -count=1 -v -timeout 20m -parallel 5 ./internal/incidents -program $(CURDIR)/$(BIN) -keep $(CURDIR)/bin/incidents

stories: deps build ## play incidents and their near twins on real servers, and compare what why finds with what happened (two minutes)
	$(GO) test -count=1 -v -timeout 20m ./internal/stories -program $(CURDIR)/$(BIN) -all

kills: deps ## kill a recorder 100 times on a recording of 0, 20 and 200 MB, and look at what is missing (half an hour)
	COORDTOP_TEST_KILLS=100 COORDTOP_TEST_KILL_SIZES="0 20 200" $(GO) test -count=1 -v -timeout 60m -run TestARecorderKilledAtAny ./internal/app
	COORDTOP_TEST_CHAOS=100 $(GO) test -count=1 -v -timeout 60m -run TestSeveralRecordersOfOneStore ./internal/app

# What is built only elsewhere is some hundred lines: they, and all that uses them, are checked as the
# compiler does, without translating all that they import. Memory is spent to save time.
lint: export GOGC = 400
lint: ## formatting, vet, types on darwin, staticcheck, import directions
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; }
	$(GO) vet ./... ./.ci/typecheck
	$(GO) run ./.ci/typecheck darwin
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 ./internal/lint

bench: deps ## measure the numbers of internal/measured.md (some minutes)
	$(GO) test -run '^$$' -bench . -timeout 30m -benchtime $(BENCHTIME) ./sources ./sources/redissource ./sources/pgsource ./sources/ydbsource ./coord/pgcoord ./coord/ydbcoord ./ui/... ./internal/app

bench-idle: deps build ## measure what an idle board costs, beside htop if there is one and OTHER=a build named coordtop... (half an hour)
	COORDTOP_BENCH_IDLE="$(CURDIR)/$(BIN) $(OTHER) $$(command -v htop)" $(GO) test -run '^$$' -bench BenchmarkIdle -benchtime 1x -count 3 -timeout 60m ./internal/app

fuzz: ## draw a million nonces, then run every fuzz test for FUZZTIME (default 20s each)
	COORDTOP_TEST_NONCES=1000000 $(GO) test -count=1 -run Nonce ./internal/ground/legible ./sources/redissource/lockformat
	@for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; done

golden: ## write the golden files anew; review the diff
	$(GO) test ./ui ./internal/headless ./internal/config -update

shots: deps build ## draw the pictures anew from the running demo and from a recorded incident (some minutes)
	@mkdir -p bin/incidents
	$(GO) test -count=1 -run TestTwoEnvironments ./internal/incidents -program $(CURDIR)/$(BIN) -keep $(CURDIR)/bin/incidents
	$(GO) test -count=1 -run 'TestThePicturesOf.*AreDrawn' -parallel 1 ./internal/shots -program $(CURDIR)/$(BIN) -recording $(CURDIR)/bin/incidents/TwoEnvironmentsWithTheSameNames.coordtop

release: ## build programs, archives, deb, rpm, image, SBOM, changelog and checksums into dist/ (MAINTAINER='Ana <ana@example>' LICENSE=... HOMEPAGE=...)
	@cd .ci/release && GOFLAGS= $(GO) run . -maintainer "$(MAINTAINER)" -license "$(LICENSE)" -homepage "$(HOMEPAGE)"

release-test: ## release the last commit twice, compare, install the deb in a clean root, look into the image (as root, some minutes)
	@GO="$(GO)" bash .ci/release/test

deps: ## install what the demo and the tests need: as root, or with DEPS=install, or ask
	@sh .ci/deps $(SERVERS) $(TOOLS)

clean: ## remove what was built
	rm -rf bin dist
