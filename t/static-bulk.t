# SPDX-License-Identifier: Apache-2.0
# One client that takes 10 GiB as fast as it can beside a hundred small ones:
# these keep their answers and their pace, and it is never stopped for them.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

# Where a file of holes is read without any memory for it, if there is such
# a place.
my $size = 10 << 30;
my $place = tempdir('cpuaff-XXXXXX', CLEANUP => 1,
    DIR => -w '/dev/shm' ? '/dev/shm' : '/tmp');
chmod 0755, $place;
my $h = Test::Static::server(conf => <<"END");
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
MaxKeepAliveRequests 0
KeepAliveTimeout 100
Alias /huge $place
<Directory "$place">
    Require all granted
</Directory>
END
{
    open my $f, '>', "$place/huge.bin" or die $!;
    truncate $f, $size or die $!;
    close $f;
    utime 1_700_000_000, 1_700_000_000, "$place/huge.bin";
}
$h->start;
ok $h->learn('/1k.txt'), 'a small file is known';
ok Test::Static::learn_long($h, '/huge/huge.bin'), 'a huge one, too';

my @small = map Test::Client->new($h->port), 1 .. 100;

# Small requests: so many for each client, in turn. @return p99
sub measure {
    my ($times, $what) = @_;
    my ($good, @seconds) =
        Test::Static::take_turns($h, \@small, $times * @small, '/1k.txt');
    is $good, $times * @small, "$times answers for each small client $what";
    return Test::Static::quantile(.99, @seconds);
}

# The big client and the loop need the CPUs, which the small ones then have
# to wait for on a machine with few. That is not what is looked at here, so
# in the rounds without the big one two programs are as busy, once they say
# so. They have a limit of their own: timeout(1), told to end before it knows
# its child, leaves that behind.
sub beside_work {
    my ($sub) = @_;
    my %busy;
    for (1 .. 2) {
        my $pid = open my $out, '-|', $^X, '-e',
            '$| = 1; alarm 30; print "busy\n"; 1 while 1' or die "perl: $!";
        $busy{$pid} = $out;
        readline $out;
    }
    my $result = $sub->();
    kill 'TERM', keys %busy;
    close $_ for values %busy;
    return $result;
}

# In the first round to the end of the file, or on a slow machine for 15
# seconds; then until the small ones have had theirs.
my (@before, @with);
for my $round (1 .. 3) {
    push @before, beside_work(sub { measure(10, 'without it') });
    my $pid = open my $gulp, '-|', 'timeout', 40,
        Test::Httpd::build_dir() . '/tool/gulp', $h->port, '/huge/huge.bin',
        15 or die "gulp: $!";
    is scalar(<$gulp>), "begun\n", 'the big one has begun';
    my $p99 = measure(10, 'while it reads');
    vec(my $ended = '', fileno $gulp, 1) = 1;
    push @with, $p99 unless select $ended, undef, undef, 0;
    kill 'TERM', $pid if $round > 1;
    my ($read, $longest) =
        (scalar(<$gulp>) // '') =~ /^read (\d+) longest (\d+)$/;
    close $gulp;
    cmp_ok $longest // 9999, '<', 2000 * Test::Httpd::slow(),
        sprintf 'it had %.1f GiB, and some of them all the time',
        ($read // 0) / (1 << 30);
}
cmp_ok scalar @with, '>', 0, 'it was slower than the small ones together';
# An answer waits for what is being sent of the big one, 2 MiB, a millisecond
# or two, and its client for its turn on a CPU. Without a bound it would wait
# for gigabytes.
my ($ok, $how) = Test::Static::undisturbed(\@before, \@with, .1);
ok $ok, $how or diag "before: @before\nwith: @with";
$h->finish;
done_testing;
