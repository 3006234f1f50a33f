# SPDX-License-Identifier: Apache-2.0
# Graceful restarts under load: no request fails, no connection is reset,
# neither with a connection per request nor on kept-alive connections that
# were idle when the restart came.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Test::More;
use Test::Httpd;
use Test::Memory;
use Time::HiRes qw(sleep time);

my $restarts = $ENV{RESTARTS} || 10;

# Seconds: enough for a restart, and what is between one request and the next
# of idle connections, on a machine that is busy with other things.
my $timeout = 6;
my $httpd = Test::Httpd->new(
    conf => "FixedProcesses 2\nKeepAliveTimeout $timeout\n"
        . "LogLevel cpuaffinity:debug\n",
    mpm_conf => "ThreadsPerChild 32\n");
$httpd->start;
my $port = $httpd->port;

sub connect_to {
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port,
        Timeout => 10);
}

# Reads one response. Returns (complete, close announced, bytes seen, text).
sub response {
    my ($s) = @_;
    my $text = '';
    while ($text !~ /\r\n\r\n/) {
        sysread($s, $text, 8192, length $text) or return (0, 0, length $text, $text);
    }
    my ($length) = $text =~ /^Content-Length: (\d+)/mi or return (0, 0, 1, $text);
    my $head = index($text, "\r\n\r\n") + 4;
    while (length($text) < $head + $length) {
        sysread($s, $text, 8192, length $text) or return (0, 0, length $text, $text);
    }
    my $ok = $text =~ m{^HTTP/1.1 200} && $length == 1024;
    return ($ok, scalar($text =~ /^Connection: close/mi), length $text, $text);
}

# Idle ones move to the next generation with their count of requests, and
# their timeout.
subtest 'idle connections survive' => sub {
    my @idle = grep { defined } map { connect_to() } 1 .. 40;
    my $ask = "GET /1k.txt HTTP/1.1\r\nHost: a\r\n"
        . "Connection: keep-alive\r\n\r\n";
    my $max = sub {
        my ($s) = @_;
        print {$s} $ask;
        my (undef, undef, undef, $text) = response($s);
        return $text =~ /^Keep-Alive: timeout=$timeout, max=(\d+)/mi ? $1 : '';
    };
    is join(' ', map { $max->($_) } @idle), join(' ', (100) x 40),
        'forty clients';
    is join(' ', map { $max->($_) } @idle), join(' ', (99) x 40),
        'ask twice';
    ok $httpd->graceful, 'restart';
    sleep 1.2;
    print {$_} $ask for @idle;
    is join(' ', map { (response($_))[3] =~ /max=(\d+)/ ? $1 : '' } @idle),
        join(' ', (98) x 40), 'the next generation goes on';
    ok $httpd->graceful, 'and again';
    print { $idle[0] } substr $ask, 0, 9;
    sleep 1.5;
    print { $idle[0] } substr $ask, 9;
    # A process that had not seen yet that it ends has had the half, and httpd
    # gives the answer there, with which the connection ends; any other goes on.
    my ($whole, $close, undef, $text) = response($idle[0]);
    ok $whole && ($close || $text =~ /max=97/), 'half a request before it'
        or diag $text;
    my ($closed, $end) = (0, time + 9 + $timeout);
    for my $s (@idle[1 .. 39]) {
        my $left = $end - time;
        IO::Select->new($s)->can_read($left > 0 ? $left : 0) or next;
        my $n = sysread $s, my $none, 1;
        $closed++ if defined $n && !$n;
    }
    is $closed, 39, 'the others are closed after KeepAliveTimeout';
};

my $memory = Test::Memory::settled($httpd, 2);

# A client that keeps its connection, and pauses for at most so long.
sub kept {
    my ($pause) = @_;
    my ($s, $n);
    return sub {
        $s ||= do { $n = 0; connect_to() } or return "connect: $!";
        $! = 0;
        print {$s} "GET /1k.txt HTTP/1.1\r\nHost: a\r\n\r\n";
        my ($ok, $close, $seen) = response($s);
        undef $s if $close || !$ok;
        $n++;
        sleep $pause * rand;
        return $ok ? '' : "request $n, after $seen bytes: $!";
    };
}

# The clients: each returns (requests, failures, what failed).
my %client = (
    'a connection per request' => sub {
        my $s = connect_to() or return "connect: $!";
        print {$s} "GET /1k.txt HTTP/1.1\r\nHost: a\r\n"
            . "Connection: close\r\n\r\n";
        my ($ok, undef, $seen) = response($s);
        return $ok ? '' : "after $seen bytes: $!";
    },
    'keep-alive' => kept(0.02),
    'keep-alive, mostly idle' => kept(0.3),
);

# Runs clients in processes of their own until told to stop.
my @running;
for my $name (sort keys %client) {
    for my $i (1 .. ($name =~ /idle/ ? 6 : 2)) {
        pipe my $read, my $write or die;
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            my $stop = 0;
            local $SIG{TERM} = sub { $stop = 1 };
            local $SIG{PIPE} = 'IGNORE';
            $SIG{ALRM} = sub { POSIX::_exit(3) };
            alarm 100 + 5 * $restarts;
            my ($n, %failed) = 0;
            until ($stop) {
                my $why = $client{$name}->();
                last if $stop && $why =~ m{Interrupted}; # by us
                $n++;
                $failed{$why}++ if $why;
            }
            my $failed = 0;
            $failed += $_ for values %failed;
            syswrite $write, join "\n", $n, $failed,
                map {"$failed{$_}x $_"} keys %failed;
            POSIX::_exit(0);
        }
        close $write;
        push @running, { name => $name, pid => $pid, read => $read };
    }
}

sleep 0.5;
my $done = 0;
for (1 .. $restarts) {
    $done++ if $httpd->graceful;
    sleep 0.2 * rand;
}
is $done, $restarts, "$restarts graceful restarts";
$httpd->with_threads; # of the last generation
sleep 1.5;

my %sum;
for my $c (@running) {
    kill 'TERM', $c->{pid};
    local $/;
    my ($n, $failed, @why) = split /\n/, readline $c->{read};
    waitpid $c->{pid}, 0;
    $sum{ $c->{name} }{n} += $n // 0;
    $sum{ $c->{name} }{failed} += $failed // 1;
    diag "$c->{name}: $_" for @why;
}
for my $name (sort keys %sum) {
    is $sum{$name}{failed}, 0, "$name: none failed";
    cmp_ok $sum{$name}{n}, '>', 20, "$name: $sum{$name}{n} requests";
}
is $httpd->log_count(qr/could not be sent to the next generation/), 0,
    'every waiting connection found its place';
ok $httpd->wait_for(sub { my @c = $httpd->children; @c == 2 }, 10),
    'old generations are gone';
Test::Memory::same($memory, Test::Memory::settled($httpd, 2), $restarts);
$httpd->finish;
done_testing;
