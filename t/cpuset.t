# SPDX-License-Identifier: Apache-2.0
# The CPUs that httpd may use follow its cpuset at each restart, and a taskset
# of the administrator's holds in it; "auto" counts anew.
use strict;
use warnings;
use Test::More;
use Test::Cgroup;
use Test::Httpd;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;
my $quota = Test::Cgroup::cpu_quota();
plan skip_all => 'a quota of less than two CPUs' if $quota && $quota < 2;

sub runs_on {
    my ($h, $name, @cpus) = @_;
    ok $h->wait_for(sub {
        my @on = sort map { $_->{cpus} } $h->threads('static');
        return "@on" eq "@cpus" && $h->children == @cpus;
    }), "$name: a process on each of CPUs @cpus"
        or diag join ' ', map { $_->{cpus} } $h->threads('static');
    is $h->get('/1k.txt')->{status}, 200, '  and an answer';
}

sub server {
    my ($group, @prefix) = @_;
    my $h = Test::Httpd->new(prefix => [ $group->prefix, @prefix ],
        mpm_conf => "ThreadsPerChild 4\n",
        conf => "FixedProcesses auto\nCPUAffinity cpu\n");
    $h->start;
    return $h;
}

sub restart_on {
    my ($h, $group, $cpus) = @_;
    ok $group->cpus($cpus), "the cpuset becomes $cpus";
    ok $h->graceful, '  and httpd restarts';
}

# [name, cpuset at start, prefix, CPUs then, [new cpuset, CPUs then], ...]
my @cases = (
    [ 'one CPU, two, one', '0', [], [0], [ '0-1', 0, 1 ], [ '0', 0 ] ],
    [ 'another CPU', '0', [], [0], [ '1', 1 ], [ '0-1', 0, 1 ] ],
    [ 'a taskset in it', '0-1', [ 'taskset', '-c', 1 ], [1], [ '1', 1 ],
        [ '0-1', 1 ] ],
    [ 'a taskset that goes', '0-1', [ 'taskset', '-c', 1 ], [1],
        [ '0', 0 ], [ '0-1', 1 ] ],
);
for my $case (@cases) {
    my ($name, $first, $prefix, $then, @steps) = @$case;
  SKIP: {
        my $group = Test::Cgroup->cpuset($first)
            or skip Test::Cgroup::reason(), 1;
        my $h = server($group, @$prefix);
        runs_on($h, $name, @$then);
        for (@steps) {
            my ($cpus, @want) = @$_;
            restart_on($h, $group, $cpus);
            runs_on($h, "$name, then $cpus", @want);
        }
        $h->finish;
        ok $group->remove, 'the group can go';
    }
}

done_testing;
