# TMA Lab. `make` alone lists what there is to make. Everything is installed into .venv from requirements.lock;
# `make TARGET PY=python3` uses the Python that you name instead, as it is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help book serve test test-js test-pythons test-frontends lint format live record lock tools clean

VENV := .venv
PY := $(VENV)/bin/python
PORT := 8000
SITE := _build/html

# The first Python 3.11 to 3.13 that really runs: a name may be there and still fail (a pyenv shim, no ensurepip).
FITS := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
FIND_PYTHON := for python in python3.13 python3.12 python3.11 python3 python; do \
	if $$python -c '$(FITS)' 2>/dev/null; then echo $$python; break; fi; done

# A Python that you name is yours to fill.
READY := $(if $(filter file,$(origin PY)),$(VENV)/.ready)
JUPYTER_BOOK := $(PY) -c "from jupyter_book.cli.main import main; main()"
NBVAL := $(PY) -m pytest --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg \
	--nbval-cell-timeout=120 -p no:cacheprovider

help:  ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

$(VENV)/.ready: requirements.lock
	@if [ ! -x $(VENV)/bin/python ]; then \
		python=$$($(FIND_PYTHON)); \
		[ -n "$$python" ] || { echo 'make: no Python 3.11, 3.12 or 3.13 with venv here (Debian: apt-get install' \
			'python3 python3-venv); or name one: make TARGET PY=/path/to/python' >&2; exit 1; }; \
		echo "make: $(VENV) with $$($$python --version), from requirements.lock (a minute, once)"; \
		$$python -m venv $(VENV); \
	fi
	@if command -v uv >/dev/null; then uv pip install -q --python $(PY) --require-hashes -r requirements.lock; \
	else $(PY) -m pip install -q --require-hashes -r requirements.lock; fi
	@$(PY) -m pip install -q --no-deps --no-build-isolation --editable .
	@touch $@

book: $(READY) node_modules/.package-lock.json  ## build the book; only what changed is built again
	@$(JUPYTER_BOOK) build . --quiet -W -n --keep-going
	@echo "make: the book is built. Open file://$(CURDIR)/$(SITE)/index.html, or: make serve"

serve: book  ## build the book and serve it to this machine alone
	@echo "make: http://127.0.0.1:$(PORT)/ (stop with Ctrl-C)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory $(SITE) $(PORT)

test: $(READY) tools tests/node_modules/.package-lock.json book test-js  ## everything that needs no GPU
	TMALAB_BOOK=$(SITE) $(PY) -m pytest -n 2 --dist loadfile --timeout=600
	$(NBVAL) chapters/*.ipynb

test-js: tools
	node --test tests/js/*.test.mjs

test-pythons:  ## the package and its model on each other Python that is here, with numpy alone
	@for python in python3.11 python3.12 python3.13; do \
		$$python -c '$(FITS)' 2>/dev/null || { echo "make: $$python is not here"; continue; }; \
		[ -x .cache/$$python/bin/python ] || $$python -m venv .cache/$$python; \
		.cache/$$python/bin/python -m pip install -q numpy pytest hypothesis \
			-c <(sed -n '/^[a-z]/s/ *\\$$//p' requirements.lock); \
		PYTHONPATH=. .cache/$$python/bin/python -m pytest -q -p no:cacheprovider tests/model tests/experiment; \
	done

TIRX_CUDA := cuda-bindings==13.*,nvidia-cuda-nvrtc==13.*,nvidia-cuda-runtime==13.*,nvidia-cuda-cccl==13.*,nvidia-cuda-crt==13.*
# name: what pip installs, parted by commas. An environment each, since they need not fit together; Python as .venv's.
FRONT_ENDS := cute:nvidia-cutlass-dsl[cu13]==4.8.1,nvidia-cuda-nvdisasm==13.* cute-421:nvidia-cutlass-dsl==4.2.1 triton:triton==3.6.0 \
	tirx:apache-tvm-tirx==0.1.0a4,apache-tvm-ffi==0.1.15.post2,apache-tvm-ffi-orcjit==0.1.3,$(TIRX_CUDA) \
	cuda-core:cuda-core[cu13]==1.2.2 numba:numba-cuda[cu13]==0.30.4 \
	pallas:jax==0.11.2 cccl:nvidia-cuda-cccl==13.3.5.0.6,cuda-core[cu13]==1.2.2 \
	cccl-3.4:nvidia-cuda-cccl==13.3.4.3.1,cuda-core[cu13]==1.2.2
# TileLang brings torch and its CUDA libraries, 5 GB: make test-frontends LARGE=1
FRONT_ENDS += $(if $(LARGE),tilelang:tilelang==0.1.15)

test-frontends: $(READY)  ## compile every front end's programs, each in an environment of its own; no GPU needed
	@for front_end in $(FRONT_ENDS); do \
		env=.cache/front-end-$${front_end%%:*}; \
		IFS=, read -ra wanted <<<"$${front_end#*:}"; \
		echo "make: $${wanted[*]}"; \
		[ -x $$env/bin/python ] || $(PY) -m venv $$env; \
		if $$env/bin/python -m pip install -q "$${wanted[@]}" numpy pytest; then \
			PYTHONPATH=. $$env/bin/python -m pytest -q -p no:cacheprovider tests/frontends; \
		else echo "make: $${front_end#*:} could not be installed here; its programs are not compiled" >&2; fi; \
	done

lint: $(READY)  ## ruff, mypy and codespell
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m codespell_lib

format: $(READY)  ## let ruff lay out the code and mend what it can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

live: $(READY)  ## on a Hopper GPU: its tests, and every chapter run anew
	TMALAB_REQUIRE_GPU=1 $(PY) -m pytest -m gpu
	TMALAB_SOURCE=live $(NBVAL) chapters/*.ipynb

record: $(READY)  ## on a Hopper GPU: write every recording anew
	$(PY) -m tmalab record

lock:  ## resolve pyproject.toml again into requirements.lock (needs uv)
	uv pip compile pyproject.toml --upgrade --universal --python-version 3.11 --extra test --generate-hashes \
		--no-annotate --no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock

# The browser and the JavaScript runner are not Python's: Debian has them. As root they are installed, else asked for.
tools: $(READY)
	@need=(); \
	command -v chromium >/dev/null || need+=(chromium); \
	command -v node >/dev/null || need+=(nodejs); \
	command -v npm >/dev/null || need+=(npm); \
	$(PY) -m playwright --version >/dev/null 2>&1 || need+=(libatomic1); \
	if [ $${#need[@]} -gt 0 ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "make: installing $${need[*]} with apt-get"; \
			apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $${need[@]}; \
		else echo "make: the tests need $${need[*]}; on Debian: sudo apt-get install $${need[*]}" >&2; exit 1; fi; \
	fi

# Python for the page "Check my descriptor". A book without it is whole but for that: the page shows recorded answers.
node_modules/.package-lock.json: package-lock.json
	@if ! command -v npm >/dev/null; then \
		echo 'make: no npm here, so the page "Check my descriptor" will show recorded answers only (Debian: apt-get install npm)'; \
	elif npm ci --no-audit --no-fund --ignore-scripts --loglevel=error; then touch $@; \
	else echo 'make: npm could not bring Pyodide: the page "Check my descriptor" will show recorded answers only'; fi

tests/node_modules/.package-lock.json: tests/package-lock.json | tools
	npm ci --prefix tests --no-audit --no-fund --ignore-scripts
	@touch $@

clean:  ## remove what was built, but not .venv
	rm -rf _build build dist .cache .pytest_cache .ruff_cache .mypy_cache .hypothesis .jupyter_cache
