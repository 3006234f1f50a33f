# SPDX-License-Identifier: Apache-2.0
# Many more files than a process may remember, asked for at random: every
# answer is the right one, and memory is bounded by the directives, not by
# the number of files. FILES=100000 for more than CI has time for.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::Memory;
use Test::More;
use Test::Static;

my $files = $ENV{FILES} || (Test::Httpd::slow() > 1 ? 8000 : 20_000);
my $requests = $files * 3 / 2;
my ($entries, $memory) = (4000, 4); # MiB
my $h = Test::Static::server(conf => <<"END");
FixedStaticCache $entries 60s
FixedStaticMemory 64K ${memory}M
MaxKeepAliveRequests 0
END

sub name { return $_[0] % 200 . "/$_[0].txt" }
sub text { return "$_[0]\n" x 300 }

mkdir $h->root . "/htdocs/$_" for 0 .. 199;
Test::Static::old_file($h, name($_), text($_)) for 1 .. $files;
$h->start;
my ($child) = $h->children;
my $before = Test::Memory::anonymous($child);
my @c = map Test::Client->new($h->port), 1 .. 8;

# @n requests, each for one of the first @of files. @return how many answers
# were wrong
sub ask {
    my ($n, $of) = @_;
    my $wrong = 0;
    for my $i (1 .. $n) {
        my $file = 1 + int rand $of;
        my $r = $c[ $i % @c ]->get('/' . name($file));
        $wrong++ unless $r && $r->{status} == 200
            && $r->{body} eq text($file);
    }
    return $wrong;
}

my $seed = $ENV{SEED} || time;
srand $seed;
is ask($requests, $files), 0, "$requests requests for $files files"
    or diag "SEED=$seed";
cmp_ok $h->counter('loop_hits'), '>', 0, 'some by the loop';

# An entry has a key, a path, a head and its place in tables: 2 KiB at most.
# The rest is httpd's threads, which have all worked by now.
my $limit = $memory * 1024 + $entries * 2 + 4096;
my $grown = Test::Memory::anonymous($child) - $before;
SKIP: {
    skip 'a sanitizer has memory of its own', 1 if $ENV{SANITIZER};
    cmp_ok $grown, '<', $limit, "$grown KiB more than before";
}

# What is asked for often is the loop's, in spite of all the others.
ask(2000, 100);
my $hits = $h->counter('loop_hits');
is ask(1000, 100), 0, '1000 requests for 100 of them';
$hits = $h->counter('loop_hits') - $hits;
cmp_ok $hits, '>', 900, "$hits of them by the loop";
is_deeply [ $h->children ], [$child], 'the child lives';

# The status tells what the cache holds and what was pushed out.
ok $h->wait_for(sub { $h->counter('cache_entries') }, 5),
    'entries are told';
cmp_ok $h->counter('cache_entries'), '<=', $entries,
    'no more than may be';
cmp_ok $h->counter('cache_bytes'), '<=', $memory << 20,
    'nor more memory';
cmp_ok $h->counter('evicted'), '>', 0, 'others had to go';
$h->finish;
done_testing;
