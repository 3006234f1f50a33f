# When the bench cannot go on: one clear message, everything stopped, what was
# measured is kept.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use JSON::PP;
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
my $out = tempdir(CLEANUP => 1);
my $what = "--contestants stock --only 'static-1k-ka-c10\$' --seconds 0.4 "
    . "--no-plots --build $build --out $out";

sub slurp {
    open my $fh, '<', $_[0] or return '';
    local $/;
    return <$fh> // '';
}

# Command lines of processes that the benches of this test have left. They
# are known by their environment: others may run a bench here, too.
my $mark = "BENCH_FAILURES_TEST=$$";
sub left {
    return map { (slurp("$_/cmdline") // '') =~ tr/\0/ /r }
        grep { slurp("$_/environ") =~ /(?:^|\0)\Q$mark\E(?:\0|$)/ }
        glob '/proc/[0-9]*';
}
$ENV{BENCH_FAILURES_TEST} = $$;

my $busy = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
    or die $!;
my $port = $busy->sockport;
my $text = `timeout 30 $top/bench/run $what --congestion system --port $port 2>&1`;
is $? >> 8, 1, 'a port in use: exit code 1';
like $text, qr/^bench: port $port for httpd is in use: /m, 'and it says so';
unlike $text, qr/Traceback/, 'no traceback';

$text = `timeout 30 $top/bench/run $what --httpd /bin/false 2>&1`;
is $? >> 8, 1, 'a server that does not start: exit code 1';
like $text, qr/ended at start \(code 1\)/, 'and it says so';
unlike $text, qr/Traceback/, 'no traceback';

my $empty = tempdir(CLEANUP => 1);
$text = `PATH=$empty /usr/bin/timeout 30 /usr/bin/python3 $top/bench/run $what 2>&1`;
is $? >> 8, 1, 'no h2load: exit code 1';
like $text, qr/h2load is missing: apt-get install nghttp2-client/,
    'and it names the package';

# Interrupted in the middle of the rounds.
my $pid = fork // die $!;
if (!$pid) {
    open STDOUT, '>', "$out/stdout";
    open STDERR, '>', "$out/stderr";
    exec 'sh', '-c', "exec timeout 60 $top/bench/run $what --rounds 90";
}
my $end = time + 40;
sleep 0.1 until slurp("$out/stderr") =~ /round 3 of/ || time > $end;
my ($child) = map { m{/proc/(\d+)/} ? $1 : () }
    grep { slurp($_) =~ /^\d+ \(.*?\) \S $pid /s } glob '/proc/[0-9]*/stat';
ok +(grep /-DFOREGROUND/, left()), 'its server is found by the mark';
kill 'INT', $child || $pid;
waitpid $pid, 0;
is $? >> 8, 130, 'interrupted: exit code 130';
like slurp("$out/stderr"), qr/interrupted; everything is stopped/,
    'and it says so';
my $results = decode_json(slurp("$out/results.json"));
ok !$results->{complete}, 'results.json says that it is not complete';
is $results->{ended_by}, 'interrupted', 'and why';
cmp_ok scalar @{ $results->{scenarios}[0]{runs} }, '>=', 2,
    'the runs before are kept';
like slurp("$out/report.html"), qr/Not complete: interrupted/,
    'the report says so too';
# A generator that was just being started ends by itself.
$end = time + 5;
sleep 0.1 while left() && time < $end;
is_deeply [ left() ], [], 'no process is left';
done_testing;
