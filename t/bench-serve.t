# bench/serve, told to end, leaves no server behind.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use IPC::Open3;
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
# What is started here is known by its environment.
$ENV{BENCH_SERVE_TEST} = $$;

sub left {
    return grep {
        my $env = '';
        if (open my $fh, '<', $_) {
            local $/;
            $env = <$fh> // '';
        }
        $env =~ /(?:^|\0)BENCH_SERVE_TEST=$$(?:\0|$)/
    } glob '/proc/[0-9]*/environ';
}

my $pid = open3(my $in, my $out, undef, "$top/bench/serve", 'fixedstatic',
    '--port', 0, '--build', $build);
my $line = <$out>;
like $line, qr{^httpd fixed \+ static .* on http://127.0.0.1:\d+$},
    'bench/serve';
cmp_ok scalar(left()), '>', 1, 'it has a server';
kill 'TERM', $pid;
waitpid $pid, 0;
is $? >> 8, 143, 'ends by SIGTERM';
my $end = time + 5;
sleep 0.1 while left() && time < $end;
is_deeply [ left() ], [], 'and its server, too';
done_testing;
