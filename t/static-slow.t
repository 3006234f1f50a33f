# SPDX-License-Identifier: Apache-2.0
# Clients that are slow to ask or slow to read, and one that takes all it can
# get, keep nobody else waiting. Counts only, no times.
use strict;
use warnings;
use POSIX ();
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $h = Test::Static::server(modules => ['reqtimeout'], conf => <<'END');
FixedStaticMemory 64K 16M
KeepAliveTimeout 100
Timeout 3
RequestReadTimeout header=2
MaxKeepAliveRequests 0
END
my $slow = Test::Httpd::slow();
my $text = join '', map chr($_ * 13 % 256), 1 .. 8 << 20;
Test::Static::old_file($h, 'big.bin', $text);
Test::Static::old_file($h, 'huge.bin', '', size => 1 << 30);
$h->start;
ok $h->learn('/1k.txt'), 'a small file is known';
ok Test::Static::learn_long($h, $_), "$_ is known"
    for '/big.bin', '/huge.bin';

# Small answers on one connection. @return how many were right
sub small {
    my ($n) = @_;
    my $c = Test::Client->new($h->port);
    my $good = 0;
    for (1 .. $n) {
        my $r = $c->get('/1k.txt') or last;
        $good++ if length $r->{body} == 1024;
    }
    return $good;
}

# More of each than there are workers, many times.
my @heads = map Test::Client->new($h->port), 1 .. 200;
$_->send("GET /1k.txt HTTP/1.1\r\nHost: loc") for @heads;
my @stuck = map Test::Client->new($h->port, rcvbuf => 4096), 1 .. 100;
$_->send(Test::Client::request('/big.bin')) for @stuck;
my $before = $h->counter('loop_hits');
is small(1000), 1000, '1000 answers while 200 do not end their request and '
    . '100 do not read';
cmp_ok $h->counter('loop_hits') - $before, '>', 900,
    'by the loop';

# Slow but alive: a little now and then, for longer than Timeout.
my @sip = map Test::Client->new($h->port, rcvbuf => 65536), 1 .. 3;
$_->send(Test::Client::request('/big.bin')) for @sip;
my $until = time + 4.5;
while (time < $until) {
    for my $c (@sip) {
        $c->more(0) for 1 .. 2;
    }
    sleep .1;
}
for my $n (1 .. @sip) {
    my $r = $sip[ $n - 1 ]->answer;
    ok $r && $r->{body} eq $text, "slow reader $n gets all of it";
}
my %fate;
$fate{ $_->end(10 * $slow) || 'open' }++ for @heads;
is_deeply \%fate, { end => 200 }, 'who does not end the request is told so';
is scalar(grep { $_->{in} =~ m{^HTTP/1\.1 408 } } @heads), 200,
    'with 408, as httpd does';
my @whole = grep { $_->end(10 * $slow); length $_->{in} >= length $text }
    @stuck;
is scalar @whole, 0, 'who does not read is given up after Timeout';
ok $h->wait_for(sub { $h->counter('connections') <= 4 }, 10),
    'no connection is left' or diag $h->counter('connections');
is $h->get('/none')->{status}, 404, 'httpd has threads that are free';
is small(100), 100, 'and small ones are answered as before';

# One that reads 1 GiB as fast as it can.
{
    pipe my $r, my $w or die;
    my $pid = fork // die;
    if (!$pid) {
        close $r;
        my $c = Test::Client->new($h->port);
        $c->send(Test::Client::request('/huge.bin'));
        my $total = 0;
        while (my $n = $c->more) {
            print {$w} 'x' if !$total;
            $w->flush;
            $total += $n;
            $c->{in} = '';
            last if $total >= 1 << 30;
        }
        print {$w} "$total\n";
        close $w;
        POSIX::_exit(0);
    }
    close $w;
    sysread $r, my $begun, 1;
    my ($good, $while) = (0, 0);
    my $c = Test::Client->new($h->port);
    for (1 .. 500) {
        my $got = $c->get('/1k.txt') or last;
        $good++ if length $got->{body} == 1024;
        vec(my $ended = '', fileno $r, 1) = 1;
        $while++ unless select $ended, undef, undef, 0;
    }
    is $good, 500, "500 small answers, $while while the large one ran";
    cmp_ok $while, '>', 5, 'not only after it';
    my $total = <$r>;
    waitpid $pid, 0;
    cmp_ok $total // 0, '>=', 1 << 30, 'which came to its end, too';
}
$h->finish;
done_testing;
