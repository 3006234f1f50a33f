# SPDX-License-Identifier: Apache-2.0
"""What is measured. A scenario is data; load.py and rounds.py act on it."""

from __future__ import annotations

from dataclasses import dataclass

SIZES = {"1k.txt": 1024, "10k.txt": 10240, "100k.txt": 102400,
         "1m.txt": 1048576, "10m.txt": 10485760}
# text that is compressed
TEXTS = {"script.js": 80 * 1024, "page.html": 20 * 1024}
# what browsers send
ACCEPT_ENCODING = "gzip, deflate, br, zstd"


# sites over TLS and their version
TLS = {"https": "TLSv1.3", "https12": "TLSv1.2"}


def size_title(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


# compared where a generator's round is long or a file large: who decides the
# targets, and one more
FEW = ("stock", "fixedstatic", "nginx", "lighttpd")
# over TLS, where httpd maps files unless it is told not to
SECURE = ("stock", "tuned", "fixedstatic", "nginx", "lighttpd")
# requests a second that leave everybody time
RATE = 10000
# README's headline
QUICK = ("stock", "taskset", "cpu", "fixed", "fixedstatic", "nginx",
         "lighttpd")


@dataclass(frozen=True)
class Scenario:
    """One kind of work for every contestant that enters it."""

    name: str
    group: str
    title: str
    site: str = "static"
    # http, wrk, many, idle, handshakes, mixed or flaky: how load is made
    kind: str = "http"
    path: str = "/1k.txt"
    connections: int = 10
    pipeline: int = 1
    # a connection per request
    close: bool = False
    # with the session of the connection before
    resumed: bool = False
    # its raw samples are drawn
    plots: bool = False
    rounds: int | None = None
    seconds: float | None = None
    # names of those that take part, None for all but the limit
    who: tuple | None = None
    # wrk's
    threads: int | None = None
    # requests in flight on idle's connections
    active: int | None = None
    # requests a second there; None: as many as can be
    rate: int | None = None
    # (directories, files in each) below /many
    tree: tuple | None = None
    # seconds of warm-up before each run; None: a moment before the first
    warm: float | None = None
    # Accept-Encoding
    accept: str | None = None
    # nginx's best of that scenario takes part, if there was one
    sweep_of: str | None = None

    @property
    def size(self):
        """Bytes of the file; None where there is none."""
        name = self.path.lstrip("/")
        return 1024 if self.tree else (SIZES | TEXTS).get(name)

    @property
    def scheme(self):
        return "https" if self.site in TLS else "http"

    def describe(self):
        """What results.json says of it."""
        keys = ("name", "group", "title", "site", "kind", "path",
                "connections", "pipeline", "close", "size")
        return {key: getattr(self, key) for key in keys}


def static(file, connections, close=False, pipeline=1, site="static",
           **more):
    way = "a connection per request" if close else "keep-alive"
    if pipeline > 1:
        way += f", pipelining ×{pipeline}"
    name = f"{site}-{file.split('.')[0]}-{'close' if close else 'ka'}" \
        f"-c{connections}" + (f"-p{pipeline}" if pipeline > 1 else "")
    title = f"{size_title(SIZES[file])}, {way}, " \
        f"{connections} connection{'s' if connections > 1 else ''}" \
        + (", access logs on" if site == "logs" else "")
    return Scenario(name, "static", title, site=site, path=f"/{file}",
                    connections=connections, pipeline=pipeline, close=close,
                    **more)


def wrk(threads, connections, quick):
    return Scenario(f"wrk-1k-ka-c{connections}", "static",
                    f"1 KiB, keep-alive, wrk -t{threads} -c{connections}",
                    kind="wrk", threads=threads, connections=connections,
                    who=(*FEW, "floor"), seconds=1 if quick else 3,
                    rounds=None if quick else 5)


def pipelined(rounds=5):
    """wrk, as h2load takes longer for an answer than a server does."""
    return Scenario("wrk-1k-ka-c32-p16", "static", "1 KiB, keep-alive, "
                    "pipelining ×16, wrk -t2 -c32", kind="wrk", threads=2,
                    connections=32, pipeline=16, seconds=2, rounds=rounds,
                    who=(*FEW, "floor"), plots=True)


def many():
    """The warm-up goes before each run, as caches age while others run."""
    dirs, files = 100, 1000
    return Scenario("many", "static", "1 KiB, keep-alive, "
                    f"{dirs * files} distinct files, uniform, wrk -t2 -c32",
                    site="many", kind="many", path="/many/000/000.txt",
                    threads=2, connections=32, seconds=5, rounds=2, warm=40,
                    who=("stock", "fixedstatic", "nginx"),
                    sweep_of="wrk-1k-ka-c32", tree=(dirs, files))


def compressed(file, what, **more):
    return Scenario(f"compressed-{file.split('.')[0]}", "static",
                    f"{what} of {size_title(TEXTS[file])}, compressed, "
                    "keep-alive, wrk -t2 -c32", site="gzip", kind="wrk",
                    path=f"/{file}", threads=2, connections=32,
                    accept=ACCEPT_ENCODING,
                    who=("stock", "tuned", "fixedstatic", "nginx-gzip",
                         "nginx-gzstatic", "nginx-gzsendfile"), **more)


def https(file, site="https", **more):
    """Over TLS, by wrk."""
    return Scenario(f"{site}-{file.split('.')[0]}-ka", "TLS",
                    f"{tls_title(site)}, {size_title(SIZES[file])}, "
                    "keep-alive, wrk -t2 -c32", site=site, kind="wrk",
                    path=f"/{file}", threads=2, connections=32, who=SECURE,
                    **more)


def tls_title(site):
    return f"TLS {TLS[site][-3:]}"


def handshakes(resumed=False, **more):
    """A handshake for each request of 1 KiB, by bench/handshakes.c."""
    name, how = ("resume", "resumed") if resumed else ("close", "full")
    return Scenario(f"https-{name}", "TLS", f"{tls_title('https')}, 1 KiB, a "
                    f"{how} handshake per request, 50 connections",
                    site="https", kind="handshakes", resumed=resumed,
                    connections=50, close=True, who=SECURE, plots=True,
                    **more)


def idle(count, active, name, rate=None, site="static", **more):
    pace = f", {rate} requests/s" if rate else ""
    tls = f"{tls_title(site)}, " if site in TLS else ""
    return Scenario(name, "TLS" if tls else "C10K", f"{tls}{count} keep-alive "
                    f"connections, "
                    f"{active} active at a time{pace}, 1 KiB", kind="idle",
                    connections=count, active=active, rate=rate, plots=True,
                    site=site, **more)


def idles(count, who, **more):
    """Many of which few are active, and as many active without the idle: as
    fast as can be, and at a rate that leaves everybody time."""
    name, few = f"c{count // 1000}k", count // 100
    others = {"sweep_of": name, "who": FEW, **more}
    return [idle(count, few, name, who=who, **more),
            idle(few, few, f"{name}-active", **others),
            idle(count, few, f"{name}-paced", rate=RATE, **others),
            idle(few, few, f"{name}-active-paced", rate=RATE, **others)]


def https_all(count, long):
    """What is measured over TLS, with count idle connections; long: of those
    whose rounds are longer."""
    return [https("1k.txt", **long), https("100k.txt", **long),
            https("1k.txt", "https12", **long), handshakes(**long),
            handshakes(True, **long),
            idle(count, count // 100, f"https-c{count // 1000}k",
                 site="https", who=SECURE, sweep_of="https-1k-ka")]


def balance(connections, **more):
    return Scenario(f"balance-c{connections}", "balance",
                    "balance of the processes, 1 KiB, "
                    f"{connections} connections",
                    site="pids", connections=connections, **more)


def affinity(connections):
    """Pinning alone, with the numbers of bug 66424."""
    return Scenario(f"affinity-c{connections}", "affinity",
                    f"bug 66424: 1 KiB, keep-alive, {connections} "
                    f"connections, wrk -t2 -c{connections}", kind="wrk",
                    threads=2, connections=connections, rounds=5, seconds=4,
                    who=("stock", "taskset", "cpu"))


def hello(**more):
    return Scenario("hello", "dynamic", "hello: a dynamic answer of 24 bytes, "
                    "50 connections", site="dynamic",
                    path="/hello?name=World", connections=50, **more)


def flaky(rounds, seconds):
    return Scenario("flaky", "proxy", "three flaky backends (10–50 ms, 1 % of "
                    "requests 1 s, one at a time), 6 clients",
                    site="proxy", kind="flaky", path="/", connections=6,
                    plots=True, rounds=rounds, seconds=seconds)


def quick_list():
    # nginx is swept once for each kind of work
    known = {"sweep_of": "wrk-1k-ka-c128"}
    return [
        wrk(2, 32, True), wrk(4, 128, True),
        static("1k.txt", 250, plots=True, who=QUICK, **known),
        static("1k.txt", 100, close=True, who=QUICK),
        pipelined(rounds=1),
        static("100k.txt", 10, plots=True, who=QUICK),
        static("1m.txt", 10, who=QUICK),
        static("10m.txt", 10, who=FEW),
        *idles(2000, FEW, **known)[:2],
        *https_all(2000, {"seconds": 1}),
        static("1k.txt", 100, site="logs", who=FEW, **known),
        compressed("script.js", "a script", seconds=1),
        hello(who=QUICK, **known),
        balance(100, who=(*FEW, "fixedspread"), **known),
        flaky(1, 4),
    ]


def full_list():
    # what decides a target has a little more time
    long = {"seconds": 1.5}
    some = [
        wrk(2, 32, False), wrk(4, 128, False),
        pipelined(), static("1k.txt", 32, pipeline=16, **long),
        static("1k.txt", 250, close=True, plots=True, **long),
        *[static(file, 10, plots=True, rounds=5, **long)
          for file in ("100k.txt", "1m.txt", "10m.txt")],
        *idles(10000, None, **long),
        *https_all(10000, {"seconds": 3, "rounds": 5}),
        static("1k.txt", 250, site="logs", **long), balance(1000, **long),
        compressed("script.js", "a script", seconds=3, rounds=5),
        compressed("page.html", "a page", seconds=3, rounds=5),
        hello(plots=True, **long), many(),
    ]
    for file, counts in (("1k.txt", (1, 10, 250, 1000)),
                         ("10k.txt", (250,)), ("100k.txt", (250,)),
                         ("1m.txt", (250,)), ("10m.txt", (1,))):
        some += [static(file, c, plots=(c == 250)) for c in counts]
    for file, counts in (("1k.txt", (1, 1000, 2500)), ("10k.txt", (250,)),
                         ("100k.txt", (250,)), ("1m.txt", (10,))):
        some += [static(file, c, close=True, plots=(c == 250))
                 for c in counts]
    return some + [
        static("1k.txt", 250, pipeline=16), balance(10), balance(100),
        affinity(200), affinity(1000),
        flaky(2, 15),
        Scenario("mixed", "dynamic", "mixed: 90 % static 1 KiB, 10 % dynamic, "
                 "50 connections", site="dynamic", kind="mixed",
                 connections=50),
    ]
