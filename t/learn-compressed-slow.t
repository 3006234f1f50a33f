# SPDX-License-Identifier: Apache-2.0
# Clients that stop to read hold what was captured of their answers: there is a
# limit for all of them, and nothing is left behind.
use strict;
use warnings;
use Test::Client;
use Test::More;
use Test::Twin;

my $gzip = 'Accept-Encoding: gzip';
my $t = Test::Twin->new(modules => [qw(deflate filter)], conf => <<'END');
ThreadsPerChild 16
MaxRequestWorkers 128
ThreadLimit 16
SetOutputFilter DEFLATE
SendBufferSize 65536
END
# Half of it is left by compression: about 960 KiB.
srand 1;
my $text = join '', map sprintf("%08x", rand 2**32), 1 .. 218_750;
$t->file("$_.txt", $text) for 'a', 'b';
$t->file('small.txt', 'text ' x 100);
$t->settle;
$t->start;

my $small = $t->request('/small.txt', $gzip);
ok $t->learned($small), 'a small one is known';

# Ten times more than 512 KiB, for each of which there is 1 MiB.
my @slow = map Test::Client->new($t->fixed->port, rcvbuf => 65536,
    mss => 1460), 1 .. 10;
$_->send($t->request('/a.txt', $gzip)) for @slow;
for my $c (@slow) {
    1 while length $c->{in} < 540_000 && $c->more;
    cmp_ok length $c->{in}, '<', 640_000, 'one has not got all';
}
my $many = qr/a.txt is not learned \(R6\): .*too many compressed bodies/;
my $said = () = $t->fixed->log =~ /$many/g;
is $said, 0, 'which is not told before their end';
# An audit of what the loop has cannot be captured either.
ok $t->fixed->wait_for(sub {
    my $c = Test::Client->new($t->fixed->port);
    $c->send($small x 50);
    $c->answer or last for 1 .. 50;
    return $t->fixed->log =~ /small.txt is not learned \(R6\): .*too many/;
}, 40), 'an audit of what is known finds no room';
is $t->counter('differed'), 0, 'which is no difference';
my $length = 0;
for my $c (@slow) {
    my $r = $c->answer;
    $length ||= length $r->{body};
    is length $r->{body}, $length, 'all get the whole body';
    $c->close;
}
ok $t->fixed->wait_for(sub { $t->fixed->log =~ $many }, 5),
    'but not all are learned';
for my $name ('a', 'b') {
    my $q = $t->request("/$name.txt", $gzip);
    ok $t->learned($q), "$name.txt is, when they have gone";
    $t->same('as ever', [ $q, $q ]);
}
$t->finish;
done_testing;
