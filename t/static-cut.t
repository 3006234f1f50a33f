# SPDX-License-Identifier: Apache-2.0
# A file that is cut in place while it is sent, in all combinations of
# EnableSendfile and EnableMMAP: the client never gets a byte that stock
# httpd's could not, and the connection ends short of the announced length.
# sendfile shows the client what became of the pages that wait in its socket
# (NULs up to the end of the page that was cut), with stock as with us; where
# it is off there must be none of that.
use strict;
use warnings;
use Test::Client;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep);

my $text = join('', map chr(1 + $_ % 255), 1 .. 65537) x 128;    # 8 MiB
my $cut = 1_000_123;
my @files = qw(mem.bin big.bin);

# Waits until the server can send no more for now: what is in the socket and
# in the client's buffer does not grow.
sub stuck {
    my ($h) = @_;
    my ($last, $same) = (-1, 0);
    $h->wait_for(sub {
        my $port = sprintf ':%04X', $h->port;
        open my $f, '<', '/proc/net/tcp' or return 1;
        my $now = join ' ', sort map { /^\s*\d+: \S+$port \S+ 01 (\S+)/ ? $1 : () }
            <$f>;
        $same = $now eq $last ? $same + 1 : 0;
        $last = $now;
        $same >= 4;
    }, 10);
}

# @return what the client got, and how it ended
sub cut_while_sent {
    my ($t, $h) = @_;
    my $c = Test::Client->new($h->port, rcvbuf => 4096);
    $c->send($t->request('/big.bin'));
    $c->more;
    stuck($h);
    truncate $h->root . '/htdocs/big.bin', $cut or die "truncate: $!";
    my $end = $c->end(20 * Test::Httpd::slow());
    my ($head, $body) = split /\r\n\r\n/, $c->{in}, 2;
    return ($head, $body // '', $end);
}

for my $sendfile ('on', 'off', '') {
    for my $mmap ('on', 'off') {
        my $name = 'EnableSendfile ' . ($sendfile || 'unset')
            . ", EnableMMAP $mmap";
        my $t = Test::Twin->new(conf => "EnableMMAP $mmap\nTimeout 30\n"
            . ($sendfile ? "EnableSendfile $sendfile\n" : '')
            . "FixedStaticMemory 64K\n");
        $t->file('big.bin', $text);
        $t->file('mem.bin', substr $text, 0, 60_000);
        $t->start;
        ok $t->learned($t->request("/$_")), "$name: $_ is the loop's"
            for @files;
        for my $h ($t->both) {
            my $who = $h == $t->stock ? 'stock' : 'fixed';
            my ($head, $body, $end) = cut_while_sent($t, $h);
            like $head, qr/^Content-Length: @{[ length $text ]}\r?$/m,
                "$name: $who began";
            ok $end && length $body < length $text, "... and ended short";
            my $old = substr $text, 0, length $body;
            # sendfile: the bytes of the page that was cut are gone
            # (so are those of a mapped page that stock has not sent yet)
            my $may = $sendfile eq 'on' || ($who eq 'stock' && $mmap eq 'on')
                || ($who eq 'fixed' && !$sendfile && $mmap eq 'on');
            my $odd = ($body ^ $old) =~ tr/\0//c;
            my $nuls = $body =~ tr/\0//;
            is $odd, $nuls, '... every byte is the file\'s or a NUL';
            is $nuls, 0, '... and none is a NUL' unless $may;
            is substr($body, 0, $cut), substr($old, 0, $cut),
                '... up to the cut all are the file\'s';
        }
        # a copy in memory is not the file: all of it, or the file as it is
        for my $h ($t->both) {
            my $c = Test::Client->new($h->port);
            $c->get('/mem.bin');
            truncate $h->root . '/htdocs/mem.bin', 1234;
            my $r = $c->get('/mem.bin');
            ok $r && $r->{body} eq substr($text, 0, length $r->{body})
                && $r->{head} =~ /^Content-Length: @{[ length $r->{body} ]}\r$/m,
                "$name: a small one is whole or as it is";
        }
        $t->finish;
    }
}
done_testing;
