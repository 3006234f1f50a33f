# SPDX-License-Identifier: Apache-2.0
# Plans on the topologies of real machines, lstopo exports in
# ../shared/topologies (or $SHARED/topologies): for several units and numbers
# of processes, only allowed CPUs are used, units are not cut, nobody is left
# without a CPU, and auto leaves no allowed CPU without a process.
use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Test::Httpd;

my $dir = ($ENV{SHARED} || '../shared') . '/topologies';
my @files = sort glob "$dir/*.xml";
plan skip_all => "no topologies of real machines in $dir" if !@files;

my $tool = Test::Httpd::build_dir() . '/cpuaffinity';
my @units = qw(machine package numa l3 core cpu);

sub plan_of {
    my (@args) = @_;
    open my $out, '-|', $tool, 'plan', '--json', @args or die "$tool: $!";
    local $/;
    my $json = <$out>;
    close $out;
    return $? ? undef : JSON::PP::decode_json($json);
}

# "0-2,5" -> (0, 1, 2, 5)
sub cpus {
    return map { my ($a, $b) = split /-/; $a .. $b // $a } split /,/, $_[0];
}

# What is wrong with a plan: "" when nothing is.
sub faults {
    my ($plan, $all) = @_;
    my %row = map { $_->{cpu} => $_ } @{ $plan->{cpus} };
    my %owner;
    for my $seat (@{ $plan->{seats} }) {
        for my $set (@$seat{qw(process listener)}, @{ $seat->{workers} }) {
            return "seat $seat->{seat}: an empty set" if $set eq '';
            for my $cpu (cpus($set)) {
                return "CPU $cpu is not to be used"
                    if !$row{$cpu} || !$row{$cpu}{used};
            }
        }
        my %mine = map { $_ => 1 } cpus($seat->{process});
        $owner{$_} = $seat->{process} for keys %mine;
        for my $set ($seat->{listener}, @{ $seat->{workers} }) {
            !$mine{$_} and return "$set is outside $seat->{process}"
                for cpus($set);
        }
    }
    my $key = $plan->{unit};
    my %of;
    for my $row (grep { $_->{used} } @{ $plan->{cpus} }) {
        my $owner = $owner{ $row->{cpu} };
        return "CPU $row->{cpu} has no process" if $all && !defined $owner;
        my $id = $key eq 'machine' ? 0 : $row->{$key};
        next if !defined $owner || $id < 0;
        $of{$id} //= $owner;
        return "$key $id is cut" if $of{$id} ne $owner;
    }
    return '';
}

for my $file (@files) {
    my ($name) = $file =~ m{([^/]+)\.xml$};
    subtest $name => sub {
        my $one = plan_of('--xml', $file, '--affinity', 'machine',
            '--processes', 1, '--threads', 1) or return fail 'loads';
        my @used = grep { $_->{used} } @{ $one->{cpus} };
        my @roles = ([], ['--listener', 'core', '--workers', 'cpu'],
            ['--workers', 'l3']);
        for my $n (1, 2, 3, 8, scalar @used) {
            for my $roles (@roles) {
                my $plan = plan_of('--xml', $file, '--affinity', 'auto',
                    '--processes', $n, '--threads', 3, @$roles);
                is faults($plan, 1), '', "auto for $n, @$roles";
            }
        }
        for my $unit (@units) {
            for my $n (2, 5) {
                my $plan = plan_of('--xml', $file, '--affinity', $unit,
                    '--processes', $n, '--threads', 2);
                is faults($plan, 0), '', "$unit for $n";
            }
        }
        # a mask that leaves every third CPU
        my $list = join ",", map { $used[3 * $_]{cpu} } 0 .. $#used / 3;
        my $plan = plan_of('--xml', $file, '--affinity', 'auto', '--allowed',
            $list, '--processes', 4, '--threads', 1);
        is faults($plan, 1), '', 'auto on every third CPU';
        is scalar(grep { $_->{used} } @{ $plan->{cpus} }),
            scalar(split /,/, $list), 'and no other one is used';
        $plan = plan_of('--xml', $file, '--affinity', 'cpu', '--smt', 'first',
            '--fixed', 'auto', '--threads', 1);
        my %core;
        $core{ $_->{core} }++ for grep { $_->{used} } @{ $plan->{cpus} };
        is scalar(grep { $_ > 1 } values %core), 0, 'SMT first: one a core';
        is faults($plan, 1), '', 'and a process for each';
    };
}
done_testing;
