# SPDX-License-Identifier: Apache-2.0
# FixedProcesses auto: one process per CPU that may be used, but no more than
# a quota of the control group allows.
use strict;
use warnings;
use POSIX ();
use Test::More;
use Test::Cgroup;
use Test::Httpd;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;
my $ncpu = my @cpus = Test::Httpd::cpus();
my $quota = POSIX::ceil(Test::Cgroup::cpu_quota() // $ncpu);

for my $case ([ '', [] ], [ "CPUAffinityCPUs 1\n", [] ],
    [ "CPUAffinityCPUs +0-1\n", [] ], [ '', [ 'taskset', '-c', '0' ] ]) {
    my ($text, $prefix) = @$case;
    my $want = $text =~ / 1\n/ || @$prefix ? 1
        : $text =~ /0-1/ ? 2 : $ncpu;
    $want = $quota if $want > $quota;
    my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 4\n",
        prefix => $prefix, conf => "FixedProcesses auto\nCPUAffinity cpu\n"
        . $text);
    $h->start;
    (my $name = "$text@$prefix") =~ s/\n//;
    ok $h->wait_for(sub { $h->children == $want }),
        "auto with '$name': $want processes";
    is $h->get('/1k.txt')->{status}, 200, 'and they answer';
    my @t = $h->threads('static');
    ok $h->wait_for(sub {
        my @s = $h->threads('static');
        return @s == $want && !grep { $_->{cpus} =~ /[-,]/ } @s;
    }), 'each loop is pinned to one CPU';
    $h->finish;
}

done_testing;
