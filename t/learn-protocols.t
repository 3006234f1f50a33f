# SPDX-License-Identifier: Apache-2.0
# Where another protocol is on offer ("Protocols h2 http/1.1", also on plain
# connections), the first answer of a connection announces it and later ones do
# not: each is repeated in its place. Whoever accepts the offer, or begins with
# HTTP/2's preface, is httpd's.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

plan skip_all => 'this httpd has no mod_http2'
    unless -e Test::Httpd::libexec() . '/mod_http2.so';

my @vhosts = (
    [ 'h2c', 'Protocols h2c http/1.1' ], # the default of the address
    [ 'h2', 'Protocols h2 http/1.1' ],
    [ 'both', "Protocols h2 h2c http/1.1\nH2Push off" ],
    [ 'last', "Protocols http/1.1 h2c\nH2Direct on" ],
    [ 'refusing', "Protocols h2c http/1.1\nH2Upgrade off\nH2Direct off" ],
    [ 'hidden', "Protocols h2c http/1.1\nHeader unset Upgrade" ],
    [ 'always', "Protocols h2c http/1.1\nHeader always set X-A b" ],
    [ 'short', "Protocols h2c http/1.1\nKeepAlive off" ],
    [ 'none', 'Protocols http/1.1' ],
);
my $conf = join '', map "<VirtualHost *:\@PORT\@>\nServerName $_->[0].test\n"
    . "$_->[1]\n</VirtualHost>\n", @vhosts;
my $t = Test::Twin->new(modules => [qw(http2 headers)],
    conf => "Protocols h2c http/1.1\n$conf");
$t->file('1k.txt');
$t->file('empty.txt', '');
$t->start;

# Until both keys of a request are live: the first of a connection, and those
# after it. @return true when they are
sub both_keys {
    my ($get, $n) = @_;
    return $t->fixed->wait_for(sub {
        my $before = $t->hits;
        $t->ask($t->fixed, [ ($get) x 2 ]);
        return $t->hits - $before == $n;
    }, 10);
}

for (@vhosts) {
    my $host = "Host: $_->[0].test";
    my $get = $t->request('/1k.txt', $host);
    ok $t->learned($get), "$host is learned" or diag $t->fixed->log;
    my $name = $_->[0];
    ok both_keys($get, $name eq 'short' ? 1 : 2),
        "$name: first and later answers are the loop's";
    my $hits = $t->hits;
    for my $fields ([], ['Connection: keep-alive'], ['Connection: close']) {
        for my $more ([], ['Range: bytes=3-9'], ['If-None-Match: *']) {
            my $r = $t->request('/1k.txt', $host, @$fields, @$more);
            (my $head = $r) =~ s/^GET/HEAD/;
            $t->same("$name: @$fields @$more", [ ($r) x 2, $head ]);
            $t->same("$name: HEAD, @$fields @$more", [ $head, $r ]);
        }
    }
    cmp_ok $t->hits, '>=', $hits + 18, '... by the loop';
    (my $old = $get) =~ s/HTTP\/1.1/HTTP\/1.0/;
    $t->learn($old);
    $t->same("$name: HTTP/1.0", [ ($old) x 2 ]);
    $old =~ s/\r\n\r\n/\r\nConnection: Keep-Alive\r\n\r\n/;
    $t->same("$name: HTTP/1.0, kept", [ ($old) x 2 ]);
    my $empty = $t->request('/empty.txt', $host);
    $t->learn($empty);
    (my $head = $empty) =~ s/^GET/HEAD/;
    $t->same("$name: empty", [ $empty, $head ]);
    $t->same("$name: HEAD of it", [ $head, $empty ]);
}
like join('', $t->ask($t->fixed, [ ($t->request('/1k.txt')) x 2 ])),
    qr/\AHTTP(?:(?!HTTP).)*^Upgrade: h2c\r\nConnection: Upgrade\r\n.*HTTP(?!.*Upgrade)/ms,
    'announced once';

# Sends these, a moment apart, until what comes matches or the connection ends.
# @return all of it
sub raw {
    my ($h, $like, @parts) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, Timeout => 5) || die "connect: $!";
    my ($all, $select) = ('', IO::Select->new($s));
    for (@parts) {
        print {$s} $_;
        sleep 0.05;
    }
    my $end = time + 10;
    while (time < $end && $all !~ $like && $select->can_read(5)) {
        sysread $s, $all, 65536, length $all or last;
    }
    $all =~ s/^Date: .*/Date/mg;
    my $port = $h->port;
    $all =~ s/\b$port\b/PORT/g;
    return $all;
}

sub as_stock {
    my ($name, $like, @parts) = @_;
    my $before = $t->hits;
    my $stock = raw($t->stock, $like, @parts);
    my $fixed = raw($t->fixed, $like, @parts);
    is $fixed =~ s/\0.*//sr, $stock =~ s/\0.*//sr, "$name: as stock";
    is !!($fixed =~ $like), 1, '... as expected'
        or diag substr($fixed, 0, 700), '...', substr($fixed, -300);
    is !!($stock =~ $like), 1, '... of both';
    return $t->hits - $before;
}

# HTTP/2: the preface and settings; GET /1k.txt of h2c.test as a header block
# without indexing.
my $magic = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
my $settings = pack 'CnCCN', 0, 0, 4, 0, 0;
my $block = "\x82\x86" . "\x04\x07/1k.txt" . "\x01\x08h2c.test";
my $headers = pack('CnCCN', 0, length $block, 1, 5, 1) . $block;
my $h2 = "$magic$settings$headers";
my $get = $t->request('/1k.txt', 'Host: h2c.test');
my $body = 'x' x 1023;
my $frames = qr/\A\0..\x04.*$body/s;

is as_stock('HTTP/2 at once', $frames, $h2), 0, 'httpd';
is as_stock('the preface alone, then more', $frames, $magic,
    "$settings$headers"), 0, 'httpd';
as_stock('half a preface, then nothing like it', qr/ 400 .*<\/html>/s,
    "PRI * HTTP/2.0\r\nHost: h2c.test\r\n\r\n");
# What is httpd's word depends on how much has come when it looks.
like raw($t->fixed, qr/$frames| 400 .*<\/html>/s, 'P', 'RI * HTTP',
    "/2.0\r\n", substr($magic, 16) . $settings . $headers),
    qr/$frames| 400 /, 'the preface in pieces';
ok both_keys($get, 2), 'still learned';
cmp_ok as_stock('the preface after an answer', qr/$body.* 400 .*<\/html>/s,
    $get, $h2), '<=', 1, 'at most the first is the loop\'s';
as_stock('a request in pieces', qr/$body/, 'G', 'ET /1k.txt HT',
    "TP/1.1\r\nHost: h2c.test\r\n\r\n");
as_stock('a short request', qr/hello/,
    "GET / HTTP/1.0\r\n\r\n");
as_stock('a short one in pieces', qr/hello/, "GET / HTTP/1.0", "\r\n\r\n");

# A client that accepts the offer.
for my $host (qw(h2c both last refusing h2 none)) {
    my @accept = ("Host: $host.test", 'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA');
    # Who is not let through would be answered once more.
    my @then = $host =~ /h2c|both|last/ ? $magic . $settings : ();
    my $like = @then ? qr/101 Switching.*\0..\x04.*$body/s
        : qr/200 OK.*$body/s;
    my $plain = $t->request('/1k.txt', "Host: $host.test");
    is as_stock("$host: an upgrade", $like, $t->request('/1k.txt', @accept),
        @then), 0, 'httpd';
    both_keys($plain, 2);
    cmp_ok as_stock("$host: ... after an answer", qr/$body.*$like/s, $plain,
        $t->request('/1k.txt', @accept), @then), '<=', 1,
        'at most the first is the loop\'s';
    is as_stock("$host: only a wish", qr/200 OK.*$body/s,
        $t->request('/1k.txt', "Host: $host.test", 'Upgrade: h2c')), 0, 'httpd';
}
is $t->counter('differed'), 0, 'audits found nothing';
$t->finish;

# With h2c httpd reads the first bytes of a connection twice, and counts them.
$t = Test::Twin->new(modules => [qw(http2 logio)], conf => <<'END');
<VirtualHost *:@PORT@>
    ServerName out.test
    Protocols h2c http/1.1
    CustomLog logs/out "%U %O"
</VirtualHost>
<VirtualHost *:@PORT@>
    ServerName in.test
    CustomLog logs/in "%U %I %O"
</VirtualHost>
<VirtualHost *:@PORT@>
    ServerName sum.test
    CustomLog logs/sum "%U %S"
</VirtualHost>
END
$t->start;
for my $name (qw(out in sum)) {
    my $r = $t->request('/1k.txt', "Host: $name.test");
    my $hits = $t->hits;
    $name eq 'out' ? $t->learned($r) : $t->learn($r);
    my $got = $t->hits - $hits;
    ok $name eq 'out' ? $got : !$got, "$name: learned or not";
    $t->same("$name: the same", [ $r, $r ]);
    like $t->fixed->log, qr/off for \Q$name\E\.test \(S2\): .*%I or %S is httpd/,
        '... with the reason' unless $name eq 'out';
}
$t->finish;
done_testing;
