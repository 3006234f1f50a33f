# SPDX-License-Identifier: Apache-2.0
"""Who takes part: how each is configured, started and pinned.

A contestant runs a site: "static", "many" (static, caches for 100 000 files),
"logs" (static, access logs on), "pids" (static, a log of process ids), "gzip"
(static, text compressed), "dynamic" (static and /hello), "https" and "https12"
(static over TLS 1.3 and 1.2) or "proxy".
"""

import copy
import gzip
import os
import random
import resource
import shutil
import subprocess
import tempfile
import time

from . import procs
from .machine import cpus, output
from .scenarios import TLS
from .server import BenchError, Server
from .trial import loop_answers

HTTPD_PROCESSES = 8
STATIC = ("static", "many", "logs", "pids", "gzip", "dynamic", *TLS)
# how many files nginx keeps open, and for how long it trusts them
# (httpd-fixedstatic.conf has the same for "many"); less where fewer
# descriptors are allowed
OPEN_FILES = {"many": (120000, "60s")}
SPARE_FILES = 2000


class Contestant:
    def __init__(self, name, title, config, sites, flags=(), pin=False,
                 settings=None, note="", trial=None, limit=False):
        self.name = name
        self.title = title
        self.config = config
        self.sites = sites
        self.flags = flags
        self.pin = pin
        self.settings = settings or {}
        self.note = note
        # (address, port) of a running server with -D trial → why not, or None
        self.trial = trial
        # takes part only where a scenario names it
        self.limit = limit
        self.absent = None
        # {site: why it cannot run that one}
        self.without = {}

    def enters(self, scenario):
        named = scenario.who is None and not self.limit \
            or self.name in (scenario.who or ())
        return named and scenario.site in self.sites \
            and not self.absent and scenario.site not in self.without

    @property
    def program(self):
        return self.config.split("-")[0].split(".")[0]


def nginx_variants(quick=False):
    """The settings that are swept; the others are the best for everybody.
    quick leaves out sendfile without tcp_nopush."""
    kinds = [("off", "off"), ("on", "off"), ("on", "on")]
    if quick:
        kinds.remove(("on", "off"))
    variants = []
    for reuseport in ("", "reuseport"):
        for sendfile, nopush in kinds:
            words = [f"sendfile {sendfile}", f"tcp_nopush {nopush}",
                     "reuseport" if reuseport else "no reuseport"]
            variants.append(({"SENDFILE": sendfile, "TCP_NOPUSH": nopush,
                              "REUSEPORT": reuseport}, ", ".join(words)))
    return variants


def nginx_tls_variants():
    """Without sendfile, as it has to encrypt; what it reads at a time. Its
    records have their greatest size by default."""
    return [({"SENDFILE": "off", "TCP_NOPUSH": "off", "REUSEPORT": reuseport,
              "OUTPUT_BUFFERS": buffers}, f"output_buffers {buffers}, "
             + ("reuseport" if reuseport else "no reuseport"))
            for reuseport in ("", "reuseport")
            for buffers in ("2 32k", "1 128k")]


def nginx(settings, words, number):
    return Contestant(f"nginx-{number}", "nginx", "nginx.conf", STATIC,
                      settings=settings, note=words)


def compressing(name, title, words, sendfile):
    return Contestant(f"nginx-{name}", title, "nginx.conf", ("gzip",),
                      settings={"GZIP": words, "SENDFILE": sendfile,
                                "TCP_NOPUSH": sendfile,
                                "REUSEPORT": "reuseport"},
                      note=f"reuseport, sendfile {sendfile}", limit=True)


def table():
    """Everybody but nginx's variants, in the order of the report."""
    return [
        Contestant("stock", "httpd", "httpd-stock.conf", STATIC),
        # with sendfile nothing is mapped, unless a filter reads the file
        Contestant("tuned", "httpd, EnableMMAP Off", "httpd-stock.conf",
                   ("gzip", *TLS), flags=("nommap",)),
        Contestant("taskset", "httpd + taskset", "httpd-stock.conf", STATIC,
                   pin=True),
        Contestant("cpu", "httpd + CPUAffinity cpu", "httpd-cpu.conf",
                   STATIC),
        Contestant("auto", "httpd + CPUAffinity auto", "httpd-auto.conf",
                   STATIC),
        Contestant("fixed", "httpd fixed processes", "httpd-fixed.conf",
                   STATIC),
        Contestant("fixedstatic", "httpd fixed + static",
                   "httpd-fixedstatic.conf", STATIC,
                   trial=loop_answers),
        # for the balance: a generator on loopback is one CPU's client
        Contestant("fixedspread", "httpd fixed + static, steering off",
                   "httpd-fixedspread.conf", ("pids",), trial=loop_answers),
        # its settings are chosen by the sweep of each scenario
        Contestant("nginx", "nginx", "nginx.conf", STATIC),
        # compressing itself, and sending a file that was compressed before
        compressing("gzip", "nginx, gzip on", "gzip on; gzip_vary on; "
                    "gzip_types text/javascript;", "off"),
        compressing("gzstatic", "nginx, gzip_static", "gzip_static on; "
                    "gzip_vary on;", "off"),
        compressing("gzsendfile", "nginx, gzip_static, sendfile",
                    "gzip_static on; gzip_vary on;", "on"),
        Contestant("lighttpd", "lighttpd", "lighttpd.conf",
                   ("static", "logs", "pids", *TLS)),
        Contestant("floor", "bare epoll loop (a limit, no server)",
                   "floor", ("static",), limit=True),
        Contestant("proxy-haproxy", "haproxy maxconn 1", "haproxy.cfg",
                   ("proxy",)),
        Contestant("proxy-nginx", "nginx", "nginx-proxy.conf", ("proxy",),
                   settings={"BALANCE": ""}, note="round robin"),
        Contestant("proxy-nginx-lc", "nginx least_conn", "nginx-proxy.conf",
                   ("proxy",), settings={"BALANCE": "least_conn;"}),
        Contestant("proxy-httpd", "httpd balancer", "httpd-proxy.conf",
                   ("proxy",)),
        Contestant("proxy-httpd-one", "httpd max=1, one process",
                   "httpd-proxy.conf", ("proxy",), flags=("one",),
                   note="FixedProcesses 1"),
    ]


class Field:
    """The machine-wide part: programs, document root, rendered files."""

    def __init__(self, top, root, ports, httpd, build,
                 address="127.0.0.1"):
        self.address = address
        # read once: an edit during a run must not split it in two
        self.templates = {}
        folder = os.path.join(top, "bench", "conf")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf8") as file:
                self.templates[name] = file.read()
        self.root = root
        self.ports = ports
        self.httpd = httpd
        self.build = build
        self.libexec = output("apxs", "-q", "LIBEXECDIR").strip() \
            or "/usr/lib/apache2/modules"
        self.docroot = os.path.join(root, "docroot")
        # httpd's Server field
        self.token = output(httpd, "-v").partition(":")[2].partition("\n")[0] \
            .strip() or "Apache"
        self.many = None
        self.count = 0

    def make_files(self, sizes):
        os.makedirs(self.docroot, exist_ok=True)
        for name, size in sizes.items():
            with open(os.path.join(self.docroot, name), "wb") as file:
                left = size
                while left:
                    chunk = (b"abcdefghijklmno\n" * 4096)[:min(left, 65536)]
                    file.write(chunk)
                    left -= len(chunk)
            age(file.name)

    def make_certificate(self):
        """ECDSA P-256, for everybody."""
        done = subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj",
             "/CN=bench.invalid", "-addext",
             "subjectAltName=DNS:bench.invalid,IP:127.0.0.1", "-newkey", "ec",
             "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout",
             os.path.join(self.root, "tls.key"), "-out",
             os.path.join(self.root, "tls.crt")], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise BenchError("no certificate: " + done.stdout.decode().strip())

    def make_texts(self, sizes):
        """Text as repetitive as scripts are, and beside each file the same
        compressed, for those that send such."""
        chance = random.Random(1)
        words = ["".join(chance.choice("etaoinshrdlucmfw")
                         for _ in range(chance.randint(2, 9)))
                 for _ in range(600)]
        for name, size in sizes.items():
            text, path = "", os.path.join(self.docroot, name)
            while len(text) < size:
                text += chance.choice(words) + chance.choice(
                    (" ", "(", ") {\n    ", ";\n    ", " = ", ".", ", "))
            data = text[:size].encode()
            for end, content in (("", data), (".gz", gzip.compress(data, 6))):
                with open(path + end, "wb") as file:
                    file.write(content)
                age(path + end)

    def make_tree(self, tree):
        """many/DIR/FILE.txt, of 1 KiB each, in a document root of its own:
        in memory if possible, as a disk takes a minute for 100 000."""
        body = b"abcdefghijklmno\n" * 64
        need = tree[0] * tree[1] * 8192
        memory = "/dev/shm"
        self.many = tempfile.TemporaryDirectory(
            prefix="bench-", dir=memory if os.path.isdir(memory)
            and shutil.disk_usage(memory).free > need else self.root)
        os.chmod(self.many.name, 0o755)
        for d in range(tree[0]):
            folder = os.path.join(self.many.name, "many", f"{d:03d}")
            os.makedirs(folder)
            for f in range(tree[1]):
                with open(f"{folder}/{f:03d}.txt", "wb") as file:
                    file.write(body)
                age(file.name)

    def values(self, contestant, site, root, port, extra):
        mask = "".join("1" if c in cpus() else "0"
                       for c in range(max(cpus()), -1, -1))
        log = {"logs": f"{root}/access.log clf",
               "pids": f"{root}/pids.log pids"}.get(site, "off")
        if contestant.program == "lighttpd":
            log = "" if log == "off" else \
                ('server.modules += ( "mod_accesslog" )\n'
                 f'accesslog.filename = "{root}/access.log"\n'
                 'accesslog.format = "%h %l %u %t \\"%r\\" %>s %b"')
        lua = site == "dynamic"
        files, valid = open_files(site)
        values = {
            "ROOT": root, "CONF": root, "PORT": str(port),
            "ADDRESS": self.address,
            "DOCROOT": self.many.name if site == "many" else self.docroot,
            "LIBEXEC": self.libexec,
            "MODULE": os.path.join(self.build, "mod_cpuaffinity.so"),
            "IF_ROOT": "" if os.geteuid() == 0 else "#",
            "WORKERS": str(len(cpus())), "CPU_MASK": mask,
            "NOFILE": str(max(nofile(), files + SPARE_FILES)), "ACCESS_LOG": log,
            "OPEN_FILES": str(files), "OPEN_VALID": valid,
            "GZIP": "", "OUTPUT_BUFFERS": "2 32k",
            "CERTIFICATE": os.path.join(self.root, "tls.crt"),
            "CERTIFICATE_KEY": os.path.join(self.root, "tls.key"),
            "TLS_VERSION": TLS.get(site, ""),
            "IF_TLS": "" if site in TLS else "#",
            "IF_PLAIN": "#" if site in TLS else "",
            "DYNAMIC": f"include {root}/nginx-hello.conf;" if lua else "",
            "DYNAMIC_MODULE":
                "include /etc/nginx/modules-enabled/*.conf;" if lua else "",
        }
        values.update(contestant.settings)
        values.update(extra)
        return values

    def render(self, contestant, site, extra):
        """Every file of bench/conf into a root of this server's own."""
        self.count += 1
        root = os.path.join(
            self.root, f"{self.count:03d}-{contestant.name}-{site}")
        os.makedirs(root)
        port = self.ports.take(contestant.title, self.address)
        values = self.values(contestant, site, root, port, extra)
        for name, text in self.templates.items():
            for key, value in values.items():
                text = text.replace(f"@{key}@", value)
            with open(os.path.join(root, name), "w", encoding="utf8") as file:
                file.write(text)
        if os.geteuid() == 0:
            shutil.chown(root, "www-data")
        return root, port

    def argv(self, contestant, site, root, port):
        conf = os.path.join(root, contestant.config)
        if contestant.program == "httpd":
            defined = (site, *contestant.flags, *(["tls"] if site in TLS
                                                  else []))
            flags = [f for s in defined for f in ("-D", s)]
            return [self.httpd, "-f", conf, "-DFOREGROUND", *flags]
        return {"nginx": ["nginx", "-c", conf, "-e", f"{root}/error.log"],
                "lighttpd": ["lighttpd", "-D", "-f", conf],
                "haproxy": ["haproxy", "-db", "-f", conf],
                "floor": [os.path.join(self.build, "bench", "floor"),
                          self.address, str(port),
                          os.path.join(self.docroot, "1k.txt"), self.token],
                }[contestant.program]

    def start(self, contestant, site, extra=None):
        root, port = self.render(contestant, site, extra or {})
        server = Server(f"{contestant.title} ({contestant.config}, {site})",
                        self.argv(contestant, site, root, port), root, port,
                        address=self.address)
        server.site = site
        if contestant.program == "httpd" and "one" not in contestant.flags \
                and "fixed" not in contestant.config:
            server.ready = all_children
        server.start()
        if contestant.pin:
            pin(server)
        return server

    def probe(self, contestant, sites=()):
        """Why a contestant cannot take part here, or None; for which of the
        sites goes into its without."""
        if contestant.program == "floor":
            return None
        program = {"httpd": self.httpd}.get(contestant.program,
                                            contestant.program)
        if not shutil.which(program):
            return f"{program} is not installed"
        if contestant.pin and not shutil.which("taskset"):
            return "taskset is not installed"
        if contestant.program != "httpd":
            return None
        why = self.refuses(contestant, contestant.sites[0])
        for site in () if why else sites:
            if site in contestant.sites and site in TLS:
                missing = self.refuses(contestant, site)
                if missing:
                    contestant.without[site] = missing
        return why

    def refuses(self, contestant, site):
        """Why it cannot run the site in this build, or None: only what the
        module and its directives are missing for, as every other mistake has
        to be seen when it starts."""
        values = {f"BACKEND{i}": "1" for i in (1, 2, 3)}
        root, port = self.render(contestant, site, values)
        argv = self.argv(contestant, site, root, port) + ["-t"]
        argv.remove("-DFOREGROUND")
        text = output(*argv)
        shutil.rmtree(root)
        if "Invalid command" in text or "mod_cpuaffinity.so" in text:
            lines = [line for line in text.splitlines() if line.strip()]
            return "not in this build: " + " ".join(lines[:2])
        return self.attempt(contestant, site) if contestant.trial else None

    def attempt(self, contestant, site):
        """Starts it once and asks its trial."""
        tried = copy.copy(contestant)
        tried.flags = (*contestant.flags, "trial")
        server = self.start(tried, site)
        try:
            return contestant.trial(self.address, server.port, site in TLS)
        finally:
            server.stop()


def open_files(site):
    """(nginx's open_file_cache, open_file_cache_valid) of a site."""
    files, valid = OPEN_FILES.get(site, (1000, "1s"))
    return min(files, max(1000, nofile_hard() - SPARE_FILES)), valid


def age(path):
    """An hour: httpd's ETag of a file of this second is another one."""
    then = time.time() - 3600
    os.utime(path, (then, then))


def nofile_hard():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return hard if hard > 0 else 1 << 20


def nofile():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(hard, 100000) if hard > 0 else 100000


def all_children(server):
    """mpm_event has started all that its configuration starts."""
    alive = procs.children(server.pid)
    return len(alive) == HTTPD_PROCESSES and \
        all(len(procs.threads(pid)) > 125 for pid in alive)


def pin(server):
    """What an administrator does: taskset, process by process."""
    numbers = cpus()
    for i, pid in enumerate(procs.children(server.pid)):
        done = subprocess.run(
            ["taskset", "-a", "-c", "-p", str(numbers[i % len(numbers)]),
             str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            check=False)
        if done.returncode:
            raise BenchError(f"taskset on process {pid}: "
                             + done.stderr.decode().strip())
