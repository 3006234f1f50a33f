# SPDX-License-Identifier: Apache-2.0
package Test::Client;

# One connection, byte by byte if need be, with time limits on everything.
#
#   my $c = Test::Client->new($port, rcvbuf => 4096);
#   # mss => 536: the server's buffer is small, too; from => '127.0.0.2'
#   $c->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
#   my $r = $c->answer;    # {status, head, body}; undef when the end came
#   $c->end;               # 'end', 'reset', or '' when it stays open

use strict;
use warnings;
use Errno qw(EAGAIN EINTR);
use Socket qw(:all);
use Test::Httpd ();
use Time::HiRes qw(time sleep);

our $limit = 15;

sub new {
    my ($class, $port, %o) = @_;
    socket my $s, PF_INET, SOCK_STREAM, 0 or die "socket: $!";
    setsockopt $s, IPPROTO_TCP, TCP_NODELAY, 1;
    setsockopt $s, SOL_SOCKET, SO_RCVBUF, $o{rcvbuf} if $o{rcvbuf};
    setsockopt $s, IPPROTO_TCP, TCP_MAXSEG, $o{mss} if $o{mss};
    bind $s, pack_sockaddr_in(0, inet_aton($o{from})) or die "bind: $!"
        if $o{from};
    connect $s, pack_sockaddr_in($port, inet_aton('127.0.0.1'))
        or die "connect: $!";
    $s->blocking(0);
    return bless { s => $s, in => '' }, $class;
}

sub get {
    my ($self, $target, @fields) = @_;
    $self->send(request($target, @fields));
    return $self->answer;
}

sub request {
    my ($target, @fields) = @_;
    return join "\r\n", "GET $target HTTP/1.1", 'Host: localhost', @fields,
        '', '';
}

sub send {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $end = time + $limit * Test::Httpd::slow();
    while (length $bytes && time < $end) {
        my $n = syswrite $self->{s}, $bytes;
        if (defined $n) {
            substr $bytes, 0, $n, '';
            next;
        }
        return 0 unless $! == EAGAIN || $! == EINTR;
        vec(my $w = '', fileno $self->{s}, 1) = 1;
        select undef, $w, undef, .5;
    }
    return !length $bytes;
}

sub shut { shutdown $_[0]{s}, SHUT_WR }

sub close { close $_[0]{s} }

# Some more bytes. @return how many, 0 at the end or when time is up
sub more {
    my ($self, $wait) = @_;
    my $end = time + ($wait // $limit * Test::Httpd::slow());
    while (1) {
        my $n = sysread $self->{s}, $self->{in}, 65536, length $self->{in};
        return $n if $n;
        if (defined $n || ($! != EAGAIN && $! != EINTR)) {
            $self->{fate} = defined $n ? 'end' : 'reset';
            return 0;
        }
        my $left = $end - time;
        return 0 if $left <= 0;
        vec(my $r = '', fileno $self->{s}, 1) = 1;
        select $r, undef, undef, $left;
    }
}

# The next answer; head => 1 when it has no body. One in chunks has the body
# with them.
sub answer {
    my ($self, %o) = @_;
    my $at;
    until (($at = index $self->{in}, "\r\n\r\n") >= 0) {
        $self->more or return;
    }
    my $head = substr $self->{in}, 0, $at + 4, '';
    my ($status) = $head =~ m{\AHTTP/1\.1 (\d+)} or return;
    if (!$o{head} && $head =~ /^Transfer-Encoding: chunked\r$/mi) {
        my $body = $self->_chunks // return;
        return { status => $status, head => $head, body => $body };
    }
    my $len = !$o{head} && $status != 304
        && $head =~ /^Content-Length: (\d+)\r$/mi ? $1 : 0;
    while (length $self->{in} < $len) {
        $self->more or return;
    }
    return { status => $status, head => $head,
        body => substr $self->{in}, 0, $len, '' };
}

# Takes chunks from what has come, up to the last one.
sub _chunks {
    my ($self) = @_;
    my $at = 0;
    while (1) {
        my $end = index $self->{in}, "\r\n", $at;
        my $size = $end < 0 ? undef : hex substr $self->{in}, $at, $end - $at;
        if (defined $size && length $self->{in} >= $end + $size + 4) {
            $at = $end + $size + 4;
            return substr $self->{in}, 0, $at, '' if !$size;
            next;
        }
        $self->more or return;
    }
}

# Waits for the end, at most the seconds given.
sub end {
    my ($self, $wait) = @_;
    1 while $self->more($wait);
    return $self->{fate} // '';
}

1;
