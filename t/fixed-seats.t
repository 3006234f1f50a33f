# SPDX-License-Identifier: Apache-2.0
# Many seats, more than this machine has CPUs: all serve; half of them stuck
# or dead, their neighbours stand in; their counters add up.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Time::HiRes qw(sleep time);

my $seats = 16;
my $httpd = Test::Httpd->new(
    conf => <<"END",
FixedProcesses $seats
FixedSteering off
LogLevel cpuaffinity:info
<Location /seats>
    SetHandler cpuaffinity-status
</Location>
END
    mpm_conf => "ThreadsPerChild 4\n");
$httpd->start;

# How many of @n connections, opened at once, are answered.
sub answered {
    my ($n, $seconds) = @_;
    my %open;
    for (1 .. $n) {
        my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
            PeerPort => $httpd->port, Timeout => 5) or next;
        print {$s} "GET /1k.txt HTTP/1.1\r\nHost: a\r\n"
            . "Connection: close\r\n\r\n";
        $open{ fileno $s } = $s;
    }
    my ($good, $end) = (0, time + $seconds * Test::Httpd::slow());
    while (%open && time < $end) {
        for my $s (IO::Select->new(values %open)->can_read(0.2)) {
            my $text = '';
            sysread $s, $text, 65536;
            $good++ if $text =~ m{^HTTP/1.1 200};
            delete $open{ fileno $s };
        }
    }
    return $good;
}

sub rows { return @{ $httpd->json('/seats?json')->{seats} } }

sub sum {
    my ($key, @rows) = @_;
    my $sum = 0;
    $sum += $_->{$key} for @rows;
    return $sum;
}

ok $httpd->wait_for(sub { $httpd->threads('static') == $seats }, 20),
    'a loop in each process';
ok $httpd->seated($seats, '/seats'), 'and a process in each seat';
is scalar(my @rows = rows()), $seats, 'a row for each seat';
my %pid = map { $_->{pid} => 1 } @rows;
is_deeply [ sort { $a <=> $b } keys %pid ], [ $httpd->children ],
    'with its process';
is answered(400, 20), 400, '400 connections are served';
my @now = rows();
is scalar(grep { !$_->{accepts} } @now), 0, 'by all seats';
cmp_ok sum('accepts', @now), '>=', 400, 'their counters add up';
is sum('handoffs', @now), sum('accepts', @now), 'all went to the threads';

my $back = qr/gives back the/;
my $before = $httpd->log_count($back);
my @victims = (map { $_->{pid} } @rows)[ 0, 1, 2, 5, 7, 8, 15 ];
ok $httpd->freeze(@victims), 'seven processes stand still';
is answered(100, 20), 100, 'with seven of them stuck, all are served';
kill 'CONT', @victims;
ok $httpd->wait_for(
    sub { $httpd->log_count($back) >= $before + 7 }, 20),
    'all of them are given back';
is answered(100, 20), 100, 'and all are served';

kill 'KILL', @victims;
is answered(100, 20), 100, 'with seven of them killed, all are served';
ok $httpd->wait_for(sub {
    my @now = rows();
    my %now = map { $_->{pid} => 1 } @now;
    keys %now == $seats && !grep { $now{$_} } @victims;
}, 20), 'each has a successor in its seat';
is answered(100, 20), 100, 'and all are served';
$httpd->finish;
done_testing;
