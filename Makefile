# Targets get ready the parts that they need (scripts/lib/setup.js), and run a program.

node := scripts/node
ready := $(node) scripts/setup.js
option = $(if $($(2)),--$(1) $($(2)))
export PATH := $(PATH):/usr/local/go/bin

.PHONY: help demo setup test test-matrix test-platforms docs site check-all bench experiment soak fresh prebuilds lint format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { \
	  line = sprintf("  make %-14s", $$1); n = split($$2, words, " "); \
	  for (i = 1; i <= n; i++) { \
	    if (length(line " " words[i]) > 80) { print line; line = sprintf("%21s", "") } \
	    line = line " " words[i] } \
	  print line }' $(MAKEFILE_LIST)

demo: ## build what the demo needs and run it
	@$(ready) node load
	@$(node) packages/lab/run/demo.js

setup: ## install the npm packages and build everything; PART=node: the npm packages and the addon alone; also c, go
	@$(ready) $(PART)
	@echo; echo 'In the folder of an application: npm install $(CURDIR)/packages/millrace'

test: ## build, lint, type-check and run the tests
	@$(node) scripts/test.js

test-matrix: ## the tests of the packages on Node.js 20, 22, 24 and the newest
	@$(node) scripts/test.js --matrix

test-platforms: ## the tests on other platforms: Linux x64 with musl, Linux arm64 by emulation (QUICK=1: without what is slowest there)
	@$(ready) typescript
	@$(node) scripts/test-platforms.js

docs: ## write the pages of docs/api from the doc comments of the source
	@$(ready) packages
	@$(node) scripts/docs.js

site: ## build the site from the documents and serve it (PORT=4173); OUT=folder only builds, into that folder
	@scripts/node scripts/site.js

check-all: ## make test, and the long tests after it (FUZZ_SECONDS=60 SOAK_SECONDS=120)
	@$(node) scripts/test.js --all

bench: ## list the benchmarks; run one: NAME=emitter, or NAME=all [QUICK=1] [JSON=1] [SAVE=1]
	@$(node) scripts/bench.js

experiment: ## test every published claim: SIZE=quick takes a quarter of an hour, medium 100 minutes, paper 40 hours; one: NAME=chat-equal [ROUNDS=9]; those of millrace/auto: NAME=auto; LIST=1 lists them
	@$(node) scripts/experiment.js

soak: ## an hour of the chat with a fault every minute (SOAK_SECONDS=3600)
	@$(ready) node load nats-server postgresql
	@$(node) examples/chat/soak/main.js $(call option,plan,PLAN) $(call option,seconds,SOAK_SECONDS) $(call option,every,EVERY) \
	  $(call option,seed,SEED) $(call option,markdown,MARKDOWN)

fresh: ## make test and make demo in a new clone of HEAD, with an empty HOME and no terminal
	@scripts/fresh

prebuilds: ## compile the addon for every platform, as packages in packages/millrace/prebuilds, beside that of the C; one: PLATFORM=linux-x64-musl
	@$(ready) typescript
	@$(node) scripts/prebuilds.js $(PLATFORM)

lint: ## check format and lint rules
	@$(ready) packages
	@node_modules/.bin/biome ci

format: ## format every file and apply the safe fixes
	@$(ready) packages
	@node_modules/.bin/biome check --write
	@! command -v gofmt >/dev/null || gofmt -l -w go bench/go

clean: ## remove everything that was installed or built
	@find . -path ./.git -prune -o -type d \( -name node_modules -o -name dist -o -name build -o -name .cache \) \
	  -prune -printf 'removed %P\n' -exec rm -r {} +
	@rm -rf packages/lab/types packages/millrace/prebuilds
