# SPDX-License-Identifier: Apache-2.0
# A TLS connection goes to and fro between httpd and the loop: requests that
# are known and ones that are not, bodies, in any records and segments, with
# half a record or a whole one waiting while it changes hands. Nothing is
# lost, doubled or out of order, and nothing is left behind. Environment: N,
# how often a connection changes hands (400).
use strict;
use warnings;
use Test::Memory;
use Test::More;
use Test::TLSSite;
use Time::HiRes qw(sleep time);

plan skip_all => Test::TLSSite::lacks() if Test::TLSSite::lacks();

my $n = $ENV{N} || 400;
my $no_loop = Test::TLSSite::lacks_loop();
my $t = Test::TLSSite::twin(modules => [qw(cgid cgi headers)], conf => <<'END',
MaxKeepAliveRequests 0
KeepAliveTimeout 60
END
    hosts => [ 'a.test' => <<'END' ]);
ScriptAlias /cgi-bin/ @ROOT@/cgi-bin/
<Directory @ROOT@/cgi-bin>
    Require all granted
    # the length is known, however the program comes to write
    SetEnv ap_trust_cgilike_cl yes
</Directory>
<Location /unknown>
    Header set X-Cookie "%{SSL_PROTOCOL}s"
</Location>
END
my %body = ('/k0.txt' => 'zero', '/k1.txt' => "one\n" x 300,
    '/k2.bin' => join('', map chr($_ % 251), 1 .. 40_000),
    '/unknown/u.txt' => 'unknown' x 30);
$t->file(substr($_, 1), $body{$_}) for sort keys %body;
$_->write_file('cgi-bin/echo', <<'END', 0755) for $t->both;
#!/bin/sh
all="$CONTENT_LENGTH $(head -c "${CONTENT_LENGTH:-0}" | cksum)"
printf 'Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s' \
    ${#all} "$all"
END
$t->start;
my ($stock, $fixed) = $t->both;

sub get { my ($target, @fields) = @_;
    return $t->request($target, 'Host: a.test', @fields) }
my @known = map get($_), qw(/k0.txt /k1.txt /k2.bin);
my $unknown = get('/unknown/u.txt');
my $none = get('/none');

sub post {
    my ($size) = @_;
    return "POST /cgi-bin/echo HTTP/1.1\r\nHost: a.test\r\n"
        . "Content-Length: $size\r\n\r\n"
        . substr join(' ', 1 .. $size), 0, $size;
}

# A chunked body, for a file.
sub chunked {
    my (@sizes) = @_;
    return "POST /k0.txt HTTP/1.1\r\nHost: a.test\r\n"
        . "Transfer-Encoding: chunked\r\n\r\n"
        . join('', map sprintf("%x\r\n%s\r\n", $_, 'c' x $_), @sizes)
        . "0\r\n\r\n";
}

for my $version ('1.2', '1.3') {
    my %o = (tls => { sni => 'a.test', version => $version });
    Test::TLSSite::learns($t, "TLS $version, $_", get($_), %o)
        for sort grep /k\d/, keys %body;
}

sub alike { return Test::TLSSite::alike($t, @_) }

my $end = get('/k0.txt', 'Connection: close');
for my $version ('1.2', '1.3') {
    my $of = "TLS $version";
    my $tls = { version => $version };
    my @mixes = (
        [ 'known ones', (@known) x 5 ],
        [ 'known and unknown in turn', map { ($_, $unknown) } (@known) x 3 ],
        [ 'no file', $known[0], $none, $known[1], $none, $none, $known[2] ],
        [ 'a body', @known, post(10), @known, post(5000), $known[0],
            post(100_000), @known ],
        [ 'in chunks', @known, chunked(1, 2, 3), @known, chunked(4000, 9000),
            @known, chunked(20_000), @known ],
        [ 'a body that spells a request', $known[0],
            "POST /k1.txt HTTP/1.1\r\nHost: a.test\r\nContent-Length: "
            . length($known[0]) . "\r\n\r\n$known[0]", @known ],
        [ 'blank lines', $known[0], "\r\n\n", $known[1], "\n$none",
            "\r\n$known[0]" ],
        [ 'expects', $known[0], post(20) =~ s/\r\n/\r\nExpect: 100-continue\r\n/r,
            $known[0] ],
    );
    for (@mixes) {
        my ($what, @r) = @$_;
        my $all = join '', @r, $end;
        my $said = alike("$of, $what: at once", $tls, sub { $_[0]->send($all) });
        like $said, qr/close_notify 1/, "$of, $what: stock ends as it should";
        alike("$of, $what: a record each", $tls, sub {
            my ($c) = @_;
            $c->raw(join '', map $c->seal($_), @r, $end);
        });
        alike("$of, $what: one after the other", $tls, sub {
            my ($c) = @_;
            for (@r, $end) {
                $c->send($_);
                $c->more(.02);
            }
        });
        next if $what =~ /expects|chunks|a body\b/ && $version eq '1.2';
        my $step = length $all > 20_000 ? 501 : 7;
        alike("$of, $what: records of $step bytes", $tls, sub {
            $_[0]->send($all, record => $step);
        });
        alike("$of, $what: segments of $step bytes, the server waits",
            $tls, sub {
                $_[0]->send($all, segment => $step * 10, pause => .0005);
            });
        next if length $all > 5000;
        alike("$of, $what: records and segments of a byte", $tls, sub {
            $_[0]->send($all, record => 1, segment => 1);
        });
    }

    # Half a record, or a whole one, is there when the connection changes
    # hands.
    for my $first ($known[0], $unknown, post(50)) {
        for my $second ($known[1], $unknown, post(3000)) {
            my $what = join ', then ', map { (split ' ')[1] } $first, $second;
            for my $cut (1, 5, 6, 40, -1) {
                alike("$of, $what, $cut bytes of its record", $tls, sub {
                    my ($c) = @_;
                    $c->send($known[0]);
                    $c->answer;
                    my ($a, $b) = ($c->seal($first), $c->seal("$second$end"));
                    $c->raw($a . substr $b, 0, $cut, '');
                    sleep .02;
                    $c->raw($b);
                });
            }
            my $half = length($second) / 2;
            alike("$of, $what, half of it in the same record", $tls, sub {
                my ($c) = @_;
                $c->send($known[0]);
                $c->answer;
                $c->send($first . substr $second, 0, $half);
                $c->more(.02);
                $c->send(substr("$second$end", $half));
            });
        }
    }
}

# Sockets and what hangs on them: to and fro on few connections.
sub turns {
    my ($h, $count, %tls) = @_;
    my @c = map Test::TLS->new($h->tls_port, sni => 'a.test', %tls), 1 .. 4;
    my $good = 0;
    for my $i (1 .. $count) {
        my $c = $c[ $i % @c ];
        $c->send($known[ $i % 2 ]);
        my $r = $c->answer;
        $good++ if $r && $r->{body} eq $body{ $i % 2 ? '/k1.txt' : '/k0.txt' };
        $c->send($unknown);
        $r = $c->answer;
        $good++ if $r && $r->{body} eq $body{'/unknown/u.txt'};
    }
    return $good;
}

sub descriptors { my ($h) = @_;
    my $sum = 0;
    $sum += $h->descriptors($_) for $h->children;
    return $sum;
}

sub memory { my ($h) = @_;
    my $sum = 0;
    $sum += Test::Memory::anonymous($_) for $h->children;
    return $sum;
}

for my $version ('1.2', '1.3') {
    my $warm = $n < 100 ? $n : 100;
    is turns($fixed, $warm, version => $version), 2 * $warm,
        "TLS $version: $warm times to and fro";
    my ($taken, $returned) = map $t->counter("tls_$_"), qw(taken returned);
    my ($kib, $fds) = (memory($fixed), descriptors($fixed));
    is turns($fixed, $n, version => $version), 2 * $n,
        "TLS $version: $n times more";
  SKIP: {
        skip $no_loop, 2 if $no_loop;
        # a request that comes at once stays httpd's
        cmp_ok $t->counter('tls_taken') - $taken, '>=', $n * .8,
            'nearly each time the loop took it';
        cmp_ok $t->counter('tls_returned') - $returned, '>=', $n - 4,
            'and gave it back';
    }
    $fixed->wait_for(sub { descriptors($fixed) <= $fds + 2 }, 5);
    cmp_ok descriptors($fixed), '<=', $fds + 2, 'no descriptor is left';
  SKIP: {
        skip 'a sanitizer has memory of its own', 1 if $ENV{SANITIZER};
        my $more = memory($fixed) - $kib;
        # stock has 32 bytes more in its pool for each, as long as it lives
        cmp_ok $more, '<=', 768 + $n / 16, "$more KiB more";
    }
}
SKIP: {
    skip $no_loop, 1 if $no_loop;
    $fixed->wait_for(sub { !$t->counter('tls_open') }, 5);
    is $t->counter('tls_open'), 0, 'none is left with the loop';
}
$t->finish;
done_testing;
