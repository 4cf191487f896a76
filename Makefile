# Every target is a script under scripts/; this file only gives them names.

.PHONY: help demo setup test test-matrix docs site check-all bench experiment soak fresh lint format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { \
	  line = sprintf("  make %-12s", $$1); n = split($$2, words, " "); \
	  for (i = 1; i <= n; i++) { \
	    if (length(line " " words[i]) > 80) { print line; line = sprintf("%19s", "") } \
	    line = line " " words[i] } \
	  print line }' $(MAKEFILE_LIST)

demo: ## build what the demo needs and run it
	@scripts/node scripts/demo.js

setup: ## install the npm packages and build everything
	@scripts/node scripts/setup.js

test: ## build, lint, type-check and run the tests
	@scripts/node scripts/test.js

test-matrix: ## the tests of the packages on Node.js 20, 22, 24 and the newest
	@scripts/node scripts/test.js --matrix

docs: ## write the pages of docs/api from the doc comments of the source
	@scripts/node scripts/docs.js

site: ## write the documents as a static site with search, into .cache/site or OUT=folder
	@scripts/node scripts/site.js

check-all: ## make test, and the long tests after it (FUZZ_SECONDS=60 SOAK_SECONDS=120)
	@scripts/node scripts/test.js --all

bench: ## list the benchmarks; run one: NAME=emitter, or NAME=all [QUICK=1] [JSON=1] [SAVE=1]
	@scripts/node scripts/bench.js

experiment: ## test every published claim: SIZE=quick takes a quarter of an hour, medium 100 minutes, paper 40 hours; one: NAME=chat-equal [ROUNDS=9]; those of millrace/auto: NAME=auto; LIST=1 lists them
	@scripts/node scripts/experiment.js

soak: ## an hour of the chat with a fault every minute (SOAK_SECONDS=3600)
	@scripts/node scripts/soak.js

fresh: ## make test and make demo in a new clone of HEAD, with an empty HOME and no terminal
	@scripts/node scripts/fresh.js

lint: ## check format and lint rules
	@scripts/node scripts/biome.js ci

format: ## format every file and apply the safe fixes
	@scripts/node scripts/biome.js check --write

clean: ## remove everything that was installed or built
	@scripts/node scripts/clean.js
