# SPDX-License-Identifier: Apache-2.0
# The command line tool: what it prints for programs, what it refuses and
# how, and its view of running httpds with and without the module.
use strict;
use warnings;
use JSON::PP ();
use POSIX ();
use Test::More;
use Test::Httpd;

my $tool = Test::Httpd::build_dir() . '/cpuaffinity';

# @return (exit code, standard output, standard error)
sub run {
    my (@args) = @_;
    my $base = POSIX::getpid();
    my ($o, $e) = ("/tmp/cli.$base.out", "/tmp/cli.$base.err");
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $o;
        open STDERR, '>', $e;
        exec 'timeout', 20, $tool, @args or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    my $code = $? >> 8;
    my @text = map { open my $fh, '<', $_ or die "$_: $!"; local $/; scalar <$fh> } $o, $e;
    unlink $o, $e;
    return ($code, map { $_ // '' } @text);
}

sub json {
    my (@args) = @_;
    my ($code, $out, $err) = run(@args, '--json');
    is $code, 0, "@args: taken" or diag $err;
    return JSON::PP::decode_json($out);
}

subtest 'the plan for programs' => sub {
    my $plan = json('plan', '--synthetic', 'pack:2 l3:1 core:2 pu:2',
        '--affinity', 'package', '--listener', 'cpu exclusive', '--workers',
        'cpu', '--processes', 2, '--threads', 3, '--allowed', '0-6');
    is_deeply [sort keys %$plan], [qw(cpus seats unit warnings)], 'keys';
    is $plan->{unit}, 'package', 'unit';
    is scalar @{ $plan->{cpus} }, 8, 'a row for each CPU';
    my %row = %{ $plan->{cpus}[5] };
    is_deeply [@row{qw(cpu package numa l3 core smt reason)}],
        [5, 1, 0, 1, 2, 1, ''], 'a row';
    ok $row{used}, 'that is used';
    is_deeply [@{ $plan->{cpus}[7] }{qw(used reason)}],
        [JSON::PP::false, 'outside the inherited mask'], 'one that is not';
    is_deeply $plan->{seats}, [
        { seat => 0, process => '0-3', listener => '0',
            workers => ['1', '2', '3'] },
        { seat => 1, process => '4-6', listener => '4',
            workers => ['5', '6', '5'] }], 'seats';
    is_deeply $plan->{warnings}, [], 'no warnings';
};

subtest 'options' => sub {
    my @machine = ('--synthetic', 'core:4 pu:2');
    my $plan = json('plan', @machine, '--affinity', 'cpu', '--smt', 'first',
        '--cpus', '!0-1', '--fixed', 'auto', '--threads', 0);
    is_deeply [map { $_->{process} } @{ $plan->{seats} }], [2, 4, 6],
        'SMT, CPUs, a fixed number by itself';
    is_deeply [map { $_->{reason} } @{ $plan->{cpus} }[0, 3]],
        ['outside CPUAffinityCPUs', 'SMT sibling'], 'and why others are out';
    $plan = json('plan', @machine);
    is scalar @{ $plan->{seats} }, 3, "httpd's own StartServers";
    is scalar @{ $plan->{seats}[0]{workers} }, 25, 'and ThreadsPerChild';
    $plan = json('plan', @machine, '--affinity', 'map 0-1', '--fixed', 2);
    is_deeply [map { $_->{process} } @{ $plan->{seats} }], ['0-1', '0-1'],
        'a map, a fixed number';
    $plan = json('plan');
    cmp_ok scalar @{ $plan->{cpus} }, '>=', 1, 'this machine';
};

subtest 'what is refused' => sub {
    my @machine = ('--synthetic', 'core:4 pu:1');
    for (
        [['--affinity', 'l4'], qr/--affinity.*'l4'.*l3/],
        [['--affinity', 'map'], qr/--affinity.*CPUSET/],
        [['--affinity', 'map 3-1'], qr/--affinity.*'3-1' is a reversed/],
        [['--strict', 'on', '--affinity', 'map 0 9'],
            qr/CPUAffinity map 9.*no CPU 9/],
        [['--affinity', 'cpu core'], qr/--affinity.*'core'/],
        [['--affinity', ''], qr/--affinity/],
        [['--listener', 'cpu shared'], qr/--listener.*'shared'/],
        [['--listener', '0,'], qr/--listener/],
        [['--workers', 'cpu exclusive'], qr/--workers.*'exclusive'/],
        [['--strict', 'on', '--cpus', '4'], qr/CPUAffinityCPUs 4.*no CPU 4/],
        [['--smt', 'second'], qr/--smt.*'second'/],
        [['--processes', '0'], qr/--processes.*'0'/],
        [['--processes', '2x'], qr/--processes.*'2x'/],
        [['--threads', '-1'], qr/--threads.*'-1'/],
        [['--fixed', 'some'], qr/--fixed.*'some'/],
        [['--allowed', '3-1'], qr/--allowed.*'3-1'/],
        [['--allowed', '99'], qr/--allowed|mask/],
        [['--strict', 'on', '--allowed', '0', '--affinity', 'map 0-1'],
            qr/CPUAffinity map 0-1: CPU 1 is outside the inherited mask/],
    ) {
        my ($args, $message) = @$_;
        my ($code, $out, $err) = run('plan', @machine, @$args);
        is $code, 1, "@$args";
        is $out, '', '  nothing is printed';
        like $err, $message, '  option, value, reason';
        is scalar(() = $err =~ /\n/g), 1, '  in one line';
    }
};

subtest 'machines that are none' => sub {
    for (['--synthetic', 'nonsense'], ['--synthetic', ''],
        ['--xml', '/nonexistent'], ['--xml', '/dev/null'],
        ['--xml', 'Makefile']) {
        my ($code, $out, $err) = run('plan', @$_);
        is $code, 1, "@$_";
        like $err, qr/$_->[0].*\Q$_->[1]\E/, '  is named';
    }
    local $ENV{HWLOC_FSROOT} = '/nonexistent';
    my ($code, $out, $err) = run('plan', '--affinity', 'cpu');
    is $code, 0, 'this machine without sysfs';
    like $out, qr/^warning: the topology cannot be read/m, '  warns';
    like $out, qr/^seat 0: process \d+,/m, '  and pins by the mask';
};

subtest 'usage' => sub {
    for ([], ['nonsense'], ['plan', '--nonsense'], ['plan', 'word'],
        ['plan', '--xml'], ['plan', '--xml', 'a', '--synthetic', 'pu:1'],
        ['ps', '1', '2'], ['ps', '--nonsense']) {
        my ($code, $out, $err) = run(@$_);
        is $code, 2, "exit 2: cpuaffinity @$_";
        isnt $err, '', '  with a message';
    }
    for (['--help'], ['plan', '--help'], ['ps', '--help']) {
        my ($code, $out) = run(@$_);
        is $code, 0, "@$_";
        like $out, qr/^usage: cpuaffinity/, '  prints the usage';
    }
};

subtest 'ps on an httpd without the module' => sub {
    my $h = Test::Httpd->new(module => 0);
    $h->start;
    # both children have all their threads: main, listener and 4 workers
    $h->wait_for(sub {
        my @tasks = map { glob "/proc/$_/task/*" } $h->children;
        return @tasks == 12;
    });
    my ($child) = $h->children;
    my $rows = json('ps', $h->parent);
    my %pids = map { $_->{pid} => 1 } @$rows;
    is_deeply [sort { $a <=> $b } keys %pids],
        [sort { $a <=> $b } $h->parent, $h->children], 'parent and children';
    my ($worker) = grep { $_->{pid} == $child && $_->{tid} != $child } @$rows;
    is_deeply [@$worker{qw(seat role wanted)}], [-1, '-', '-'],
        'seat, role and wanted set are unknown';
    like $worker->{actual}, qr/^[\d,-]+$/, 'the actual set is known';
    cmp_ok $worker->{$_}, '>=', 0, $_ for qw(last_cpu migrations cpu_ms);
    is_deeply [map { $_->{pid} } @{ json('ps', $child) }],
        [map { $_->{pid} } @$rows], 'a child stands for its server';
    my ($code, $out) = run('ps', $h->parent);
    like $out, qr/^SEAT +PID +TID +ROLE/, 'a table for people';
    is scalar(() = $out =~ /\n/g), @$rows + 1, 'with as many rows';
    ($code, $out) = run('ps');
    like $out, qr/ $child /, 'found without a PID';
    $h->finish;
};

subtest 'ps on an httpd with the module' => sub {
    my $h = Test::Httpd->new(conf => "CPUAffinity map 0\n"
        . "CPUAffinityWorkers cpu\n");
    $h->start;
    $h->wait_for(sub {
        my %n;
        $n{ $_->{role} . ($_->{cpus} eq '0') }++ for $h->threads;
        return ($n{worker1} // 0) == 8 && ($n{listener1} // 0) == 2;
    });
    my $rows = json('ps', $h->parent);
    my @workers = grep { $_->{role} eq 'worker' } @$rows;
    is scalar @workers, 8, 'workers are known';
    is scalar(grep { $_->{wanted} ne '0' || $_->{actual} ne '0' } @workers), 0,
        'wanted and actual sets';
    is_deeply [sort map { "$_->{seat}/$_->{index}" } @workers],
        [qw(0/0 0/1 0/2 0/3 1/0 1/1 1/2 1/3)], 'seats and indexes';
    is scalar(grep { $_->{role} eq 'listener' } @$rows), 2, 'listeners too';
    $h->finish;
};

subtest 'ps refuses' => sub {
    my ($code, $out, $err) = run('ps', 'x');
    isnt $code, 0, 'what is no number';
    like $err, qr/'x'/, '  by name';
    ($code, $out, $err) = run('ps', 999999999);
    is $code, 1, 'a process that is not there';
    ($code, $out, $err) = run('ps', $$);
    is $code, 1, 'a process that is no httpd';
    like $err, qr/not httpd/, '  and says so';
};
done_testing;
