# SPDX-License-Identifier: Apache-2.0
# HTTP/2 requests that have come when the process learns that it has to stop,
# and that it has not read yet: they are answered, as those that it has read.
# The process stands still while they come and while httpd is restarted.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;

plan skip_all => 'this httpd has no mod_http2'
    unless -e Test::Httpd::libexec() . '/mod_http2.so';

sub frame {
    my ($type, $flags, $id, $payload) = @_;
    return substr(pack('N', length $payload), 1)
        . pack('CCN', $type, $flags, $id) . $payload;
}

# GET, http, /1k.txt at "a", without any of the tables.
sub ask {
    my ($c, $id) = @_;
    $c->send(frame(1, 5, $id,
        "\x82\x86\x01\x01a\x04" . chr(length '/1k.txt') . '/1k.txt'));
    return;
}

sub begin {
    my ($h) = @_;
    my $c = Test::Client->new($h->port);
    $c->send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . frame(4, 0, 0, ''));
    ask($c, 1);
    return $c;
}

# What becomes of a request: 'answered', 'refused', or 'lost'.
sub fate {
    my ($c, $id) = @_;
    my $last = 0x7fffffff;
    while (1) {
        while (length $c->{in} < 9
            || length $c->{in} < 9 + unpack 'N', "\0" . substr $c->{in}, 0, 3) {
            $c->more or return $last < $id ? 'refused' : 'lost';
        }
        my ($n, $type, $flags, $stream) =
            unpack 'a3CCN', substr $c->{in}, 0, 9, '';
        my $payload = substr $c->{in}, 0, unpack('N', "\0$n"), '';
        $last = unpack 'N', $payload if $type == 7;
        next unless $stream == $id;
        return 'refused' if $type == 3;
        return 'answered' if $type < 2 && $flags & 1;
    }
}

my $rounds = 3;
for my $n (1 .. 2) {
    my $h = Test::Httpd->new(modules => ['http2'],
        mpm_conf => "ThreadsPerChild 16\n",
        conf => "Protocols h2c http/1.1\nFixedProcesses $n\nKeepAliveTimeout 60\n"
            . "FixedSteering off\n");
    $h->start;
    my %fate;
    for (1 .. $rounds) {
        my @old = $h->children;
        my @clients = map { begin($h) } 1 .. 6;
        is join(' ', map { fate($_, 1) } @clients),
            join(' ', ('answered') x 6), 'six connections are kept';
        ok $h->freeze(@old), 'the processes stand still';
        ask($_, 3) for @clients;
        $h->graceful or last;
        kill 'CONT', @old;
        $fate{ fate($_, 3) }++ for @clients;
        $_->close for @clients;
        $h->wait_for(sub {
            my %now = map { $_ => 1 } $h->children;
            !grep { $now{$_} } @old;
        }, 10);
        $h->with_threads;
    }
    is_deeply \%fate, { answered => 6 * $rounds },
        "$n process(es): what has come is answered";
    $h->finish;
}
done_testing;
