# SPDX-License-Identifier: Apache-2.0
# Restarts that follow one another faster than all processes begin: whichever
# is there serves the sockets of those that have not come yet, at once. One
# process of each generation comes in time, the other never does.
use strict;
use warnings;
use Test::Httpd;
use Test::Listen qw(fetch);
use Test::More;
use Time::HiRes qw(time);

plan skip_all => 'a sanitizer has LD_PRELOAD to itself' if $ENV{PRELOAD};
my $late = Test::Httpd::build_dir() . '/preload/late.so';
plan skip_all => "$late is not built (make tool)" unless -e $late;

my $generations = 10;
my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 8\n",
    conf => "FixedProcesses 2\n");
chmod 01777, $h->root . '/run';
$h->{env} = { LD_PRELOAD => $late, LATE => 6000,
    LATE_MARK => $h->root . '/run/first' };
$h->start;

# Of each generation, for a third of a second from when its one process
# begins: a neighbour that takes two looks to believe that the other is missing
# serves its socket later, and who has come to that one waits as long.
my ($answers, $bad, $served) = (0, 0, 0);
my $marks = sub { my @m = glob $h->root . '/run/first.*'; return scalar @m };
for (1 .. $generations) {
    my $before = $marks->();
    $h->graceful or last;
    $h->wait_for(sub { $marks->() > $before }, 10) or last;
    $served++;
    my $end = time + 0.3;
    while (time < $end) {
        my ($body, $why) = fetch($h->port, path => '/1k.txt');
        defined $body ? $answers++ : $bad++;
        diag $why unless defined $body;
    }
}
is $served, $generations, "$generations generations, of one process each";
is $bad, 0, 'nothing is lost';

# One connection in two is the missing one's: without its neighbour there are
# two answers a generation.
cmp_ok $answers, '>', 6 * $generations, "$answers answers";
$h->finish;
done_testing;
