# SPDX-License-Identifier: Apache-2.0
# Access logs of answers that do not end as usual: a client goes away, takes
# too long, or sends blank lines until its connection ends.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use IO::Select;
use Socket qw(:all);
use Time::HiRes qw(sleep time);

my $t = Test::Twin->new(modules => ['logio'], conf => <<'END');
CustomLog logs/all "%U %s %B %b %k %X %O"
Timeout 2
SendBufferSize 32768
MaxKeepAliveRequests 0
END
$t->file('large.bin', 'x' x 3_000_000);
$t->file('empty.txt', '');
$t->start;

my $large = $t->request('/large.bin');
my $small = $t->request('/1k.txt');
(my $head = $small) =~ s/^GET/HEAD/;
my $empty = $t->request('/empty.txt');
my $same = $t->request('/1k.txt',
    'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT');
my $range = $t->request('/large.bin', 'Range: bytes=7-10006');
$t->learned($_) for $large, $small, $range;
$t->learn($empty);

# A client with little room.
sub client {
    my ($h) = @_;
    socket my $s, PF_INET, SOCK_STREAM, 0 or die "socket: $!";
    setsockopt $s, SOL_SOCKET, SO_RCVBUF, pack 'i', 8192;
    connect $s, pack_sockaddr_in($h->port, inet_aton('127.0.0.1'))
        or die "connect: $!";
    return $s;
}

# Until nothing more goes into its buffers: what the server had room for.
sub stalled {
    my ($s) = @_;
    my ($last, $since, $end) = (-1, time, time + 10);
    while (time < $end && time - $since < 0.5) {
        my $now = unpack 'i', ioctl_inq($s);
        ($last, $since) = ($now, time) if $now != $last;
        sleep 0.05;
    }
}

# FIONREAD
sub ioctl_inq {
    my ($s) = @_;
    my $n = pack 'i', 0;
    ioctl $s, 0x541B, $n;
    return $n;
}

sub reset_it {
    my ($s) = @_;
    setsockopt $s, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
    close $s;
}

sub rest {
    my ($s) = @_;
    my $select = IO::Select->new($s);
    while ($select->can_read(10)) {
        sysread $s, my $bytes, 65536 or last;
    }
    close $s;
}

my %ends = (
    reset => sub { my ($s) = @_; stalled($s); reset_it($s) },
    closed => sub { my ($s) = @_; stalled($s); close $s },
    slow => sub { my ($s) = @_; stalled($s); sleep 3; rest($s) },
    'read in part' => sub {
        my ($s) = @_;
        stalled($s);
        my $n = 0;
        while ($n < 1_000_000) {
            $n += sysread($s, my $bytes, 65536) || last;
        }
        stalled($s);
        reset_it($s);
    },
    # the end comes from the server, or the client says so
    read => sub { my ($s) = @_; shutdown $s, SHUT_WR; rest($s) },
    stays => sub { my ($s) = @_; rest($s) },
);

my $from;

sub new_lines {
    my ($i, $n) = @_;
    my $h = ($t->both)[$i];
    my @lines;
    $h->wait_for(sub {
        open my $fh, '<', $h->root . '/logs/all' or return;
        seek $fh, $from->[$i], 0;
        @lines = grep !/cpuaffinity/, <$fh>;
        return @lines >= $n;
    }, 10);
    return @lines;
}

# %O of an answer that was broken off is what the kernel took of it, which is
# not the same twice: not compared, but it is some of it and not all.
sub case {
    my ($name, $bytes, $how, $n, %o) = @_;
    my ($hits, @got);
    for my $try (1 .. 3) {
        $hits = $t->hits;
        $from = [ map -s($_->root . '/logs/all') // 0, $t->both ];
        for my $h ($t->both) {
            my $s = client($h);
            syswrite $s, $bytes;
            $ends{$how}->($s);
        }
        @got = map join('', new_lines($_, $n)), 0, 1;
        # an audit gives the request to httpd
        last if $t->hits - $hits >= ($o{hits} // $n);
    }
    cmp_ok $t->hits - $hits, '>=', $o{hits} // $n, "$name: the loop's";
    for (@got) {
        my @odd = grep $_ == 0 || $_ >= 3_000_000, / X (\d+)$/mg;
        is_deeply \@odd, [], "$name: what was sent";
        s/ X \d+$/ X -/mg;
    }
    is $got[1], $got[0], "$name: the same lines";
    like $got[1], $o{like}, "$name: as expected" if $o{like};
}

case("large, $_", $large, $_, 1, like => qr/3000000 3000000 0 X -$/)
    for 'reset', 'closed', 'slow', 'read in part';
case("small and large, $_", $small . $large, $_, 2,
    like => qr/1024 0 \+ \d+\n.* X -$/) for 'reset', 'slow';
case("large, then one that is not begun, $_", $large . $small, $_, 1)
    for 'reset', 'slow';

# Blank lines: ten are skipped, one more ends the connection, and the line
# of an answer that has not left tells.
for my $lines (10, 11) {
    my $blank = "\r\n" x $lines;
    my $how = $lines > 10 ? 'stays' : 'read';
    case("$lines blank lines after $_->[0]", $_->[1] . $blank, $how, 1,
        hits => $_->[2])
        for [ 'a body', $small, 1 ], [ 'HEAD', $head, 1 ],
        [ '304', $same, 1 ], [ 'an empty body', $empty, 0 ],
        [ 'a range', $range, 1 ];
    case("$lines blank lines after HEAD twice", $head x 2 . $blank, $how, 2);
    case("$lines blank lines after HEAD and GET", $head . $small . $blank,
        $how, 2);
    case("$lines blank lines after one that waits", $large . $blank, 'slow',
        1);
}
$t->finish;
done_testing;
