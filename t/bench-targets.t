# The table of targets: its arithmetic on results made here, and what is said
# of figures that a run does not have; wrk's output, recorded, as it is read.
use strict;
use warnings;
use utf8;
use FindBin;
use JSON::PP;
use Test::More;
binmode $_, ':utf8' for map { Test::More->builder->$_ }
    qw(output failure_output);

my $bench = "$FindBin::Bin/../bench";
my $data = "$FindBin::Bin/data";

# Answers of a Python program that knows the bench's modules.
sub python {
    my ($program, @args) = @_;
    open my $py, '-|', '/usr/bin/python3', '-c', <<"END", @args or die $!;
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "$bench")
from lib import contestants, load, rounds, scenarios, targets, tables, wrk
$program
END
    my $text = do { local $/; <$py> };
    ok close $py, 'python has no complaint';
    return decode_json($text);
}

sub run {
    my ($who, $round, %more) = @_;
    return { contestant => $who, round => $round, errors => {}, %more };
}

sub entry {
    my ($name, @runs) = @_;
    return { scenario => { name => $name }, runs => \@runs };
}

my @c32;
my @cpu = ([ 6, 10 ], [ 4, 20 ], [ 5, 10 ], [ 1, 1000 ]);
for my $round (1 .. 3) {
    my ($own, $nginx) = @{ $cpu[ $round - 1 ] };
    push @c32, run('fixedstatic', $round, cpu_us => $own, rps => 150),
        run('nginx', $round, cpu_us => $nginx, rps => 100),
        run('stock', $round, cpu_us => 100);
}
# a run with errors does not count, nor does the other of its round
push @c32, { %{ run('fixedstatic', 4, cpu_us => 1) },
    errors => { failed => 1 } };
push @c32, run('nginx', 4, cpu_us => 10);
my $results = { scenarios => [
    entry('wrk-1k-ka-c32', @c32),
    entry('c10k', run('fixedstatic', 1, latency_us => { p99 => 2600 },
        kib_per_idle_connection => 0.5), run('nginx', 1,
        kib_per_idle_connection => 0)),
    entry('c10k-active', run('fixedstatic', 1,
        latency_us => { p99 => 2000 })),
    entry('balance-c1000', run('fixedstatic', 1, balance_cpu => 1.05)),
    entry('hello', run('fixedstatic', 1, cpu_us => 90),
        +{ %{ run('stock', 1) }, errors => { failed => 3 } }),
    entry('many', run('nginx', 1, rps => 3)),
    entry('static-1k-close-c100', run('fixedstatic', 1, rps => 30),
        run('nginx', 1, rps => 25), run('stock', 1, rps => 10)),
] };
my $rows = python('print(json.dumps(targets.rows(json.loads(sys.argv[1]))))',
    encode_json($results));

sub row {
    my ($figure, $target) = @_;
    my @found = grep { $_->{figure} =~ /$figure/ && $_->{target} =~ /$target/ }
        @$rows;
    is scalar @found, 1, "$figure $target: one row";
    return $found[0];
}

sub close_to {
    my ($got, $want, $name) = @_;
    ok defined $got && abs($got - $want) < 1e-9, $name
        or diag 'got ', $got // 'nothing', ", expected $want";
}

my $r = row(qr/CPU per request.*c32/, qr/nginx/);
close_to($r->{ratio}, 5 / 10, 'ratio of the medians 5 and 10');
close_to($r->{min}, 4 / 20, 'the least of the rounds');
close_to($r->{max}, 6 / 10, 'the greatest of the rounds');
is $r->{rounds}, 3, 'three rounds';
ok $r->{reached}, '0.5 is at most 0.6';
$r = row(qr/CPU per request.*c32/, qr/stock/);
close_to($r->{ratio}, 0.05, 'another base');
$r = row(qr/CPU per request.*c32/, qr/epoll/);
like $r->{why}, qr/floor did not take part/, 'a base that is not there';
ok !defined $r->{reached}, 'and no verdict';
$r = row(qr{requests/s.*c32}, qr/nginx/);
close_to($r->{ratio}, 1.5, 'more is better there');
ok $r->{reached}, '1.5 is at least 1.4';
$r = row(qr/p99.*c32/, qr/nginx/);
like $r->{why}, qr/fixedstatic: no run without errors/, 'runs without p99';
$r = row(qr/CPU per request.*c128/, qr/nginx/);
is $r->{why}, 'not measured in this run', 'a scenario that is not there';
$r = row(qr/p99, 10 000.*fast/, qr/100 alone/);
close_to($r->{ratio}, 1.3, 'a base in another scenario');
ok !$r->{reached} && defined $r->{reached}, '1.3 is more than 1.2';
$r = row(qr/user memory/, qr/nginx/);
is $r->{why}, 'nothing to divide by', 'no division by zero';
$r = row(qr/busiest/, qr/^≤ 1.1$/);
close_to($r->{ratio}, 1.05, 'a bound without a base');
is_deeply $r->{medians}, [1.05], 'has one median';
ok $r->{reached}, 'and is reached';
$r = row(qr/hello/, qr/stock/);
is $r->{why}, 'stock: no run without errors', 'a base with errors only';
$r = row(qr/distinct/, qr/nginx/);
is $r->{why}, 'fixedstatic did not take part', 'nothing of our own';
$r = row(qr/a connection per request/, qr/nginx/);
is $r->{scenario}, 'static-1k-close-c100', 'the second scenario, as the '
    . 'first is not there';
close_to($r->{ratio}, 1.2, 'a bound that is met exactly');
ok $r->{reached}, 'is reached';

my $table = python('print(json.dumps(targets.markdown('
    . 'json.loads(sys.argv[1]))))', encode_json($results));
like $table, qr/^\| server CPU per request, 1 KiB, wrk -t2 -c32 \| ≤ 0.6 × best nginx \| ×0.50 \(0.20–0.60\) \| 5.0 : 10.0 µs \| reached \|$/m,
    'a row as the documentation has it';
like $table, qr/^\| p99, 10 000 .*fast.* \| ×1.30 \| 2.60 : 2.00 ms \| \*\*not reached\*\* \|$/m,
    'one that is not reached';
like $table, qr/^\| busiest .* \| 1.05 \| – \| reached \|$/m,
    'one without a base';

# every scenario that a target names exists, and is measured first
my $lists = python(<<'END');
full = rounds.in_order(scenarios.full_list())
names = [s.name for s in full]
needed = targets.scenarios()
quick = [s.name for s in scenarios.quick_list()]
floor = [s.name for s in scenarios.full_list() + scenarios.quick_list()
         for c in contestants.table() if c.limit and c.enters(s)
         and s.size != 1024]
print(json.dumps({
    "unknown": sorted(needed - set(names) - set(quick)),
    "first": all(n in needed for n in names[:len(needed & set(names))]),
    "double": len(names) - len(set(names)),
    "floor": floor}))
END
is_deeply $lists->{unknown}, [], 'every scenario of a target exists';
ok $lists->{first}, 'what targets need is measured first';
is $lists->{double}, 0, 'no scenario twice';
is_deeply $lists->{floor}, [], 'the bare loop answers 1 KiB only';

# wrk
my $recorded = do {
    open my $fh, '<', "$data/wrk-keepalive.txt" or die $!;
    local $/;
    <$fh>;
};
my ($requests) = $recorded =~ /(\d+) requests in/;
my ($p50, $p99) = $recorded =~ /50%\s+([\d.]+)us.*99%\s+([\d.]+)ms/s;
my $got = python(<<'END', "$data/wrk-keepalive.txt");
from lib import stats
text = open(sys.argv[1]).read()
one = load.Load("")
wrk.parse(text, one)
bad = load.Load("")
wrk.parse(text.replace(" 0 0 0 0 0\n", " 0 7 0 3 0\n"), bad)
none = load.Load("")
wrk.parse("unable to connect to 127.0.0.1:1 Connection refused\n", none)
print(json.dumps({"requests": one.requests, "bytes": one.bytes,
    "seconds": one.seconds(), "errors": one.errors, "bad": bad.errors,
    "none": none.errors, "latency": stats.summary(one.samples)}))
END
is $got->{requests}, $requests, 'the requests that wrk prints';
ok abs($requests / $got->{seconds}
    - ($recorded =~ m{Requests/sec:\s*([\d.]+)})[0]) < 0.01,
    'and its requests/s';
is_deeply $got->{errors}, {}, 'no errors';
ok abs($got->{latency}{median} - $p50) <= 1, 'the median that wrk prints';
ok abs($got->{latency}{p99} / 1000 - $p99) <= 0.011, 'the p99 that wrk prints';
is_deeply $got->{bad}, { 'read errors' => 7, 'status not 2xx or 3xx' => 3 },
    'errors have names';
like $got->{none}{generator}, qr/unable to connect/, 'no counts: wrk speaks';
done_testing;
