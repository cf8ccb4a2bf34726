# run · test · bench · lint: what the README promises. Everything else is a step of these.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# One build folder for all checkouts on a machine: warm builds are fast, and a clone stays clean.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/attestry/target
BIN := $(CARGO_TARGET_DIR)/debug/attestry
# What tests talk to: an SMTP server and the schema of OSCAL in Python; an S3 server and the AI SDK in Node.
VENV := $(HOME)/.cache/attestry/python
NODE := $(HOME)/.cache/attestry/node

.PHONY: run test test-rust bench lint fmt openapi release postgres nameserver caddy python node wrk

## Serve the API and the pages on http://127.0.0.1:8080, data in ./data
run:
	cargo build --locked --workspace --bin attestry
	exec $(BIN) serve

## Everything that must hold: formatting, lints, unit, API and command-line tests on both databases
test: lint postgres nameserver caddy python node test-rust

test-rust:
	cargo build --locked --workspace
	TEST_PYTHON=$(VENV)/bin/python TEST_NODE=$(NODE) tests/with-postgres cargo test --locked --workspace

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

fmt:
	cargo fmt --all

## The benchmark: builds a release, prints a table, writes bench/results/*.json
bench: postgres wrk nameserver
	cargo build --locked --release --package attestry-server --package attestry-bench
	POSTGRES_OPTIONS="-c shared_buffers=256MB" tests/with-postgres $(CARGO_TARGET_DIR)/release/attestry-bench $(ARGS)

## The optimised binary
release:
	cargo build --locked --release --package attestry-server
	@echo "$(CARGO_TARGET_DIR)/release/attestry"

## Writes crates/api/openapi.json anew
openapi:
	cargo build --locked --workspace --bin attestry
	$(BIN) openapi > crates/api/openapi.json

postgres:
	@ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; }

# Knot DNS, which tests start by themselves on a free port; its service is not needed.
nameserver:
	@{ command -v knotd || test -x /usr/sbin/knotd; } >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends knot >/dev/null && { systemctl disable --quiet --now knot 2>/dev/null || true; }; }

# Asks whether to serve a domain, as tests see it do; its service is not needed either.
caddy:
	@command -v caddy >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends caddy >/dev/null && { systemctl disable --quiet --now caddy 2>/dev/null || true; }; }

wrk:
	@command -v wrk >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq wrk >/dev/null; }

python:
	@command -v openssl >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openssl >/dev/null; }
	@python3 -m venv --help >/dev/null 2>&1 && python3 -c 'import ensurepip' 2>/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; }
	@cmp -s tests/requirements.txt $(VENV)/requirements.txt || { python3 -m venv --clear $(VENV) && $(VENV)/bin/pip install --quiet --no-deps -r tests/requirements.txt && cp tests/requirements.txt $(VENV)/; }

node:
	@cmp -s tests/node/package-lock.json $(NODE)/installed.json || { mkdir -p $(NODE) && cp tests/node/package*.json $(NODE)/ && (cd $(NODE) && npm ci --silent --no-audit --no-fund) && cp $(NODE)/package-lock.json $(NODE)/installed.json; }
