# run · test · bench · lint: what the README promises. Everything else is a step of these.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# One build folder for all checkouts on a machine: warm builds are fast, and a clone stays clean.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/attestry/target
BIN := $(CARGO_TARGET_DIR)/debug/attestry
# What tests talk to: an SMTP server and the schema of OSCAL in Python; an S3 server and the AI SDK in Node. Linters and
# generators of clients are there, too.
VENV := $(HOME)/.cache/attestry/python
NODE := $(HOME)/.cache/attestry/node

.PHONY: run demo test test-rust test-web bench lint fmt openapi archives release web deps packages python node

## Serve the API and the console on http://127.0.0.1:8080, data in ./data
run: web
	cargo build --locked --workspace --bin attestry
	exec $(BIN) serve

## Fill ./data-demo with a sample organization, unless that was done before, and serve it
demo: web
	cargo build --locked --workspace --bin attestry
	test -e data-demo || { rm -rf data-demo.new && $(BIN) demo --data-dir data-demo.new && mv data-demo.new data-demo; }
	exec $(BIN) serve --data-dir data-demo

## Everything that must hold: formatting, lints, unit, API and command-line tests on both databases, the console in a browser
test: deps web lint test-rust test-web

test-rust: web
	cargo build --locked --workspace
	TEST_PYTHON=$(VENV)/bin/python TEST_NODE=$(NODE) tests/with-postgres cargo test --locked --workspace

# The console in a real browser, against the real binary.
test-web: web
	@tests/deps web
	cd web && npx biome ci . && npx tsc --noEmit && npx vitest run
	cargo build --locked --workspace --bin attestry
	cd web && TEST_BINARY=$(BIN) npx playwright test

# The console, which the binary carries. Without Node the server is built without it, and says so on its page.
web:
	@if command -v node >/dev/null; then $(MAKE) --no-print-directory crates/ui/dist/index.html; else echo "Node is not installed: building without the console."; fi

# Vite needs npm 11, which comes with Node 24; an older one fetches it.
NPM := $(shell test "$$(npm --version 2>/dev/null | cut -d. -f1)" -ge 11 2>/dev/null && echo npm || echo npx --yes npm@11)
WEB := $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/api/schema.d.ts' -not -path 'web/results/*' -not -path 'web/pictures/*' 2>/dev/null)

web/node_modules/installed.json: web/package-lock.json
	cd web && $(NPM) install --no-save --silent --no-audit --no-fund && cp package-lock.json node_modules/installed.json

crates/ui/dist/index.html: $(WEB) crates/api/openapi.json web/node_modules/installed.json
	cd web && $(NPM) run --silent build
	@touch $@

lint: node
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(NODE)/node_modules/.bin/redocly lint --config tests/openapi/redocly.yaml crates/api/openapi.json
	$(NODE)/node_modules/.bin/spectral lint --quiet --fail-severity hint --ruleset tests/openapi/spectral.yaml crates/api/openapi.json

fmt:
	cargo fmt --all

## The benchmark: builds a release, prints a table, writes bench/results/*.json
bench:
	@tests/deps bench
	cargo build --locked --release --package attestry-server --package attestry-bench
	POSTGRES_OPTIONS="-c shared_buffers=256MB" tests/with-postgres $(CARGO_TARGET_DIR)/release/attestry-bench $(ARGS)

## The optimised binary
release: web
	cargo build --locked --release --package attestry-server
	@echo "$(CARGO_TARGET_DIR)/release/attestry"

## Writes crates/api/openapi.json anew
openapi:
	cargo build --locked --workspace --bin attestry
	$(BIN) openapi > crates/api/openapi.json

## The archive of a new schema, in tests/archives
archives:
	cargo build --locked --workspace --bin attestry
	cargo test --locked --workspace --test api -- --ignored write_archives

## What the tests need: Debian packages, Python and Node packages
deps: packages python node

packages:
	@tests/deps

python: packages
	@cmp -s tests/requirements.txt $(VENV)/requirements.txt || { python3 -m venv --clear $(VENV) && $(VENV)/bin/pip install --quiet --no-deps -r tests/requirements.txt && cp tests/requirements.txt $(VENV)/; }

node:
	@cmp -s tests/node/package-lock.json $(NODE)/installed.json || { mkdir -p $(NODE) && cp tests/node/package*.json $(NODE)/ && (cd $(NODE) && npm ci --silent --no-audit --no-fund) && cp $(NODE)/package-lock.json $(NODE)/installed.json; }
