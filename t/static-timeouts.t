# SPDX-License-Identifier: Apache-2.0
# How long a client may idle, and how long it may take nothing, with virtual
# hosts of one address that have times of their own or none: as stock httpd,
# whether the answer left at once or in turns. httpd takes the KeepAliveTimeout
# of the address's first virtual host for one that has none, whatever its
# answers tell.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Test::Client;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

my $slow = Test::Httpd::slow();
# far apart: on a busy machine a second may last for three
my ($short, $long) = (3 * $slow, 15 * $slow);

# Each: name, times of its own, and how long a client may idle, and take
# nothing, in one of two words.
my @hosts = (
    [ 'first.test', "KeepAliveTimeout $short\nTimeout $short\n",
        'short', 'short' ],
    [ 'none.test', '', 'short', 'long' ],
    [ 'timeout.test', "Timeout $short\n", 'short', 'short' ],
    [ 'idle.test', "KeepAliveTimeout $long\n", 'long', 'long' ],
);
my $conf = "KeepAliveTimeout $long\nTimeout $long\n"
    # nobody waits for a thread, or it would be closed
    . "ThreadsPerChild 25\nMaxRequestWorkers 100\n" . join '', map
    "<VirtualHost *:\@PORT\@>\nServerName $_->[0]\n$_->[1]"
    . "DocumentRoot \@ROOT\@/htdocs\n</VirtualHost>\n", @hosts;
my $t = Test::Twin->new(conf => $conf);
$t->file('small.txt', 'small');
$t->file('large.bin', 'l' x (8 << 20));
$t->start;

sub request { $t->request($_[1], "Host: $_[0]", 'Connection: keep-alive') }

sub learn {
    my ($host, $target) = @_;
    my $before = $t->hits;
    return $t->fixed->wait_for(sub {
        for (1 .. 3) {
            my $c = Test::Client->new($t->fixed->port);
            $c->send(request($host, $target));
            $c->answer;
        }
        $t->hits > $before;
    }, 10);
}

sub word { return $_[0] < ($short + $long) / 2 ? 'short' : 'long' }

# How long the connection lives when the client reads all, then says nothing.
# Slowly: it waits before it reads, so that the answer leaves in turns.
sub idles {
    my ($h, $host, $target, $slowly) = @_;
    my $c = Test::Client->new($h->port, $slowly ? (rcvbuf => 4096) : ());
    $c->send(request($host, $target));
    sleep .2 if $slowly;
    $c->answer or return 'no answer';
    my $start = time;
    IO::Select->new($c->{s})->can_read($long + 5);
    return word(time - $start);
}

# Is the other end of a connection of ours there still?
sub is_open {
    my ($server, $client) = @_;
    my $pair = sprintf ':%04X \\S+:%04X 01 ', $server, $client;
    return grep { /$pair/ }
        map Test::Httpd::slurp("/proc/net/$_"), qw(tcp tcp6);
}

# How long it lives when the client takes nothing of a long answer.
sub takes_nothing {
    my ($h, $host) = @_;
    my $c = Test::Client->new($h->port, rcvbuf => 4096);
    my $start = time;
    my ($mine) = Socket::unpack_sockaddr_in(getsockname $c->{s});
    $c->send(request($host, '/large.bin'));
    # the table of all sockets is long, and many look at it
    sleep .3 while is_open($h->port, $mine) && time - $start < $long + 5;
    return word(time - $start);
}

# All of them at the same time, each in a process of its own.
sub all {
    my @running = map {
        my $do = $_;
        pipe my $r, my $w or die "pipe: $!";
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            print {$w} $do->();
            close $w;
            POSIX::_exit(0);
        }
        close $w;
        [ $pid, $r ];
    } @_;
    return map { my $said = readline $_->[1]; waitpid $_->[0], 0; $said }
        @running;
}

# How long it lives with half a request.
sub half {
    my ($h, $to) = @_;
    my $c = IO::Socket::INET->new(PeerAddr => $to, PeerPort => $h->port)
        or return 'no connection';
    my $start = time;
    print {$c} 'GET / HT';
    IO::Select->new($c)->can_read($long + 5);
    return word(time - $start);
}

my (@names, @want, @do);
push @names, 'half a request';
push @want, 'short';
push @do, map { my $h = $_; sub { half($h, '127.0.0.1') } } $t->both;

# The default virtual host of an address: one for it, else one for all, the
# first in the configuration. Each: addresses, their times, what is expected.
my @defaults = (
    [ 'for all', [ '*:@PORT@', '*:@PORT@' ], 'short' ],
    [ 'for the address', [ '127.0.0.1:@PORT@', '*:@PORT@' ], 'short' ],
    [ 'for the address, behind', [ '*:@PORT@', '127.0.0.1:@PORT@' ], 'long' ],
    [ 'for another', [ '127.0.0.2:@PORT@', '*:@PORT@' ], 'long' ],
    [ 'for all ports', [ '127.0.0.1:*', '127.0.0.1:@PORT@' ], 'long' ],
    [ 'mapped', [ '[::ffff:127.0.0.1]:@PORT@', '*:@PORT@' ], 'short' ],
    [ 'for all ports and one', [ '*:*', '*:@PORT@' ], undef ],
    [ 'for one port and all', [ '*:@PORT@', '*:*' ], undef ],
);
my @twins;
for (@defaults) {
    my ($name, $addresses, $want) = @$_;
    my @times = ($short, $long);
    my $twin = Test::Twin->new(conf => join '', map
        "<VirtualHost $_>\nServerName a\nTimeout ${\shift @times}\n"
            . "DocumentRoot \@ROOT\@/htdocs\n</VirtualHost>\n", @$addresses);
    for my $h ($twin->both) {
        $h->{listen} = "Listen 127.0.0.1:\@PORT\@\n";
        $h->write_conf($h->{conf});
    }
    push @twins, $twin->start;
    push @names, "half a request, default virtual host $name";
    push @want, $want;
    push @do, map { my $h = $_; sub { half($h, '127.0.0.1') } } $twin->both;
}

for (@hosts) {
    my ($host, undef, $idle, $nothing) = @$_;
    for my $target ('/small.txt', '/large.bin') {
        ok learn($host, $target), "$host$target: the loop answers";
        for my $slowly ($target eq '/small.txt' ? 0 : (0, 1)) {
            push @names, "idle after $host$target, read "
                . ($slowly ? 'slowly' : 'at once');
            push @want, $idle;
            push @do, map { my $h = $_; sub { idles($h, $host, $target,
                $slowly) } } $t->both;
        }
    }
    push @names, "nothing taken of $host";
    push @want, $nothing;
    push @do, map { my $h = $_; sub { takes_nothing($h, $host) } } $t->both;
}
my $before = $t->hits;
my @got = all(@do);
for my $i (0 .. $#names) {
    my ($stock, $fixed) = @got[ 2 * $i, 2 * $i + 1 ];
    is $stock, $want[$i], "$names[$i]: httpd's is $want[$i]" if $want[$i];
    is $fixed, $stock, "$names[$i]: the loop's too";
}
cmp_ok $t->hits - $before, '>=', 4 * @hosts, 'the loop gave these answers';
$_->finish for $t, @twins;
done_testing;
