# SPDX-License-Identifier: Apache-2.0
# FixedSteering: a connection reaches the seat of the CPU that it comes from.
use strict;
use warnings;
use Test::More;
use Test::Httpd;
use Test::Listen qw(fetch);

my @cpus = Test::Httpd::cpus();
plan skip_all => "one CPU ($cpus[0]) is nothing to steer by" if @cpus < 2;
plan skip_all => 'no taskset' if system 'taskset -p $$ >/dev/null 2>&1';

sub server {
    my ($conf, %o) = @_;
    my $h = Test::Httpd->new(conf => <<"END", %o);
<Location /status>
    SetHandler cpuaffinity-status
</Location>
CPUAffinityCPUs $cpus[0],$cpus[1]
$conf
END
    return $h->start;
}

sub accepts {
    my ($h) = @_;
    return map { $_->{accepts} } @{ $h->json('/status?json')->{seats} };
}

# So many connections from one CPU. @return how many more each seat accepted
sub from {
    my ($h, $cpu, $n) = @_;
    my @before = accepts($h);
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        system "taskset -cp $cpu $$ >/dev/null";
        fetch($h->port) // POSIX::_exit(1) for 1 .. $n;
        POSIX::_exit(0);
    }
    waitpid $pid, 0;
    is $?, 0, "CPU $cpu: $n answers";
    my @after = accepts($h);
    return map { $after[$_] - $before[$_] } 0 .. $#after;
}

# Every seat has its process, and no neighbour serves its sockets.
sub settled {
    my ($h, $seats, $name) = @_;
    ok $h->seated($seats, '/status'),
        "$name: $seats seats, each with its sockets";
}

# From a CPU, while no neighbour serves a seat. @return as from()
sub from_settled {
    my ($name, $h, $cpu, $n) = @_;
    my (@got, $adoptions);
    my $tries = 5;
    do {
        settled($h, scalar @{ $h->json('/status?json')->{seats} }, $name);
        $adoptions = $h->adoptions;
        @got = from($h, $cpu, $n);
    } while $tries-- && $adoptions != $h->adoptions;
    return @got;
}

# The status is asked for twice in between, from any CPU.
sub follows {
    my ($name, $h, $seats_of) = @_;
    for my $cpu (@cpus[0, 1]) {
        my @seats = @{ $seats_of->($h, $cpu) };
        my @got = from_settled($name, $h, $cpu, 30);
        my $right = 0;
        $right += $got[$_] for @seats;
        my $wrong = -$right;
        $wrong += $_ for @got;
        cmp_ok $right, '>=', 30, "$name: CPU $cpu: to seat @seats (@got)";
        cmp_ok $wrong, '<=', 3, "$name: CPU $cpu: to no other";
        if (@seats > 1) {
            is scalar(grep { !$got[$_] } @seats), 0,
                "$name: CPU $cpu: to each of them";
        }
    }
}

# Seats whose process set is that CPU.
sub seats_of {
    my ($h, $cpu) = @_;
    my @seats = @{ $h->json('/status?json')->{seats} };
    return [ grep { $seats[$_]{process} eq $cpu } 0 .. $#seats ];
}

sub state_is {
    my ($h, $method, $why, $name) = @_;
    my $status = $h->json('/status?json');
    is $status->{steering}, $method, "$name: $method";
    like $status->{steering_why}, $why, "$name: the reason";
}

my $h = server("FixedProcesses 2\nCPUAffinity cpu\nFixedSteering cpu\n");
state_is($h, 'incoming-cpu', qr/^$/, 'a CPU per seat');
follows('a CPU per seat', $h, \&seats_of);
# The same sockets serve a restart that shares the CPUs.
my $four = "FixedProcesses 4\nCPUAffinity map $cpus[0] $cpus[1]\n"
    . "FixedSteering cpu\n<Location /status>\nSetHandler cpuaffinity-status\n"
    . "</Location>\n";
$h->write_conf($four);
ok $h->graceful, 'a restart with two seats per CPU';
settled($h, 4, 'two seats per CPU');
state_is($h, 'cbpf', qr/^$/, 'two seats per CPU');
follows('two seats per CPU', $h, \&seats_of);
(my $two = $four) =~ s/Processes 4/Processes 2/;
$h->write_conf($two);
ok $h->graceful, 'a restart with one again';
settled($h, 2, 'surplus sockets');
state_is($h, 'incoming-cpu', qr/^$/, 'surplus sockets');
follows('surplus sockets', $h, \&seats_of);
(my $off = $two) =~ s/Steering cpu/Steering off/;
$h->write_conf($off);
ok $h->graceful, 'a restart without steering';
settled($h, 2, 'no steering');
state_is($h, 'off', qr/FixedSteering off/, 'no steering');
my @got = from_settled('no steering', $h, $cpus[0], 60);
is scalar(grep { $_ < 3 } @got), 0, "both seats get some (@got)";
$h->finish;

# Nothing to steer by.
$h = server("FixedProcesses 2\nFixedSteering auto\n");
state_is($h, 'off', qr/CPUAffinity is off/, 'without CPUAffinity');
like $h->log, qr/not steered: CPUAffinity is off/, 'is said in the log';
$h->finish;

# auto: on, until it is seen to be wrong.
$h = server("FixedProcesses 2\nCPUAffinity cpu\n");
state_is($h, 'incoming-cpu', qr/^$/, 'auto is the default');
like $h->log, qr/connections are steered by incoming-cpu/, 'and says so';
$h->finish;

done_testing;
