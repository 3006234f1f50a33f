# bench/placed and bench/serve leave no server behind, and the former's table
# has a row for each place.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use IPC::Open3;
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
$ENV{BENCH_PLACED_TEST} = $$;

# Processes that this test has left, known by their environment.
sub left {
    return grep {
        my $env = '';
        if (open my $fh, '<', $_) {
            local $/;
            $env = <$fh> // '';
        }
        $env =~ /(?:^|\0)BENCH_PLACED_TEST=$$(?:\0|$)/
    } glob '/proc/[0-9]*/environ';
}

# How many are left, other than this one, after at most 5 s.
sub left_others {
    my $end = time + 5;
    my @others;
    do {
        @others = grep { !m{/proc/$$/} } left();
    } while (@others && time < $end && sleep 0.1);
    return scalar @others;
}

like `$top/bench/placed --files 2k 2>&1`, qr/no such file: 2k/, 'no such file';

SKIP: {
    skip 'nginx is not installed: make bench installs it', 3
        if !grep { -x "$_/nginx" } split(/:/, $ENV{PATH}), '/usr/sbin';
    skip 'needs two CPUs', 3
        if `nproc` < 2;
    my $text = `timeout 60 $top/bench/placed --files 100k --rounds 1 \\
        --build $build 2>&1`;
    is $? >> 8, 0, 'bench/placed' or diag $text;
    is scalar(() = $text =~ /^\| 100 KiB \| .*? \| [\d.]+ \| [\d.]+ \| /mg),
        2, 'a row for each place' or diag $text;
    is left_others(), 0, 'no process is left';
}

my $pid = open3(my $in, my $out, undef, "$top/bench/serve", 'fixedstatic',
    '--port', 0, '--build', $build);
my $line = <$out>;
like $line, qr{^httpd fixed \+ static .* on http://127.0.0.1:\d+$},
    'bench/serve';
kill 'TERM', $pid;
waitpid $pid, 0;
is $? >> 8, 143, 'ends by SIGTERM';
is left_others(), 0, 'and its server, too';
done_testing;
