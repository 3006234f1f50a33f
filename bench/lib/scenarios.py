"""What is measured. A scenario is data; load.py and rounds.py act on it."""

SIZES = {"1k.txt": 1024, "10k.txt": 10240, "100k.txt": 102400,
         "1m.txt": 1048576, "10m.txt": 10485760}


def size_title(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


class Scenario:
    """kind: http, idle, mixed or flaky. plots: its raw samples are drawn."""

    def __init__(self, name, group, title, site="static", kind="http",
                 path="/1k.txt", connections=10, pipeline=1, close=False,
                 plots=False, rounds=None, seconds=None):
        self.name = name
        self.group = group
        self.title = title
        self.site = site
        self.kind = kind
        self.path = path
        self.connections = connections
        self.pipeline = pipeline
        self.close = close
        self.plots = plots
        self.rounds = rounds
        self.seconds = seconds
        self.size = SIZES.get(path.lstrip("/"))

    def describe(self):
        keys = ("name", "group", "title", "site", "kind", "path",
                "connections", "pipeline", "close", "size")
        return {key: getattr(self, key) for key in keys}


def static(file, connections, close=False, pipeline=1, site="static",
           plots=False):
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
                    plots=plots)


def others(idle, quick):
    balance = [10, 100, 1000] if not quick else [100]
    level = [Scenario(f"balance-c{c}", "balance",
                      f"balance of the processes, 1 KiB, {c} connections",
                      site="pids", connections=c) for c in balance]
    rest = [
        Scenario("c10k", "C10K", f"{idle} keep-alive connections, "
                 f"{max(1, idle // 100)} active at a time, 1 KiB",
                 kind="idle", connections=idle, plots=True),
        Scenario("flaky", "proxy", "three flaky backends (10–50 ms, 1 % of "
                 "requests 1 s, one at a time), 6 clients",
                 site="proxy", kind="flaky", path="/", connections=6,
                 plots=True, rounds=1 if quick else 3,
                 seconds=6 if quick else 20),
        Scenario("hello", "dynamic", "hello: a dynamic answer of 24 bytes, "
                 "50 connections", site="dynamic", path="/hello?name=World",
                 connections=50, plots=not quick),
        Scenario("mixed", "dynamic", "mixed: 90 % static 1 KiB, 10 % dynamic, "
                 "50 connections", site="dynamic",
                 kind="mixed", connections=50),
    ]
    # a limit in time takes from the end: what nothing else shows comes first
    return rest[:2] + level + rest[2:]


def quick_list():
    return [
        static("1k.txt", 10),
        static("1k.txt", 250, plots=True),
        static("1k.txt", 100, close=True),
        static("1k.txt", 32, pipeline=16),
        static("100k.txt", 10, plots=True),
        static("1m.txt", 10),
    ] + others(2000, True) + [static("1k.txt", 100, site="logs")]


def full_list():
    some = []
    for file, counts in (("1k.txt", (1, 10, 250, 1000)),
                         ("10k.txt", (10, 250, 1000)),
                         ("100k.txt", (1, 10, 250)),
                         ("1m.txt", (1, 10, 250)), ("10m.txt", (1, 10))):
        some += [static(file, c, plots=(c == 250 or file == "10m.txt"))
                 for c in counts]
    for file, counts in (("1k.txt", (1, 10, 250, 1000)),
                         ("10k.txt", (250,)), ("100k.txt", (10, 250)),
                         ("1m.txt", (10,)), ("10m.txt", (1,))):
        some += [static(file, c, close=True, plots=(c == 250))
                 for c in counts]
    some += [static("1k.txt", 2500, close=True),
             static("1k.txt", 32, pipeline=16, plots=True),
             static("1k.txt", 250, pipeline=16),
             static("1k.txt", 250, site="logs")]
    return some + others(10000, False)
