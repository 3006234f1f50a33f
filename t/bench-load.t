# What the load generators are asked and what is made of their figures: by the
# bench's own functions, against the bare epoll loop.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use JSON::PP;
use Test::Httpd;
use Test::More;
use Time::HiRes qw(sleep);

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
my $root = tempdir(CLEANUP => 1);
my $raw = "$root/raw.tsv";
write_file("$root/1k.txt", "abcdefghijklmno\n" x 64);

my $port = Test::Httpd::free_port();
my $floor = fork // die "fork: $!";
if (!$floor) {
    exec "$build/bench/floor", '127.0.0.1', $port, "$root/1k.txt", 'Floor';
}
for (1 .. 100) {
    last if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
    sleep 0.05;
}

sub write_file {
    my ($path, $text) = @_;
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} $text;
    close $fh or die "$path: $!";
}

sub python {
    my ($program) = @_;
    local @ENV{qw(PORT RAW BUILD_DIR ROOT)} = ($port, $raw, $build, $root);
    open my $py, '-|', '/usr/bin/python3', '-c', <<"END" or die $!;
import json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "$top/bench")
from lib import load, procs, scenarios, wrk
port, raw = int(os.environ["PORT"]), os.environ["RAW"]
build, root = os.environ["BUILD_DIR"], os.environ["ROOT"]
class Server: pid = os.getpid()
def told(l):
    return {"requests": l.requests, "errors": l.errors, "rps":
            l.requests / l.seconds(), "samples": len(l.samples)}
$program
END
    my $text = do { local $/; <$py> };
    ok close $py, 'python has no complaint';
    return decode_json($text);
}

SKIP: {
    skip 'h2load is not installed (make bench installs it)', 8
        unless `sh -c 'command -v h2load'`;
    # h2load appends to its log; wrk's, with other columns, may be there.
    write_file($raw, "104\t1\n" x 1000);
    my $last = 0;
    for my $n (1, 2) {
        my $run = python(<<'END');
s = scenarios.static("1k.txt", 4)
print(json.dumps(told(load.h2load(s, port, 0.5, raw, root))))
END
        is_deeply $run->{errors}, {}, "run $n: no errors";
        open my $log, '<', $raw or die "$raw: $!";
        my @starts = sort { $a <=> $b } map { (split /\t/)[0] } <$log>;
        is $run->{requests}, @starts, "run $n: requests";
        cmp_ok $starts[0], '>', $last, "run $n: only its own";
        $last = $starts[-1];
    }
}

# Requests that are due at a rate.
for my $few (20, 300) {
    my $run = python(<<"END");
s = scenarios.idle($few, 10, "test", rate=200)
l, before, each = load.idle(s, port, 1, raw, build, Server)
print(json.dumps(told(l)))
END
    is_deeply $run->{errors}, {}, "$few connections: no errors";
    cmp_ok $run->{requests}, '<=', 201, "$few connections: no more than due";
    cmp_ok $run->{requests}, '>=', 100, "$few connections: and no fewer";
}

SKIP: {
    skip 'wrk is not installed (make bench installs it)', 4
        unless `sh -c 'command -v wrk'`;
    my $run = python(<<'END');
l = wrk.run(scenarios.pipelined(), port, 1, raw)
print(json.dumps({**told(l), "command": l.command}))
END
    is_deeply $run->{errors}, {}, 'pipelined: no errors';
    like $run->{command}, qr/ -- 16$/, 'pipelined: 16 at once';
    cmp_ok $run->{requests}, '>', 16, 'pipelined: requests';
}

# A server that does not answer is an error of the run, not of the bench.
kill KILL => $floor;
waitpid $floor, 0;
my $run = python(<<'END');
l, before, each = load.idle(scenarios.idle(5, 1, "test"), port, 1, raw, build,
                            Server)
print(json.dumps({"errors": l.errors, "each": each}))
END
like $run->{errors}{connections}, qr/\S/, 'no server: that is said';
is $run->{each}, undef, 'and no memory told';
done_testing;
