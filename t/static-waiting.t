# SPDX-License-Identifier: Apache-2.0
# Clients that ask for much at once and do not read: what is kept for them is
# bounded and counted, they get all of it in the end, and others are answered.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

my $clients = 120;
my $bound = 1 << 20; # a quarter of the limit
my $h = Test::Static::server(conf => <<'END');
FixedStaticMemory 64K 4M
MaxKeepAliveRequests 0
KeepAliveTimeout 100
Timeout 100
SendBufferSize 16384
END
my %body = (
    '/large.bin' => join('', map chr($_ * 7 % 251), 1 .. 60_000),
    '/small.bin' => join('', map chr($_ * 5 % 251), 1 .. 3_000),
);
Test::Static::old_file($h, $_, $body{$_}) for keys %body;
$h->start;
ok $h->learn($_), "$_ is known" for sort(keys %body), '/1k.txt';

# Resident memory of the child, in bytes.
sub resident {
    my $sum = 0;
    for my $pid ($h->children) {
        open my $f, '<', "/proc/$pid/status" or next;
        while (<$f>) { $sum += $1 * 1024 if /^RssAnon:\s+(\d+) kB/ }
    }
    return $sum;
}

for my $names ([ '/large.bin' ], [ '/small.bin' ],
    [ '/small.bin', '/large.bin' ]) {
    my $name = join ' and ', @$names;
    my @targets = map $names->[ $_ % @$names ], 0 .. 199;
    my $before = resident();
    my $hits = $h->counter('loop_hits');
    my @c = map Test::Client->new($h->port, rcvbuf => 4096), 1 .. $clients;
    my $bytes = join '', map Test::Client::request($_), @targets;
    for my $c (@c) {
        syswrite $c->{s}, $bytes; # what goes without waiting
    }
    my $waiting = 0;
    ok $h->wait_for(sub {
        my $now = $h->counter('waiting_bytes');
        my $same = $now && $now == $waiting;
        $waiting = $now;
        return $same;
    }, 10), "$name: something is kept";
    cmp_ok $h->counter('loop_hits') - $hits, '>=', $clients,
        '... for each of them';
    # beyond the bound one head and 1 KiB of requests each
    cmp_ok $waiting, '<', $bound + $clients * 2048, '... within the bound';
    cmp_ok resident() - $before, '<', 3 * $bound,
        '... and that is all that the process has grown by'
        unless $ENV{SANITIZER};
    my $other = Test::Client->new($h->port);
    is scalar(grep { ($other->get('/1k.txt') || next)->{status} == 200 }
        1 .. 50), 50, '... others are answered';
    my $wrong = '';
    for my $c (@c) {
        # as many as were sent as a whole
        my $r = $c->answer;
        $wrong ||= 'first' if !$r || $r->{body} ne $body{ $targets[0] };
    }
    # one of them takes all
    my $c = $c[-1];
    for my $i (1 .. 20) {
        my $r = $c->answer;
        $wrong ||= "number $i" if !$r || $r->{body} ne $body{ $targets[$i] };
    }
    is $wrong, '', '... and what came is right';
    $_->close for @c;
    ok $h->wait_for(sub { !$h->counter('waiting_bytes') }, 10),
        '... nothing is kept when they have gone';
}
$h->finish;
done_testing;
