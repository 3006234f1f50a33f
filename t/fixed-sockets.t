# SPDX-License-Identifier: Apache-2.0
# The seats' listening sockets: as many as seats for every Listen, nothing lost
# when their number changes, nothing left behind.
use strict;
use warnings;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Test::Listen qw(listening holds fetch hammer);
use Time::HiRes qw(sleep time);

my $ipv6 = -e '/proc/net/if_inet6';
my ($p1, $p2, $p3) = map { Test::Httpd::free_port() } 1 .. 3;

# The processes that are no children of the MPM: mod_cgid's daemon.
sub daemons {
    my ($h, @children) = @_;
    my %child = map { $_ => 1 } @children;
    return grep { !$child{$_} } $h->children;
}

sub serving {
    my ($h, $port, $n) = @_;
    return [ grep { holds($_, $port) == $n } $h->children ];
}

sub no_loss {
    my ($name, $end, $may) = @_;
    my ($good, $bad) = $end->();
    ok $good && @$bad <= ($may || 0),
        "$name: $good answers, " . ($may ? "at most $may" : 'none') . ' lost'
        or diag join "\n", @$bad;
}

# Without a next generation that has a door, what waits at the door is closed:
# at most a few that arrived in that moment, and nobody is left hanging.
sub few_closed {
    my ($name, $end, $most) = @_;
    my ($good, $bad) = $end->();
    my @hung = grep {/timeout/} @$bad;
    ok $good && !@hung && @$bad <= $most,
        "$name: $good answers, " . @$bad . ' closed, none hangs'
        or diag join "\n", @$bad;
}

# Exactly so many sockets listen on the port, in the parent.
sub settles {
    my ($h, $port, $n, $name, $seconds) = @_;
    ok $h->wait_for(
        sub {
            holds($h->parent, $port) == $n
                && keys %{ listening($port) } == $n;
        }, $seconds || 10), $name
        or diag holds($h->parent, $port), ' in the parent, ',
        scalar keys %{ listening($port) }, ' in all';
}

sub listen_lines { return join '', map {"Listen $_\n"} @_ }

# --- every Listen, every kind of address, and mod_cgid beside them
my @listen = ("127.0.0.1:$p1", $ipv6 ? ("[::1]:$p2", "[::]:$p3") : ());
my $h = Test::Httpd->new(modules => ['cgid'], listen => listen_lines(@listen),
    conf => "FixedProcesses 3\nListenBacklog 300\nSendBufferSize 65536\n"
        . "ScriptSock \@ROOT\@/run/cgisock\nExtendedStatus off\n");
$h->{port} = $p1;
$h->start;
for my $at (@listen) {
    my ($port) = $at =~ /(\d+)$/;
    settles($h, $port, 3, "$at: a socket per seat");
    ok $h->wait_for(sub { @{ serving($h, $port, 3) } == 3 }),
        "$at: the children hold them";
    my @cgid = daemons($h, @{ serving($h, $port, 3) });
    is scalar(@cgid), 1, "$at: mod_cgid's daemon";
    is holds($cgid[0], $port), 0, "$at: holds none";
}
is_deeply [ grep { !defined } map { scalar fetch($p1) } 1 .. 60 ], [],
    'IPv4: every seat serves';
SKIP: {
    skip 'no IPv6 here', 3 unless $ipv6;
    for (["IPv6", '::1', $p2], ['IPv6, wildcard', '::1', $p3],
        ['IPv4 by the IPv6 wildcard', '127.0.0.1', $p3])
    {
        my ($name, $host, $port) = @$_;
        is_deeply [ grep { !defined }
            map { scalar fetch($port, host => $host) } 1 .. 30 ], [],
            "$name: every seat serves";
    }
}

# --- graceful stop: refused, not swallowed
$h->signal('WINCH');
my ($refused, $hung, $end) = (0, 0, time + 10 * Test::Httpd::slow());
while (!$refused && time < $end) {
    my ($body, $why) = fetch($p1);
    next if defined $body;
    $refused++ if $why =~ /refused/;
    $hung++ if $why =~ /timeout|timed out/i;
    sleep 0.05;
}
ok $refused && !$hung, 'graceful stop refuses connections, none hangs';
ok $h->wait_for(sub { !$h->children }, 10), 'and ends';
$h->finish;

# --- the number of seats changes while clients come
sub fixed { return $_[0] ? "FixedProcesses $_[0]\n" : '' }
$h = Test::Httpd->new(listen => listen_lines("127.0.0.1:$p1"),
    conf => fixed(2));
$h->{port} = $p1;
$h->start;
settles($h, $p1, 2, 'two seats');
my $clients = hammer($p1, clients => 2, pause => 0.002);
for my $n (4, 3, 1) {
    $h->write_conf(fixed($n));
    ok $h->graceful, "a restart with $n";
    sleep 1.5;
}
cmp_ok holds($h->parent, $p1), '>=', 1, 'surplus sockets are emptied first';
settles($h, $p1, 1, 'then one is left', 40);
no_loss('2, 4, 3, 1 seats', $clients);
$clients = hammer($p1, clients => 2, pause => 0.002);
$h->write_conf(fixed(0));
ok $h->graceful, 'a restart that turns the mode off';
sleep 1.5;
no_loss('off', $clients);
$clients = hammer($p1, clients => 2, pause => 0.002);
$h->write_conf(fixed(3));
ok $h->graceful, 'and on again';
settles($h, $p1, 3, 'three seats');
sleep 1.5;
no_loss('on', $clients);
$clients = hammer($p1, clients => 2, pause => 0.002);
$h->write_conf(fixed(0));
ok $h->graceful, 'off, with three seats';
sleep 1.5;
no_loss('off', $clients);
$clients = hammer($p1, clients => 2, pause => 0.002);
ok $h->graceful, 'and once more';
settles($h, $p1, 1, "httpd's own socket is left");
no_loss('off as before', $clients);

# --- httpd drops the module: its sockets become ordinary ones
$h->write_conf(fixed(3));
ok $h->graceful, 'three seats again';
settles($h, $p1, 3, 'three sockets');
sleep 1;
$clients = hammer($p1, clients => 2, pause => 0.002);
$h->{module} = 0;
$h->write_conf('');
ok $h->graceful, 'a restart without the module';
sleep 1.5;
is holds($h->parent, $p1), 3, 'httpd has kept them';
$h->{module} = 1;
$h->write_conf(fixed(2));
ok $h->graceful, 'a restart with it';
like $h->log, qr/not possible before httpd is stopped and started/,
    'has to wait for a full restart, which is said';
sleep 1.5;
few_closed('without the module and with it', $clients, 4);
$h->finish;

# --- a Listen comes and goes
$h = Test::Httpd->new(listen => listen_lines(map {"127.0.0.1:$_"} $p1, $p2),
    conf => fixed(2));
$h->{port} = $p1;
$h->start;
settles($h, $p2, 2, 'two Listens: the second');
my $stay = hammer($p1, clients => 1, pause => 0.002);
my $go = hammer($p2, clients => 1, pause => 0.002);
$h->{listen} = listen_lines("127.0.0.1:$p1");
$h->write_conf(fixed(2));
ok $h->graceful, 'a restart without it';
sleep 0.5;
my ($good, $bad) = $go->();
my @lost = grep { !/^connect: / } @$bad;
ok $good && !@lost, "nothing that was accepted is lost ($good answers)"
    or diag join "\n", @lost;
$h->{listen} = listen_lines(map {"127.0.0.1:$_"} $p2, $p1);
$h->write_conf(fixed(2));
ok $h->graceful, 'a restart with it, in another order';
settles($h, $p2, 2, 'it is back');
is_deeply [ grep { !defined } map { scalar fetch($p2) } 1 .. 40 ], [],
    'and served';
$h->{listen} = listen_lines("127.0.0.1:$p1");
$h->write_conf(fixed(2));
ok $h->graceful, 'a restart without it';
settles($h, $p2, 0, 'nothing is left of it', 40);
is holds($h->parent, $p1), 2, 'the other has its two';
no_loss('the Listen that stayed', $stay);
$h->finish;

# --- a restart that kills the children
$h = Test::Httpd->new(listen => listen_lines("127.0.0.1:$p1"),
    conf => fixed(3));
$h->{port} = $p1;
$h->start;
ok $h->graceful('HUP'), 'an ungraceful restart';
settles($h, $p1, 3, 'has the same sockets');
is_deeply [ grep { !defined } map { scalar fetch($p1) } 1 .. 30 ], [],
    'and every seat serves';
$h->finish;

# --- sockets that systemd has opened
SKIP: {
    my $libexec = Test::Httpd::libexec();
    skip 'this httpd has no mod_systemd (socket activation)', 3
        unless -e "$libexec/mod_systemd.so";
    my $activate = q{
        use IO::Socket::INET; use POSIX ();
        my $s = IO::Socket::INET->new(LocalAddr => shift, Listen => 64,
            ReuseAddr => 1) or die "listen: $!";
        POSIX::dup2(fileno $s, 3) if fileno $s != 3;
        $^F = 3;
        @ENV{qw(LISTEN_FDS LISTEN_PID)} = (1, $$);
        exec @ARGV;
    };
    $h = Test::Httpd->new(modules => ['systemd'], conf => fixed(3),
        listen => "Listen $p1\n",
        prefix => [$^X, '-e', $activate, "127.0.0.1:$p1"]);
    $h->{port} = $p1;
    $h->start;
    settles($h, $p1, 3, "systemd's socket has two beside it");
    ok $h->graceful, 'a restart';
    is_deeply [ grep { !defined } map { scalar fetch($p1) } 1 .. 30 ], [],
        'every seat serves';
    $h->finish;
}

# --- a port that somebody else has
my $other = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$p3",
    Listen => 1, ReuseAddr => 1)
    or die "listen: $!";
$h = Test::Httpd->new(listen => listen_lines("127.0.0.1:$p3"),
    conf => fixed(2));
is eval { $h->start; 1 }, undef, 'a port in use: httpd does not start';
like $@, qr/could not bind to address 127\.0\.0\.1:$p3/,
    "with httpd's usual message";
my ($code, $out) = $h->run('-t');
is $code, 0, '-t does not care' or diag $out;
close $other;

done_testing;
