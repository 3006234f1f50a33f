# SPDX-License-Identifier: Apache-2.0
# How TLS connections end: by close_notify, FIN, RST, by records that are none,
# by a renegotiation; and what KeyUpdates do. A client sees of the loop what it
# sees of stock httpd: answers, alert, close_notify, FIN or RST.
use strict;
use warnings;
use Test::More;
use Test::TLSSite;
use Time::HiRes qw(sleep time);

plan skip_all => Test::TLSSite::lacks() if Test::TLSSite::lacks();

my $no_loop = Test::TLSSite::lacks_loop();
my $t = Test::TLSSite::twin(modules => ['headers'], hosts => [
    'a.test' => "<Location /unknown>\nHeader set X \"%{SSL_PROTOCOL}s\"\n"
    . "</Location>\n" ], conf => <<'END');
KeepAliveTimeout 60
Timeout 60
END
$t->file('k.txt', 'known');
$t->file('large.bin', 'large' x 60_000);
$t->file('unknown/u.txt', 'unknown');
$t->start;

sub get { my ($target, @fields) = @_;
    return $t->request($target, 'Host: a.test', @fields) }
my ($known, $large, $unknown) = map get($_),
    qw(/k.txt /large.bin /unknown/u.txt);
Test::TLSSite::learns($t, $_, get($_)) for qw(/k.txt /large.bin);

# Where the connection is when it ends.
my %before = (new => [], httpd => [ $known, $unknown ],
    loop => [ ($known) x 3 ], back => [ ($known) x 3, $unknown ],
    again => [ $known, $unknown, $known ]);

# A record with one bit turned.
sub spoilt {
    my ($bytes) = @_;
    substr($bytes, -1, 1) ^= "\1";
    return $bytes;
}

# What is done then. A reset is not seen; whether the rest is read before the
# end (or a RST comes of it) is the kernel's.
my %how = (
    'close_notify' => sub { $_[0]->notify },
    'close_notify and FIN' => sub { $_[0]->notify; $_[0]->shut },
    'FIN' => sub { $_[0]->shut },
    'close_notify, then a request' => sub {
        my ($c) = @_;
        $c->raw($c->seal_notify . $known);
    },
    'a request and close_notify' => sub {
        my ($c) = @_;
        $c->raw($c->seal($known) . $c->seal_notify);
    },
    'a request, close_notify and FIN' => sub {
        my ($c) = @_;
        $c->raw($c->seal($known) . $c->seal_notify);
        $c->shut;
    },
    'a large answer, close_notify and FIN' => sub {
        my ($c) = @_;
        $c->raw($c->seal($large) . $c->seal_notify);
        $c->shut;
    },
    'a request and FIN' => sub { $_[0]->send($known); $_[0]->shut },
    'an unknown one and FIN' => sub { $_[0]->send($unknown); $_[0]->shut },
    'an unknown one, close_notify and FIN' => sub {
        my ($c) = @_;
        $c->raw($c->seal($unknown) . $c->seal_notify);
        $c->shut;
    },
    'half a request and FIN' => sub {
        $_[0]->send(substr $known, 0, 20);
        $_[0]->shut;
    },
    'half a request, close_notify and FIN' => sub {
        my ($c) = @_;
        $c->raw($c->seal(substr $known, 0, 20) . $c->seal_notify);
        $c->shut;
    },
    'a request and a half, FIN' => sub {
        $_[0]->send($known . substr $known, 0, 20);
        $_[0]->shut;
    },
    'half a record and FIN' => sub {
        my ($c) = @_;
        my $sealed = $c->seal($known);
        $c->raw(substr $sealed, 0, length($sealed) / 2);
        $c->shut;
    },
    'half a head of a record and FIN' => sub {
        $_[0]->raw("\x17\x03\x03");
        $_[0]->shut;
    },
    'a record and a half, FIN' => sub {
        my ($c) = @_;
        my ($a, $b) = map $c->seal($_), $known, $unknown;
        $c->raw($a . substr $b, 0, 20);
        $c->shut;
    },
    'a spoilt record' => sub {
        my ($c) = @_;
        $c->raw(spoilt($c->seal($known)));
    },
    'a request, then a spoilt record' => sub {
        my ($c) = @_;
        $c->raw($c->seal($known) . spoilt($c->seal($known)));
    },
    'an unknown one, then a spoilt record' => sub {
        my ($c) = @_;
        $c->raw($c->seal($unknown) . spoilt($c->seal($known)));
    },
    'a record that comes twice' => sub {
        my ($c) = @_;
        $c->raw($c->seal($known) x 2);
    },
    'an oversize record' => sub { $_[0]->raw("\x17\x03\x03\x48\x01") },
    'an oversize record behind a request' => sub {
        my ($c) = @_;
        $c->raw($c->seal($known) . "\x17\x03\x03\xff\xff");
    },
    'the largest record' => sub {
        my ($c) = @_;
        $c->raw($c->seal($known . "\r\n" x 2 . 'x' x 16_000
            . "\r\n" x 2));
    },
    'a record of no known type' => sub {
        $_[0]->raw("\x63\x03\x03\x00\x20" . 'x' x 32);
    },
    'a record of another version' => sub {
        $_[0]->raw("\x17\x05\x05\x00\x20" . 'x' x 32);
    },
    'a record of nothing' => sub { $_[0]->raw("\x17\x03\x03\x00\x00") },
    'no record' => sub { $_[0]->raw($known) },
    'an alert in the clear' => sub { $_[0]->raw("\x15\x03\x03\x00\x02\x02\x28") },
    'a ClientHello' => sub {
        $_[0]->raw("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00");
    },
    'a last answer' => sub {
        $_[0]->send(get('/k.txt', 'Connection: close'));
    },
    'a large last answer' => sub {
        $_[0]->send(get('/large.bin', 'Connection: close'));
    },
    'more behind the last answer' => sub {
        my ($c) = @_;
        my $last = get('/k.txt', 'Connection: close');
        $c->raw($c->seal($last) . $c->seal($known));
    },
    'HTTP/1.0' => sub { $_[0]->send($known =~ s/1\.1/1.0/r) },
);
my $fates = qr/a record that|last answer|no record|record of|oversize|spoilt|alert|ClientHello|then a request/;

sub alike {
    my ($name, $tls, $before, $do) = @_;
    my @said = map {
        my $c = Test::TLS->new($_->tls_port, sni => 'a.test', %$tls);
        my $answered = grep { $c->send($_); $c->answer } @$before;
        $do->($c);
        my $said = "answered $answered\n" . Test::TLSSite::said($c);
        $said =~ s/^fate (?:end|reset)$/fate over/m if $name =~ $fates;
        $said;
    } $t->both;
    Test::TLSSite::same_text($name, @said);
    return $said[0];
}

for my $version ('1.2', '1.3') {
    for my $where ($version eq '1.2' ? qw(loop back) : sort keys %before) {
        my $of = "TLS $version, $where";
        my $tls = { version => $version };
        alike("$of: $_", $tls, $before{$where}, $how{$_}) for sort keys %how;
        alike("$of: a wish to renegotiate", $tls, $before{$where}, sub {
            my ($c) = @_;
            $c->raw($c->seal_renegotiation);
            $c->end(.3);
            $c->send($known);
        }) if $version eq '1.2' && $where ne 'new';
    }
}

# KeyUpdate, before, between and behind requests, in segments of their own and
# together, asked for and not. k: a KeyUpdate, K and U: requests, L: one for a
# large answer, a and b: the two parts of one; |: the end of a segment.
my %updates = ('alone' => 'k', 'before a request' => 'kK',
    'behind one' => 'Kk', 'between two' => 'KkK',
    'between an unknown and a known' => 'UkK',
    'in the middle of a request' => 'akb', 'in pieces' => 'a|k|b',
    'three of them' => 'kKkKkK', 'before a large answer' => 'kL',
    'during a large answer' => 'L|k', 'forty' => 'k' x 40);
my %text = (K => $known, U => $unknown, L => $large,
    a => substr($known, 0, 20), b => substr($known, 20));

# Waits for so many answers. Stock has no look at what came together with a
# KeyUpdate behind a request until something more comes: one more KeyUpdate.
sub await {
    my ($c, $want) = @_;
    my $end = time + 20 * Test::Httpd::slow();
    while (time < $end && !$c->{fate}) {
        my $n = () = $c->{in} =~ m{HTTP/1\.1 \d}g;
        return if $n >= $want;
        $c->more(.5) or $c->{fate} or $c->raw($c->seal_key_update(0));
    }
}

SKIP: {
    skip 'libffi-platypus-perl is not installed', 1
        unless eval { require FFI::Platypus; 1 };
    for my $where (qw(loop back again)) {
        for my $what (sort keys %updates) {
            for my $ask (0, 1) {
                my @came;
                my $name = "$where: KeyUpdate $what, asked for: $ask";
                alike($name, { version => '1.3' }, $before{$where}, sub {
                    my ($c) = @_;
                    for my $part (split /\|/, $updates{$what}) {
                        $c->raw(join '', map { $_ eq 'k'
                            ? $c->seal_key_update($ask)
                            : $c->seal($text{$_}) } split //, $part);
                        $c->more(.03);
                    }
                    my $n = $updates{$what} =~ tr/KULb//;
                    await($c, $n);
                    for ($known, $unknown, $known) {
                        $c->send($_);
                        await($c, ++$n);
                    }
                    $c->send(get('/k.txt', 'Connection: close'));
                    await($c, ++$n);
                    $c->end(5);
                    push @came, $c->{updates} ? 1 : 0;
                });
                is $came[1], $came[0], "$name: the server's own";
            }
        }
    }
}

# RST, at once and in the middle: nobody minds.
for my $where (sort keys %before) {
    for my $h ($t->both) {
        my $c = Test::TLS->new($h->tls_port, sni => 'a.test');
        for (@{ $before{$where} }) { $c->send($_); $c->answer }
        $c->reset;
        my $d = Test::TLS->new($h->tls_port, sni => 'a.test');
        for (@{ $before{$where} }) { $d->send($_); $d->answer }
        $d->send($large);
        $d->reset;
    }
}
$t->same('and all goes on', [ ($known) x 4 ]);
SKIP: {
    skip $no_loop, 2 if $no_loop;
    ok $t->fixed->wait_for(sub { !$t->counter('tls_open') }, 10),
        'none is left with the loop';
    cmp_ok $t->counter('tls_taken'), '>', 200, 'many were there';
}
$t->finish;
done_testing;
