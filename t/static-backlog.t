# SPDX-License-Identifier: Apache-2.0
# The queues of the listening sockets overflow: a process stands still while
# hundreds connect. What the kernel has accepted is served, whom it has turned
# away comes again by itself, and all have their answer; the log stays quiet.
use strict;
use warnings;
use Socket qw(:all);
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $clients = 200;

# Begins to connect and says nothing yet. The kernel tries again after 1, 3, 7
# seconds: with a pause in between they do not all do so in the same moment,
# and overrun a queue of five again. @return the socket
sub knock {
    my ($port) = @_;
    socket my $s, PF_INET, SOCK_STREAM, 0 or die "socket: $!";
    $s->blocking(0);
    connect $s, pack_sockaddr_in($port, inet_aton('127.0.0.1'))
        or $!{EINPROGRESS} or die "connect: $!";
    sleep 0.003;
    return $s;
}

# Sends each one's request once it is connected, and reads to the end, for so
# many seconds. @return how many have had a whole answer
sub serve {
    my ($sockets, $seconds) = @_;
    my (%text, %asked);
    my %open = map { (fileno $_ => $_) } @$sockets;
    my $end = time + $seconds * Test::Httpd::slow();
    while (%open && time < $end) {
        my ($r, $w) = ('', '');
        vec($asked{$_} ? $r : $w, $_, 1) = 1 for keys %open;
        select $r, $w, undef, 0.5;
        for my $n (keys %open) {
            if (!$asked{$n} && vec $w, $n, 1) {
                $asked{$n} = defined syswrite $open{$n},
                    "GET /1k.txt HTTP/1.1\r\nHost: a\r\n"
                    . "Connection: close\r\n\r\n";
                delete $open{$n} unless $asked{$n};
            }
            elsif ($asked{$n} && vec $r, $n, 1) {
                sysread($open{$n}, $text{$n}, 65536, length($text{$n} // ''))
                    or delete $open{$n};
            }
        }
    }
    return scalar grep { m{^HTTP/1.1 200 .*x{1023}\n\z}s } values %text;
}

# What the kernel counts: connections for which a queue had no room.
sub overflows {
    my @tcp = grep { /^TcpExt:/ }
        split /\n/, Test::Httpd::slurp('/proc/net/netstat');
    my %v;
    @v{ split ' ', $tcp[0] } = split ' ', $tcp[1];
    return $v{ListenOverflows} // 0;
}

for my $seats (1, 2) {
    my $h = Test::Static::server(seats => $seats, conf => <<'END');
ListenBacklog 5
MaxKeepAliveRequests 0
LogLevel cpuaffinity:info
END
    $h->start;
    $h->wait_for(sub { my @c = $h->children; @c == $seats }, 10);
    ok $h->learn('/1k.txt'), 'a file is known';
    my ($victim) = $h->children;
    ok $h->freeze($victim), 'it stands still';
    my $before = overflows();
    my @sockets = map knock($h->port), 1 .. $clients;
    # alone it goes on before long; the one with a neighbour, not at all
    if ($seats == 1) {
        sleep 0.5;
        kill 'CONT', $victim;
    }
    my $answers = serve(\@sockets, 40);
    kill 'CONT', $victim;
    cmp_ok overflows() - $before, '>', 0, 'the queue has overflown';
    is $answers, $clients, "$clients clients have been answered";
    is serve([ map knock($h->port), 1 .. 4 ], 10), 4, 'and so are the next';
    is $h->complaints, '', 'nothing to complain about';
    $h->finish;
}
done_testing;
