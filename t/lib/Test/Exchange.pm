# SPDX-License-Identifier: Apache-2.0
package Test::Exchange;

# Has exchanges (as of Test::Requests) with two servers at the same time,
# many at once, and tells where the two differ: in bytes (dates aside), in
# the connection's fate, in the lines of the access log.
#
#   Test::Exchange::start_alike('/file', $stock, $fixed); # of Test::Httpd
#   my $e = Test::Exchange->new(ports => [ [@of_stock], [@of_fixed] ],
#       addresses => [qw(127.0.0.1 127.0.0.2)], logs => [...]);
#   $e->run(@exchanges);
#   $e->{differences}; # texts
#
# Exchange number n comes from an address of its own in 127.0.0.0/8, which
# is the first field of each line of the logs; it goes to one of the ports and
# one of the addresses (127.0.0.1 if none are given).

use strict;
use warnings;
use Errno qw(EAGAIN EINPROGRESS EINTR);
use Fcntl qw(F_SETFL O_NONBLOCK O_RDWR);
use Socket qw(:all);
use Time::HiRes qw(time sleep);
use Time::Local qw(timegm);

# at_once: how many exchanges are under way
sub new {
    my ($class, %o) = @_;
    return bless { at_once => 20, slow => 1, differences => [], stuck => 0,
        answers => 0, lines => 0, from => [ 0, 0 ],
        addresses => ['127.0.0.1'], %o }, $class;
}

# Starts the servers so that the figures of their answers have one value each.
# The boundary between several ranges is a random number of httpd's start,
# written without leading zeros: one in sixteen is shorter, and with it the
# Content-Length and %O of each such answer, a HEAD's too. A server that has a
# short one is stopped and started. The file has three bytes or more.
# @return true, or false when it had no success
sub start_alike {
    my ($path, @servers) = @_;
    for my $h (@servers) {
        my $tries = 40; # all in vain once in 16 ** 40
        $h->start;
        while (length _boundary($h, $path) < 16) {
            return 0 unless $tries-- && $h->stop;
            $h->start;
        }
    }
    return 1;
}

sub _boundary {
    my ($h, $path) = @_;
    return $h->get($path, args => [ '-r', '0-0,2-2' ])->{head}
        =~ /^Content-Type: multipart\/byteranges; boundary=(\w+)/m ? $1 : '';
}

# 127.1.0.0 to 127.200.255.255; the last number is never 0 or 255.
sub address {
    my ($n) = @_;
    return sprintf '127.%d.%d.%d', 1 + $n / (254 * 256) % 200, $n / 254 % 256,
        1 + $n % 254;
}

sub _in_turn { my ($list, $n) = @_; return $list->[ $n % @$list ] }

# The ports of a server by their place in its list, in a text.
sub _mask_ports {
    my ($self, $which, $text) = @_;
    my $n = 0;
    for my $port (@{ $self->{ports}[$which] }) {
        my $name = 'PORT' . $n++;
        $text =~ s/$port/$name/g;
    }
    return $text;
}

sub _open {
    my ($self, $x, $which) = @_;
    socket my $s, PF_INET, SOCK_STREAM, 0 or die "socket: $!";
    setsockopt $s, IPPROTO_TCP, TCP_NODELAY, 1;
    setsockopt $s, SOL_SOCKET, SO_REUSEADDR, 1;
    bind $s, pack_sockaddr_in(0, inet_aton(address($x->{number})))
        or die "bind: $!";
    my $port = _in_turn($self->{ports}[$which], $x->{number});
    my $address = _in_turn($self->{addresses}, int $x->{number} / 2);
    connect $s, pack_sockaddr_in($port, inet_aton($address))
        or die "connect to $which: $!";
    fcntl $s, F_SETFL, O_RDWR | O_NONBLOCK;
    my @steps = map [@$_], @{ $x->{steps} };
    $_->[0] =~ s/PORT/$port/g for @steps;
    return { s => $s, fd => fileno $s, x => $x, which => $which,
        steps => \@steps, in => '', at => 0, answers => 0, out => '',
        sent => 0, next => 0, quiet => time + 2 * $self->{slow},
        end => time + 15 * $self->{slow} };
}

# Counts the answers that are complete in what has come.
sub _parse {
    my ($c) = @_;
    while ($c->{at} < length $c->{in}) {
        my $end = index $c->{in}, "\r\n\r\n", $c->{at};
        return if $end < 0;
        my $head = substr $c->{in}, $c->{at}, $end + 4 - $c->{at};
        my ($status) = $head =~ m{^HTTP/1\.1 (\d+)} or return;
        my $body = $end + 4;
        if ($status < 200) {
            $c->{at} = $body;
            next;
        }
        my $method = $c->{x}{methods}[ $c->{answers} ] // 'GET';
        if ($method eq 'HEAD' || $status == 304 || $status == 204) {
        }
        elsif ($head =~ /^Transfer-Encoding: chunked\r$/mi) {
            my $last = index $c->{in}, "\r\n0\r\n\r\n", $body - 2;
            return if $last < 0;
            $body = $last + 7;
        }
        elsif ($head =~ /^Content-Length: (\d+)\r$/mi) {
            $body += $1;
            return if $body > length $c->{in};
        }
        else {
            return;
        }
        $c->{at} = $body;
        $c->{answers}++;
        $c->{last_closes} = $head =~ /^Connection: (?:.*, )?close\r$/mi;
    }
}

sub _shut {
    my ($c, $why) = @_;
    return if $c->{shut}++;
    $c->{why} = $why;
    shutdown $c->{s}, SHUT_WR;
}

# The next bytes, if it is their time.
sub _feed {
    my ($c, $now) = @_;
    while (!length $c->{out} && @{ $c->{steps} } && $now >= $c->{next}) {
        my $step = $c->{steps}[0];
        if (!defined $step->[1]) {
            # each when what went before is answered, or will never be
            return if $c->{sent} > $c->{answers} && $now < $c->{quiet};
        }
        shift @{ $c->{steps} };
        $c->{out} = $step->[0];
        $c->{next} = $now + ($step->[1] || 0);
        $c->{sent}++;
        $c->{quiet} = $now + $c->{patience};
    }
    if (length $c->{out}) {
        my $n = syswrite $c->{s}, $c->{out};
        if (defined $n) {
            substr $c->{out}, 0, $n, '';
        }
        elsif ($! != EAGAIN && $! != EINTR) {
            $c->{out} = '';
            $c->{steps} = [];
        }
    }
    return if length $c->{out} || @{ $c->{steps} };
    _shut($c, 'half') if $c->{x}{half};
    if ($c->{answers} >= $c->{x}{count} && !$c->{last_closes}) {
        _shut($c, 'kept');
    }
    elsif ($now > $c->{quiet}) {
        _shut($c, 'quiet');
    }
}

sub _read {
    my ($c) = @_;
    while (1) {
        my $n = sysread $c->{s}, $c->{in}, 65536, length $c->{in};
        if ($n) {
            $c->{quiet} = time + $c->{patience};
            next if $n == 65536;
            last;
        }
        last if !defined $n && ($! == EAGAIN || $! == EINTR);
        $c->{fate} = defined $n ? 'end' : 'reset';
        last;
    }
    _parse($c);
}

my %month;
@month{qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec)} = 0 .. 11;

sub _seconds {
    my ($d, $m, $y, $h, $min, $s) = $_[0] =~
        /(\d+) (\w+) (\d+) (\d+):(\d+):(\d+)/ or return 0;
    return timegm($s, $min, $h, $d, $month{$m} // 0, $y);
}

# Answers with Date masked, and Expires as its distance to it.
sub undated {
    my ($text) = @_;
    my $of = 0;
    $text =~ s{^(Date|Expires): ([^\r\n]*)}{
        my ($name, $at) = ($1, _seconds($2));
        $of = $at if $name eq 'Date';
        $name eq 'Date' ? 'Date: -' : 'Expires: Date + ' . ($at - $of)
    }mge;
    return $text;
}

# What came of it, in words, and the bytes with what may differ masked.
sub _result {
    my ($self, $c) = @_;
    my $in = $self->_mask_ports($c->{which}, $c->{in});
    $in = undated($in);
    $in =~ s/((?:boundary=|\r\n--))[0-9a-f]{16}\b/$1-/g;
    $in =~ s/^(Allow: )([^\r\n]*)/$1 . join ',', sort split \/,\/, $2/meg;
    # who closed first: the server, or a client that had all its answers
    my $fate = $c->{fate} // 'stuck';
    $fate .= ' of a kept connection' if ($c->{why} // '') eq 'kept';
    return ($in, $fate);
}

sub _compare {
    my ($self, $a, $b) = @_;
    my ($in_a, $fate_a) = $self->_result($a);
    my ($in_b, $fate_b) = $self->_result($b);
    $self->{stuck}++ if $fate_b =~ /stuck/;
    $self->{answers} += $b->{answers};
    return if $in_a eq $in_b && $fate_a eq $fate_b;
    $self->_differ($a->{x}, "stock ($fate_a):\n" . _show($in_a)
        . "\nfixed ($fate_b):\n" . _show($in_b), $in_a, $in_b);
}

sub _show {
    my ($text) = @_;
    $text = substr($text, 0, 3000) . '...' if length $text > 3000;
    $text =~ s/\r/\\r/g;
    $text =~ s/([^\n -~])/sprintf '\\x%02x', ord $1/ge;
    return $text;
}

sub _differ {
    my ($self, $x, $text, $in_a, $in_b) = @_;
    my $where = '';
    if (defined $in_a) {
        my $n = 0;
        $n++ while $n < length $in_a && $n < length $in_b
            && substr($in_a, $n, 1) eq substr($in_b, $n, 1);
        $where = sprintf "lengths %d and %d, first difference at %d:\n%s\n"
            . "--\n%s\n", length $in_a, length $in_b, $n,
            _show(substr $in_a, $n > 99 ? $n - 99 : 0, 300),
            _show(substr $in_b, $n > 99 ? $n - 99 : 0, 300);
    }
    my $sent = join "\n|\n", map _show($_->[0]) . ' ' . ($_->[1] // 'wait'),
        @{ $x->{steps} };
    $sent = substr $sent, 0, 6000;
    push @{ $self->{differences} }, "exchange $x->{number}"
        . ($x->{half} ? ' (half-closed)' : '')
        . ":\n$sent\n$where$text\n";
}

# All of them; then their lines of the log.
sub run {
    my ($self, @todo) = @_;
    my (%open, %done);
    my @all = @todo;
    local $SIG{PIPE} = 'IGNORE';
    while (@todo || %open) {
        while (@todo && keys %open < 2 * $self->{at_once}) {
            my $x = shift @todo;
            for my $which (0, 1) {
                my $c = $self->_open($x, $which);
                $c->{patience} = 1.5 * $self->{slow};
                $open{ $c->{fd} } = $c;
            }
        }
        my ($r, $w, $now) = ('', '', time);
        my $wait = .25;
        for my $c (values %open) {
            _feed($c, $now);
            vec($r, $c->{fd}, 1) = 1;
            vec($w, $c->{fd}, 1) = 1 if length $c->{out};
            if (@{ $c->{steps} }) {
                my $t = ($c->{next} > $now ? $c->{next} : $c->{quiet}) - $now;
                $wait = $t < 0 ? 0 : $t if $t < $wait;
            }
        }
        select $r, $w, undef, $wait;
        $now = time;
        for my $c (values %open) {
            _read($c) if vec $r, $c->{fd}, 1;
            next unless $c->{fate} || $now > $c->{end};
            delete $open{ $c->{fd} };
            close $c->{s};
            my $n = $c->{x}{number};
            push @{ $done{$n} }, $c;
            if (@{ $done{$n} } == 2) {
                $self->_compare(sort { $a->{which} <=> $b->{which} }
                        @{ delete $done{$n} });
            }
        }
    }
    $self->_compare_logs(@all);
}

# What a log has gained since the last time, by address.
sub _new_lines {
    my ($self, $which) = @_;
    open my $fh, '<', $self->{logs}[$which] or return {};
    seek $fh, $self->{from}[$which], 0;
    my %by;
    while (my $line = <$fh>) {
        last unless $line =~ /\n\z/;
        $self->{pending}[$which] = tell $fh;
        my ($from) = split ' ', $line, 2;
        $by{$from} .= $self->_mask_ports($which, $line);
    }
    return \%by;
}

sub _compare_logs {
    my ($self, @all) = @_;
    my ($a, $b);
    for (1 .. 100 * $self->{slow}) {
        ($a, $b) = map $self->_new_lines($_), 0, 1;
        last unless grep _lines($self, $_, $a) ne _lines($self, $_, $b), @all;
        sleep 0.05;
    }
    @{ $self->{from} } = map $_ // 0, @{ $self->{pending} || [] }[ 0, 1 ];
    for my $x (@all) {
        my ($want, $got) = map _lines($self, $x, $_), $a, $b;
        $self->{lines} += $got =~ tr/\n//;
        $self->_differ($x, "log of stock:\n" . _show($want)
            . "log of fixed:\n" . _show($got)) if $want ne $got;
    }
}

# Bytes are compared where httpd's own count has one value: what it writes in
# one flush (O=) counts for the first of pipelined requests, and the byte of
# the next request that it may peek at (I=) for the one before. The loop's lines come from its logger thread: in order
# among themselves, not with those that httpd's threads write.
sub _lines {
    my ($self, $x, $by) = @_;
    my $text = $by->{ address($x->{number}) } // '';
    $text =~ s/ I=\d+ / I= /g if $x->{count} > 1;
    $text =~ s/ O=\d+/ O=/g if $x->{pipelined};
    return join '', sort split /(?<=\n)/, $text;
}

1;
