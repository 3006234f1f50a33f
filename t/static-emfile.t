# SPDX-License-Identifier: Apache-2.0
# Near the limit of descriptors idle connections go first, the loop does not
# spin, no child ends, and whoever asks gets an answer.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::More;
use Test::Static;
use Time::HiRes qw(sleep time);

my $h = Test::Static::server(
    prefix => [ Test::Static::with_descriptors(256) ], conf => <<'END');
FixedStaticMemory 4K 16M
KeepAliveTimeout 100
Timeout 100
MaxKeepAliveRequests 0
END
# More files than descriptors, too large for memory: each could be kept open.
Test::Static::old_file($h, "f$_.txt", "$_\n" x 4000) for 1 .. 300;
$h->start;
my ($child) = $h->children;

sub used { $h->descriptors($child) }
sub ticks { $h->cpu_ticks($child) }

ok $h->learn('/1k.txt'), 'a file is known';
{
    my $bad = 0;
    for my $round (1 .. 4) {
        my $c = Test::Client->new($h->port);
        for my $n (1 .. 300) {
            my $r = $c->get("/f$n.txt");
            if (!$r) {
                $c = Test::Client->new($h->port);
                $r = $c->get("/f$n.txt");
            }
            $bad++ unless $r && $r->{body} eq "$n\n" x 4000;
        }
        sleep 0.1;
    }
    is $bad, 0, '300 files, four times each';
    cmp_ok used(), '<', 200, 'files do not take all descriptors';
}

# Twice as many idle connections as there are descriptors.
my (@idle, @no);
for my $n (1 .. 500) {
    my $c = Test::Client->new($h->port);
    my $r = $c->get('/1k.txt');
    push @no, $n unless $r && $r->{status} == 200;
    push @idle, $c;
}
is "@no", '', '500 connections were each answered, and kept';
cmp_ok used(), '<', 256, 'with some descriptors left';
my $open = grep { !$_->more(0) && !$_->{fate} } @idle;
cmp_ok $open, '>', 50, "$open idle ones are still open";
my @ends = grep { ($_->{fate} // '') eq 'end' } @idle;
is $open + @ends, 500, 'the others were closed, not reset';
my $r = $idle[-1]->get('/1k.txt');
is $r && $r->{status}, 200, 'the latest one is among those that are kept';

my $before = ticks();
sleep 1.5;
cmp_ok ticks() - $before, '<', 50, 'the loop does not spin';
is $h->get('/none')->{status}, 404, 'httpd answers, too';
is $h->get('/f7.txt')->{body}, "7\n" x 4000, 'and files that are opened anew';
is_deeply [ $h->children ], [$child], 'the child lives';
$_->close for @idle;
ok $h->wait_for(sub { used() < 150 }, 10), 'descriptors come back';
$h->finish;
done_testing;
