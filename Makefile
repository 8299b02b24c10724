# make demo   set up and punctuate a sample lecture with the bundled model
# make test   set up and run the tests
# make check  lint, types, format
# make bench  speed, as ratios within one run
# make model  the bundled model from its corpora (CORPUS=FOLDER), in resumable steps; nine hours and more on two CPU cores
# make model-gpu  a larger one, for a machine with an accelerator
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
READY = $(VENV)/.ready

export HF_HUB_OFFLINE = 1
export HF_DATASETS_OFFLINE = 1
export TOKENIZERS_PARALLELISM = false

CORPUS ?= ../shared/corpus
STYLE = meeting
MARK_ODDS = {",": 2.5, ".": 2.0, "?": 2.0, "!": 8.0}
MAX_MARKS = {"talk": 1, "meeting": 1}
STAGES = warmup short long anneal full more next last gpu-warmup gpu-main gpu-last
SAVE = import sys, torch; from t5punct import model; model.save(model.load(sys.argv[1]).with_task(default_style="$(STYLE)", mark_odds=$(MARK_ODDS), style_max_marks=$(MAX_MARKS)), "t5punct/models/base", dtype=torch.bfloat16)

.PHONY: demo test check bench model model-gpu setup clean
.PRECIOUS: prepared/%/dataset_dict.json

demo: setup
	$(BIN)/t5punct punctuate tests/data/lecture.txt

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python benchmarks/decoding.py

model: setup runs/last.done
	$(BIN)/python -c '$(SAVE)' runs/last

model-gpu: setup runs/gpu-last.done
	$(BIN)/python -c '$(SAVE)' runs/gpu-last

runs/short.done: runs/warmup.done
runs/long.done: runs/short.done prepared/long/dataset_dict.json
runs/anneal.done: runs/long.done
runs/full.done: runs/anneal.done prepared/full/dataset_dict.json
runs/more.done: runs/full.done prepared/more/dataset_dict.json
runs/next.done: runs/more.done prepared/next/dataset_dict.json
runs/last.done: runs/next.done prepared/anneal/dataset_dict.json
runs/warmup.done: prepared/short/dataset_dict.json
prepared/long/dataset_dict.json prepared/full/dataset_dict.json: prepared/short/dataset_dict.json
prepared/more/dataset_dict.json prepared/next/dataset_dict.json prepared/anneal/dataset_dict.json: prepared/short/dataset_dict.json
runs/gpu-warmup.done prepared/gpu/dataset_dict.json: prepared/short/dataset_dict.json
runs/gpu-main.done: runs/gpu-warmup.done prepared/gpu/dataset_dict.json
runs/gpu-last.done: runs/gpu-main.done

$(foreach stage,$(STAGES),$(eval runs/$(stage).done: $(wildcard configs/pretrain-?-$(stage).yaml)))
$(foreach data,short long full more next anneal gpu,$(eval prepared/$(data)/dataset_dict.json: configs/prepare-$(data).yaml))

runs/%.done:
	@test ! -e $@ || { echo "runs/$* was made with other settings or data: rm -r runs/$* $@"; exit 2; }
	$(BIN)/python train.py --config configs/pretrain-?-$*.yaml resume=$(if $(wildcard runs/$*/state.json),true,false)
	touch $@

prepared/%/dataset_dict.json:
	$(BIN)/t5punct prepare --config configs/prepare-$*.yaml root=$(CORPUS)

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "t5punct needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'torch==2.13.0'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) build dist
