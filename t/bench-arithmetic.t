# One tiny scenario with two contestants; the figures of results.json and of
# report.html are computed once more here, from the raw samples.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use List::Util qw(max min sum0);
use Test::More;

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
my $out = tempdir(CLEANUP => 1);

sub slurp {
    open my $fh, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$fh>;
}

sub close_to {
    my ($got, $want, $name) = @_;
    ok defined $got && abs($got - $want) <= 1e-9 * (1 + abs $want), $name
        or diag 'got ', $got // 'nothing', ", expected $want";
}

my $log = `timeout 50 $top/bench/run --build $build --out $out --rounds 3 --seconds 0.4 --contestants stock,cpu --only 'static-1k-ka-c10\$' --keep-raw --no-plots 2>&1`;
is $? >> 8, 0, 'the bench runs' or diag $log;
my $results = decode_json(slurp("$out/results.json"));
ok $results->{complete}, 'it is complete';
is_deeply [ map $_->{absent}, @{ $results->{contestants} } ],
    [ undef, undef ], 'both take part' or diag $log;
my ($entry) = @{ $results->{scenarios} };
my @runs = @{ $entry->{runs} };
is scalar @runs, 6, 'three rounds of two';
is_deeply [ map "$_->{round}$_->{contestant}", @runs ],
    [qw(1cpu 1stock 2stock 2cpu 3cpu 3stock)], 'interleaved, turns rotate';

my %figure;
for my $run (@runs) {
    my $name = "$run->{contestant} round $run->{round}";
    is_deeply $run->{errors}, {}, "$name: no errors";
    my @rows = map [split], split /\n/, slurp("$out/$run->{raw}");
    is $run->{requests}, scalar @rows, "$name: a request per raw sample";
    my $seconds = (max(map $_->[0] + $_->[2], @rows)
        - min(map $_->[0], @rows)) / 1e6;
    my @us = sort { $a <=> $b } map $_->[2], @rows;
    close_to($run->{seconds}, $seconds, "$name: seconds");
    close_to($run->{rps}, @rows / $seconds, "$name: requests/s");
    close_to($run->{cpu_us}, $run->{server_cpu_s} * 1e6 / @rows,
        "$name: server CPU per request");
    cmp_ok $run->{server_cpu_s}, '>', 0, "$name: the server used CPU";
    cmp_ok sum0(values %{ $run->{process_cpu_s} }), '<=',
        $run->{server_cpu_s} + 1e-6, "$name: no process used more than all"
        unless $run->{vanished_threads};
    close_to($run->{latency_us}{mean}, sum0(@us) / @us, "$name: mean");
    my $p = 0.99 * $#us;
    my $i = int $p;
    my $next = $us[ $i < $#us ? $i + 1 : $i ];
    my $p99 = $us[$i] + ($p - $i) * ($next - $us[$i]);
    close_to($run->{latency_us}{p99}, $p99, "$name: p99");
    push @{ $figure{ $run->{contestant} }{rps} }, @rows / $seconds;
    push @{ $figure{ $run->{contestant} }{cpu_us} }, $run->{cpu_us};
    push @{ $figure{ $run->{contestant} }{p99} }, $p99 / 1e3;
}

my $html = slurp("$out/report.html");
for my $who (qw(stock cpu)) {
    my $row = $entry->{summary}{$who};
    for my $key (qw(rps cpu_us p99)) {
        my @v = sort { $a <=> $b } @{ $figure{$who}{$key} };
        my $part = $key eq 'p99' ? 'latency_ms' : 'figures';
        my $got = $row->{$part}{$key};
        close_to($got->{median}, $v[1], "$who: $key, median of 3");
        close_to($got->{min}, $v[0], "$who: $key, min");
        close_to($got->{max}, $v[2], "$who: $key, max");
        my @base = sort { $a <=> $b } @{ $figure{stock}{$key} };
        close_to($row->{ratio}{httpd}{$key}, $v[1] / $base[1],
            "$who: $key, ratio to stock");
        next unless $key eq 'cpu_us';
        my $shown = sprintf '%.1f<small>%.1f–%.1f</small>', @v[ 1, 0, 2 ];
        cmp_ok index($html, $shown), '>', 0,
            "$who: the report shows $key as $shown";
    }
}
like $html, qr/httpd \+ CPUAffinity cpu/, 'the report names the contestants';
like $log, qr/req\/s.*CPU/, 'a table on the terminal';

# A run with errors is named and left out of every figure.
my $check = `/usr/bin/python3 - $top/bench $out/results.json <<'END'
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from lib.summary import error_text, summarise
with open(sys.argv[2], encoding="utf8") as file:
    entry = json.load(file)["scenarios"][0]
first = [r for r in entry["runs"] if r["contestant"] == "cpu"]
first[0]["errors"] = {"failed": 3}
first[0]["rps"] = 1e9
row = summarise(entry)["cpu"]
print(row["good"], row["figures"]["rps"]["max"] < 1e9, error_text(row["bad"]))
END`;
is $check, "2 True 1 run not used (failed: 3)\n",
    'a run with errors is not averaged in';
done_testing;
