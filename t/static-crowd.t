# SPDX-License-Identifier: Apache-2.0
# Five thousand clients that are slow, half of them to ask and half of them to
# read: those who are quick hardly notice, and no slow one is sent away.
use strict;
use warnings;
use IPC::Open2 qw(open2);
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep);

my $most = Test::Static::descriptors();
plan skip_all => "5000 clients need 6000 descriptors, $most are allowed"
    if $most < 6000;

my $crowd = 5000;
my @limit = Test::Static::with_descriptors(6000);
# the queue has room for all: this is not about its overflow
my $h = Test::Static::server(prefix => [@limit], conf => <<'END');
ListenBacklog 4096
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
MaxKeepAliveRequests 0
KeepAliveTimeout 100
Timeout 100
END
Test::Static::old_file($h, 'big.bin', '', size => 8 << 20);
$h->start;
ok $h->learn('/1k.txt'), 'a small file is known';
ok Test::Static::learn_long($h, '/big.bin'), 'a large one, too';

# Twenty quick clients, before and with the crowd, in turns.
my @quick = map Test::Client->new($h->port), 1 .. 20;
my (@before, @with, %sum);
my $requests = 3000;

sub measure {
    my ($good, @seconds) =
        Test::Static::take_turns($h, \@quick, $requests, '/1k.txt');
    $sum{good} += $good;
    return Test::Static::quantile(.99, @seconds);
}

for my $round (1 .. 3) {
    push @before, measure();
    my $pid = open2(my $out, my $in, 'timeout', 60, @limit,
        Test::Httpd::build_dir() . '/tool/crowd', $h->port, $crowd / 2,
        $crowd / 2, '/big.bin');
    my $open = <$out> // '';
    is $open, "open $crowd\n", "round $round: $crowd slow clients";
    # but for those whose request was an audit, one in a thousand
    my $there = sub {
        $h->counter('connections') >= $crowd - 5;
    };
    ok $h->wait_for($there, 20), 'the loop has them all';
    sleep 1; # each has had its turn
    push @with, measure();
    ok $there->(), 'and all the time';
    close $in;
    my $end = <$out> // '';
    waitpid $pid, 0;
    like $end, qr/^sent [1-9]\d* read [1-9]\d* lost 0$/,
        'they were slow, not stuck, and none was lost';
}
is $sum{good}, 6 * $requests, 'all quick ones were answered';
my ($ok, $how) = Test::Static::undisturbed(\@before, \@with, .02);
ok $ok, $how or diag "before: @before\nwith: @with";
ok $h->wait_for(
    sub { $h->counter('connections') <= @quick + 2 }, 10),
    'and nothing is left of the crowd';
$h->finish;
done_testing;
