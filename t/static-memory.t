# SPDX-License-Identifier: Apache-2.0
# Memory is short: the files are many times what the processes may have, and
# the kernel takes pages back all the time. Answers go on, right ones, and
# no process ends.
use strict;
use warnings;
use Test::Cgroup;
use Test::Client;
use Test::Httpd;
use Test::Memory;
use Test::More;
use Test::Static;

plan skip_all => 'a sanitizer needs memory of its own' if $ENV{SANITIZER};
my $limit = 48; # MiB
my $group = Test::Cgroup->memory($limit << 20);
plan skip_all => 'no group with a limit: ' . Test::Cgroup::reason()
    unless $group;

my $memory = 8; # MiB
my $h = Test::Static::server(prefix => [ $group->prefix ], conf => <<"END");
FixedStaticMemory 64K ${memory}M
FixedStaticCache 5000 60s
MaxKeepAliveRequests 0
END
# Zeros, and no pages of them until httpd reads them: these count as its own.
my %files = (small => [ 500, 48 << 10 ], large => [ 1000, 128 << 10 ]);
for my $kind (keys %files) {
    my ($n, $size) = @{ $files{$kind} };
    Test::Static::old_file($h, "$kind$_.bin", '', size => $size) for 1 .. $n;
}
$h->start;
my ($child) = $h->children;
ok scalar(grep { $_ == $child } $group->processes),
    "the processes may have $limit MiB";
my $before = Test::Memory::anonymous($child);

# As many requests as there are files of the kind, at random. @return how
# many answers were wrong
my $c = Test::Client->new($h->port);
sub some_of {
    my ($kind) = @_;
    my ($n, $size) = @{ $files{$kind} };
    my $wrong = 0;
    for (1 .. $n) {
        my $i = 1 + int rand $n;
        my $r = $c->get("/$kind$i.bin");
        $wrong++ unless $r && $r->{status} == 200
            && $r->{body} eq "\0" x $size;
    }
    return $wrong;
}

for my $round (1 .. 4) {
    is some_of($_), 0, "round $round: $_ files" for qw(small large);
}
my $hits = $h->counter('loop_hits');
cmp_ok $hits, '>', 500, "$hits by the loop";
cmp_ok $group->pressed, '>', 0,
    'the limit was met ' . $group->pressed . ' times';
my $grown = Test::Memory::anonymous($child) - $before;
# 2 KiB for each of 1500 entries; the rest is httpd's threads
cmp_ok $grown, '<', $memory * 1024 + 1500 * 2 + 4096,
    "$grown KiB more than before";
ok $h->learn('/1k.txt'), 'a new file is learned';
is $group->killed, 0, 'the kernel has ended none for want of memory';
is_deeply [ $h->children ], [$child], 'the child lives';
$h->finish;
ok $group->remove, 'the group is gone';
done_testing;
