# SPDX-License-Identifier: Apache-2.0
# mod_cpuaffinity: everything is built into build/, on top of apxs.
#   make            the module and the command line tool
#   make deps       installs the Debian packages that are missing
#   make run        a private httpd with the module, showing its map
#   make test       all tests; check: the same without looking for packages
#   make test-repeat N=20   the suite N times, half of them beside busy CPUs
#   make test-browser   headless Chromium against the fixed-process mode
#   make differential N=100000   generated requests to stock httpd and fixed
#   make configurations   measures the loop's share in those of t/configs and
#                   writes docs/configurations.md and the table of README
#   make soak       a thousand graceful restarts under load (RESTARTS=),
#                   requests for 100 000 files (FILES=)
#   make asan       all tests with address and undefined behaviour sanitizers
#   make valgrind   unit tests under memcheck, the placer under helgrind
#   make fuzz       each fuzz target for FUZZ_SECONDS (60)
#   make coverage   line coverage of all tests
#   make lint       clang-format, clang-tidy, rooms, sizes; format: reformats
#   make bench-affinity   CPUAffinity against taskset (BENCH_FLAGS)
#   make bench      the comparison (QUICK=1: under five minutes; BENCH_FLAGS)
#   make bench-readme     the tables of README and docs from the last bench
#   make install    module, tool, sample configuration (DESTDIR=), where apxs
#                   says; uninstall: removes them; edited files are left
#   make clean      removes build/

BUILD   ?= build
CC      ?= cc
APXS    ?= $(shell command -v apxs || command -v apxs2 || echo /usr/bin/apxs)
CLANG_FORMAT ?= clang-format
CLANG_TIDY   ?= clang-tidy
PROVE   ?= prove
# Tests wait more than they work: two at a time are on a par with the CPUs.
PROVE_FLAGS ?= -j2
OPT     ?= -O2 -g
# V=1 shows the commands; WERROR=1 makes warnings errors, as CI does. The
# module is built for, and tested with, the httpd whose apxs APXS is.
export APXS
Q       := $(if $(V),,@)
SAY     := @$(if $(V),:,echo)

# What tests and "make run" need beside a compiler, as Debian packages.
DEPS := apache2-bin apache2-dev libhwloc-dev libjansson-dev pkg-config gcc make perl curl \
	clang clang-format clang-tidy valgrind libclang-rt-14-dev libpcre2-dev libssl-dev \
	python3 nghttp2-client util-linux libc6-dev media-types openssl strace \
	apache2-utils libnet-ssleay-perl libffi-platypus-perl wget
DEPS_BENCH := wrk nginx libnginx-mod-http-lua lighttpd lighttpd-mod-openssl \
	haproxy r-base-core r-cran-ggplot2 r-cran-svglite iproute2

# Targets that need the packages install them first, then start over, so
# that apxs and pkg-config are asked once they are there.
HAVE_DEPS := $(wildcard $(APXS) /usr/bin/apxs)
ifneq ($(HAVE_DEPS),)
SBINDIR  := $(shell $(APXS) -q SBINDIR)
PROGNAME := $(shell $(APXS) -q PROGNAME)
LIBEXEC  := $(shell $(APXS) -q LIBEXECDIR)
SYSCONFDIR := $(shell $(APXS) -q SYSCONFDIR)
BINDIR   := $(shell $(APXS) -q bindir)
DATADIR  := $(shell dirname "$$($(APXS) -q datadir)")
HTTPD    ?= $(SBINDIR)/$(PROGNAME)
APR_INC  := $(shell apr-1-config --includes --cppflags)
APU_INC  := $(shell apu-1-config --includes)
APR_LIB  := $(shell apr-1-config --link-ld --libs)
HTTPD_INC := -isystem $(shell $(APXS) -q INCLUDEDIR)
LIB_CFLAGS := $(shell pkg-config --cflags hwloc jansson 2>/dev/null)
LIBS     := $(shell pkg-config --libs hwloc jansson 2>/dev/null)
endif

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla -Wformat=2 -Wno-unused-parameter $(if $(WERROR),-Werror)
CPPFLAGS_ALL = -D_GNU_SOURCE -I. -Isrc $(HTTPD_INC) $(APR_INC) $(APU_INC) \
	$(LIB_CFLAGS) $(CPPFLAGS)
CFLAGS_ALL = -std=gnu11 $(OPT) -fPIC -fvisibility=hidden -pthread \
	-fstack-protector-strong $(WARN) $(CFLAGS) $(SAN)

# Pure code: no httpd header; the tool, unit tests and fuzzers link it alone.
PURE := cpuset discover topology units cgroup policy deal plan plan_make planwarn planview tasks pin
PURE_SRC := $(PURE:%=src/affinity/%.c) $(wildcard src/base/*.c \
	src/http/*.c) src/report/advice.c \
	$(filter-out src/cache/key_hints.c,$(wildcard src/cache/*.c))
SRC := mod_cpuaffinity.c $(filter-out src/cli/%,$(wildcard src/*/*.c))
OBJ := $(SRC:%.c=$(BUILD)/obj/%.o)
PURE_OBJ := $(PURE_SRC:%.c=$(BUILD)/obj/%.o)
CLI_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard src/cli/*.c))
UNIT := $(patsubst t/unit/%.c,$(BUILD)/unit/%.t,$(wildcard t/unit/*.c))
FUZZ := $(patsubst t/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard t/fuzz/*.c))
BENCH_TOOLS := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
TOOL := $(patsubst t/tool/%.c,$(BUILD)/tool/%,$(wildcard t/tool/*.c))
PRELOADED := $(patsubst t/preload/%.c,$(BUILD)/preload/%.so, \
	$(wildcard t/preload/*.c))
REPLAY := $(patsubst t/fuzz/%.c,$(BUILD)/replay/%,$(wildcard t/fuzz/*.c))
ALL_C := $(SRC) $(wildcard src/cli/*.c t/unit/*.c t/fuzz/*.c t/tool/*.c \
	t/preload/*.c bench/*.c)
ALL_H := $(wildcard src/*/*.h t/unit/*.h bench/*.h)

.DEFAULT_GOAL := all
.PHONY: help test-browser all deps run test check lint format asan valgrind fuzz coverage \
	install clean unit replay bench bench-affinity bench-tools bench-readme
help:
	@sed -n "s/^#   //p" Makefile

all: $(BUILD)/mod_cpuaffinity.so $(BUILD)/cpuaffinity

$(BUILD)/mod_cpuaffinity.so: $(OBJ)
	$(SAY) "ld $@"
	$(Q)$(CC) -shared $(CFLAGS_ALL) $(LDFLAGS) -Wl,-z,now -o $@ $(OBJ) $(LIBS)

$(BUILD)/cpuaffinity: $(CLI_OBJ) $(PURE_OBJ)
	$(SAY) "ld $@"
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS) $(APR_LIB)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) "cc $<"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# A unit test or a fuzz target may name further sources it needs in a
# first-lines comment "links: src/affinity/pin.c"; the pure ones are always
# there.
.SECONDEXPANSION:
links = $(shell sed -n 's/^.*links: *//p' $(1))
# "libs: -lNAME": a library that only this program needs.
libs = $(shell sed -n 's/^.*libs: *//p' $(1))

$(BUILD)/unit/%.t: t/unit/%.c $(PURE_OBJ) t/unit/tap.h \
    $$(call links,t/unit/$$*.c)
	@mkdir -p $(@D)
	$(SAY) "cc $@"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -o $@ $< $(call links,$<) \
	    $(PURE_OBJ) $(LIBS) $(APR_LIB) -ldl

# Pure code behind a pipe, for tests that compare it with a real httpd.
$(BUILD)/tool/%: t/tool/%.c $(PURE_OBJ)
	@mkdir -p $(@D)
	$(SAY) "cc $@"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -o $@ $< $(PURE_OBJ) $(LIBS) \
	    $(APR_LIB)

# Loaded into a httpd by a test, in front of the C library.
$(BUILD)/preload/%.so: t/preload/%.c
	@mkdir -p $(@D)
	$(SAY) "ld $@"
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 $(OPT) $(WARN) $(CFLAGS) -fPIC \
	    -shared -o $@ $<

$(BUILD)/replay/%: t/fuzz/%.c t/fuzz/replay.h $(PURE_OBJ) \
    $$(call links,t/fuzz/$$*.c)
	@mkdir -p $(@D)
	$(SAY) "cc $@"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -DREPLAY -o $@ $< \
	    $(call links,$<) $(PURE_OBJ) $(LIBS) $(call libs,$<) $(APR_LIB)

$(BUILD)/fuzz/%: t/fuzz/%.c $(PURE_SRC) $$(call links,t/fuzz/$$*.c)
	@mkdir -p $(@D)
	clang $(CPPFLAGS_ALL) -std=gnu11 -g -O1 \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	    -o $@ $< $(call links,$<) $(PURE_SRC) $(LIBS) $(call libs,$<) \
	    $(APR_LIB)

unit: $(UNIT)
replay: $(REPLAY)

tool: $(TOOL) $(PRELOADED)

deps:
	@./t/deps $(DEPS)

run: deps
	@$(MAKE) --no-print-directory all
	@HTTPD=$(HTTPD) ./t/run

test: deps
	@$(MAKE) --no-print-directory check

TESTS ?= $(wildcard t/*.t)
check: all unit replay tool bench-tools
	BUILD=$(BUILD) $(PROVE) $(PROVE_FLAGS) $(TESTS) $(UNIT)

# The suite N times over; every second time beside a program per CPU that
# keeps it busy. Names every test that ever failed.
.PHONY: test-repeat
test-repeat: deps
	@$(MAKE) --no-print-directory all unit replay tool bench-tools
	@BUILD=$(BUILD) ./t/test-repeat $(if $(filter command\ line,$(origin N)),$(N),20) \
	    $(PROVE) $(PROVE_FLAGS) $(TESTS) $(UNIT)

# A thousand graceful restarts under load, keep-alive and not: none may lose
# a connection, and memory must be what it was before. Then many more files
# than can be remembered. About half an hour; not in CI.
.PHONY: soak
soak: deps
	@$(MAKE) --no-print-directory all
	RESTARTS=$(or $(RESTARTS),1000) FILES=$(or $(FILES),100000) \
	    BUILD=$(BUILD) $(PROVE) -v t/fixed-restart.t \
	    t/static-restart.t t/static-many.t

test-browser: deps
	@./t/deps chromium
	@$(MAKE) --no-print-directory all
	BUILD=$(BUILD) $(PROVE) $(PROVE_FLAGS) t/browser/*.t

# Measures which share of requests the loop answers in the configurations of
# t/configs, and writes TARGETS and the documents anew.
configurations: deps
	@$(MAKE) --no-print-directory all
	SURVEY=write BUILD=$(BUILD) $(PROVE) t/learn-survey.t
.PHONY: configurations

N ?= 100000
differential: deps
	@$(MAKE) --no-print-directory all
	BUILD=$(BUILD) N=$(N) $(PROVE) -v t/static-differential.t
.PHONY: differential

lint: deps
	@$(MAKE) --no-print-directory lint-now
.PHONY: lint-now
lint-now:
	@$(CLANG_FORMAT) --dry-run -Werror $(ALL_C) $(ALL_H)
	@./t/lint-rooms
	@printf '%s\n' $(filter-out t/fuzz/%,$(ALL_C)) | xargs -P 2 -n 8 \
	    sh -c '$(CLANG_TIDY) --quiet "$$@" -- $(CPPFLAGS_ALL) -std=gnu11' x

format:
	$(CLANG_FORMAT) -i $(ALL_C) $(ALL_H)

asan: deps
	ASAN_OPTIONS=use_sigaltstack=0:detect_leaks=0 \
	PRELOAD=$$($(CC) -print-file-name=libasan.so) SANITIZER=address \
	    $(MAKE) --no-print-directory check BUILD=build/asan \
	    SAN="-fsanitize=address,undefined -fno-omit-frame-pointer"

valgrind: deps
	@$(MAKE) --no-print-directory all unit
	@set -e; for t in $(UNIT); do echo "$$t"; \
	    valgrind -q --error-exitcode=9 --leak-check=no \
	    --suppressions=t/valgrind.supp $$t >/dev/null; done
	@./t/helgrind $(BUILD)/unit

FUZZ_SECONDS ?= 60
fuzz: deps
	@$(MAKE) --no-print-directory $(FUZZ)
	@set -e; for f in $(notdir $(FUZZ)); do mkdir -p build/corpus/$$f; \
	    $(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=5 \
	    -print_final_stats=1 build/corpus/$$f t/fuzz/corpus/$$f; done

coverage: deps
	$(MAKE) --no-print-directory check BUILD=build/cov OPT="-O0 -g" \
	    SAN="--coverage"
	@lcov -q -c -d build/cov -o build/cov/lcov.info && \
	    lcov --list build/cov/lcov.info

# those that speak TLS to a server, as its clients
$(BUILD)/bench/idle $(BUILD)/bench/handshakes: BENCH_LIBS := -lssl -lcrypto
$(BUILD)/bench/idle $(BUILD)/bench/handshakes: bench/tls_client.h
$(BUILD)/bench/%: bench/%.c
	@mkdir -p $(@D)
	$(SAY) "cc $<"
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -pthread $(OPT) $(WARN) $(CFLAGS) \
	    -o $@ $< $(BENCH_LIBS)

bench-tools: $(BENCH_TOOLS)

bench: deps
	@./t/deps $(DEPS_BENCH)
	@$(MAKE) --no-print-directory all bench-tools
	@HTTPD=$(HTTPD) BUILD=$(BUILD) ./bench/run $(if $(QUICK),--quick) \
	    $(BENCH_FLAGS)

bench-readme:
	@./bench/headline

bench-affinity:
	@$(MAKE) --no-print-directory bench \
	    BENCH_FLAGS="--only ^affinity- $(BENCH_FLAGS)"

# Debian's layout, or httpd's own: there both files are for an Include.
ifeq ($(PROGNAME),apache2)
CONF_DIR := $(SYSCONFDIR)/mods-available
else
CONF_DIR := $(SYSCONFDIR)/extra
endif
SHIPPED := $(DATADIR)/mod_cpuaffinity
CONF_FILES := cpuaffinity.load cpuaffinity.conf

.PHONY: $(BUILD)/conf/cpuaffinity.load
$(BUILD)/conf/cpuaffinity.load:
	@mkdir -p $(@D)
	@echo "LoadModule cpuaffinity_module $(LIBEXEC)/mod_cpuaffinity.so" >$@

$(BUILD)/conf/cpuaffinity.conf: conf/cpuaffinity.conf
	@mkdir -p $(@D)
	@cp $< $@

# An edited file is left as it is. Directories are made, below DESTDIR too.
install: all $(CONF_FILES:%=$(BUILD)/conf/%)
	install -d "$(DESTDIR)$(LIBEXEC)" "$(DESTDIR)$(BINDIR)"
	install -m 644 $(BUILD)/mod_cpuaffinity.so "$(DESTDIR)$(LIBEXEC)/"
	install -m 755 $(BUILD)/cpuaffinity "$(DESTDIR)$(BINDIR)/cpuaffinity"
	@set -e; for f in $(CONF_FILES); do ./conf/put install \
	    "$(BUILD)/conf/$$f" "$(DESTDIR)$(CONF_DIR)/$$f" \
	    "$(DESTDIR)$(SHIPPED)/$$f"; done
	@echo "installed; $(CONF_DIR) has $(CONF_FILES)"

# What install has put there; an edited file is left, and named.
uninstall:
	rm -f "$(DESTDIR)$(LIBEXEC)/mod_cpuaffinity.so" \
	    "$(DESTDIR)$(BINDIR)/cpuaffinity"
	@set -e; for f in $(CONF_FILES); do ./conf/put remove \
	    "$(DESTDIR)$(CONF_DIR)/$$f" "$(DESTDIR)$(SHIPPED)/$$f"; done
	@rmdir "$(DESTDIR)$(SHIPPED)" 2>/dev/null || true
.PHONY: uninstall

clean:
	rm -rf build

-include $(OBJ:.o=.d) $(CLI_OBJ:.o=.d)
