# SPDX-License-Identifier: Apache-2.0
# What one process has learned all of them repeat: httpd is asked twice for a
# file, not twice by each.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;

my $seats = 4;
my $h = Test::Static::server(seats => $seats, conf => <<'END');
FixedStaticMemory 64K 16M
FixedStaticCache 1000 60s
FixedSteering off
CPUAffinity off
END
my @files = map "f$_.txt", 1 .. 20;
Test::Static::old_file($h, $_, "This is $_\n" x 20) for @files;
$h->start;

sub counters {
    my ($name) = @_;
    return map { $_->{$name} } @{ $h->json('/status?json')->{seats} };
}

sub total { my $n = 0; $n += $_ for counters($_[0]); return $n }

# One request on a connection of its own, which reaches any process.
sub once {
    my ($file) = @_;
    my $c = Test::Client->new($h->port);
    my $r = $c->get("/$file");
    $c->close;
    return $r;
}

ok $h->seated($seats, '/status'), "$seats processes";

# Enough for one process to learn them, far from enough for each.
for my $file (@files) {
    once($file) for 1 .. 2;
}
ok $h->wait_for(sub {
    my @n = counters('learned');
    return $seats == grep { $_ >= @files } @n;
}, 10), 'every process has learned all files' or diag join ' ',
    counters('learned');

# Only now are they asked much: nobody asks httpd.
my $good = 0;
my ($hits, $handed) = (total('loop_hits'), total('handoffs'));
for my $file (@files) {
    $good += once($file)->{body} eq "This is $file\n" x 20 for 1 .. 20;
}
is $good, 400, '400 answers, of all processes';
is total('loop_hits') - $hits, 400, 'all of them by a loop';
# The question for the counter itself is httpd's.
cmp_ok total('handoffs') - $handed, '<=', 2, 'httpd had no part in it';
is scalar(grep { !$_ } counters('loop_hits')), 0, 'each process had some'
    or diag join ' ', counters('loop_hits');
$h->finish;

# A process that comes later learns from the others' lessons, too, and one
# that dies while it teaches does not keep them from it.
$h = Test::Static::server(seats => 2, allow_log => qr/exit signal Killed/,
    conf => <<'END');
FixedStaticCache 1000 60s
FixedSteering off
CPUAffinity off
END
Test::Static::old_file($h, $_, "This is $_\n") for @files;
$h->start;
ok $h->seated(2, '/status'), 'two processes';
my ($pid) = map { $_->{pid} } @{ $h->json('/status?json')->{seats} };
kill KILL => $pid;
ok $h->wait_for(sub {
    my @s = @{ $h->json('/status?json')->{seats} };
    return $s[0]{pid} && $s[0]{pid} != $pid && $s[1]{pid};
}, 20), 'one is new';
my @before = counters('learned');
for my $file (@files) {
    once($file) for 1 .. 2;
}
ok $h->wait_for(sub {
    my @n = counters('learned');
    return 2 == grep { $n[$_] - $before[$_] >= @files } 0, 1;
}, 10), 'both know what either has learned'
    or diag join ' ', @before, counters('learned');
$h->finish;

# Compressed bodies do not cross, only their digests: what one process has
# learned is the first of two answers to another, or renews what that knows.
$h = Test::Static::server(seats => 2, modules => ['deflate'], conf => <<'END');
FixedStaticCache 1000 60s
FixedSteering off
CPUAffinity off
SetOutputFilter DEFLATE
END
Test::Static::old_file($h, 'z.txt', 'text ' x 2000);
$h->start;
ok $h->seated(2, '/status'), 'two processes';
my %body;
my $answers = sub {
    my ($n) = @_;
    my $before = total('loop_hits');
    for (1 .. $n) {
        my $c = Test::Client->new($h->port);
        my $r = $c->get('/z.txt', 'Accept-Encoding: gzip');
        $body{ $r ? $r->{body} : '' }++;
        $c->close;
    }
    return total('loop_hits') - $before;
};
ok $h->wait_for(sub { $answers->(20) == 20 }, 15),
    'both processes repeat a compressed answer';
is scalar(grep { !$_ } counters('loop_hits')), 0, 'each of them';
is scalar(keys %body), 1, 'and all answers are one';
is total('differed'), 0, 'no audit differs';
$h->finish;
done_testing;
