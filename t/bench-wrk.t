# A run with wrk, if it is installed: the scenario decides who takes part, and
# the figures are those that wrk counted.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use List::Util qw(sum0);
use Test::More;

plan skip_all => 'wrk is not installed (make bench installs it)'
    unless `sh -c 'command -v wrk'`;

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
my $out = tempdir(CLEANUP => 1);

sub slurp {
    open my $fh, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$fh>;
}

my $log = `timeout 50 $top/bench/run --build $build --out $out --quick --rounds 1 --seconds 1 --contestants stock,taskset,floor --only '^wrk-1k-ka-c32\$' --keep-raw --no-plots 2>&1`;
is $? >> 8, 0, 'the bench runs' or diag $log;
my ($entry) = @{ decode_json(slurp("$out/results.json"))->{scenarios} };
is_deeply [ sort map $_->{contestant}, @{ $entry->{runs} } ],
    [qw(floor stock)], 'those that the scenario names';
for my $run (@{ $entry->{runs} }) {
    my $name = $run->{contestant};
    is_deeply $run->{errors}, {}, "$name: no errors";
    cmp_ok $run->{requests}, '>', 0, "$name: requests";
    cmp_ok $run->{server_cpu_s}, '>', 0, "$name: CPU";
    ok abs($run->{rps} - $run->{requests} / $run->{seconds}) < 1e-6,
        "$name: requests/s";
    my @rows = map [split], split /\n/, slurp("$out/$run->{raw}");
    cmp_ok sum0(map $_->[1], @rows), '>=', $run->{requests},
        "$name: no fewer samples than requests";
    is $run->{latency_us}{max}, $rows[-1][0], "$name: the greatest of them";
}
like slurp("$out/report.html"), qr/bare epoll loop \(a limit, no server\)/,
    'the report says what the loop is';
like $log, qr/≤ 1.15 × a bare epoll loop\s+fixedstatic did not take part/,
    'a target says who is missing';
done_testing;
