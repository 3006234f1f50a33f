# SPDX-License-Identifier: Apache-2.0
package Test::Memory;

# What a server's processes take, and whether restarts leave it as it was.
#
#   my $before = Test::Memory::settled($h, 2);
#   ...
#   Test::Memory::same($before, Test::Memory::settled($h, 2), $restarts);

use strict;
use warnings;
use Test::Httpd ();
use Test::More ();
use Time::HiRes qw(time);

# KiB of memory that are the process's own (not of files, not shared). The
# figure in status is not exact, it is off by some pages for each CPU.
sub anonymous {
    my ($pid) = @_;
    my ($kib) = Test::Httpd::slurp("/proc/$pid/smaps_rollup") =~ /^Anonymous:\s+(\d+) kB/m;
    return $kib
        // (Test::Httpd::slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m)[0];
}

# The memory of a server as a graceful restart leaves it, nobody asking for
# anything: {parent, child} in KiB, child being the largest of @n; undef if it
# does not settle. The same at any time, but for what was not given back.
sub settled {
    my ($h, $n) = @_;
    $h->graceful or return undef;
    # until all threads have started: as many in each child, for a while
    my ($last, $since) = ('', time);
    $h->wait_for(sub {
        my @c = $h->children;
        my %threads = map { (Test::Httpd::threads_of($_) => 1) } @c;
        my $now = join ' ', @c, sort keys %threads;
        ($last, $since) = ($now, time) if $now ne $last;
        return @c == $n && keys %threads == 1 && time - $since >= 0.5
            && (keys %threads)[0] >= $h->_all_threads;
    }, 30) or return undef;
    my @children = sort { $a <=> $b }
        map { anonymous($_) } $h->children;
    return { parent => anonymous($h->parent),
        child => $children[-1] };
}

# Two tests: after so many restarts the memory is what it was before. The
# allocators' own growth ends after a few, at less than 64 KiB; what is lost
# at each restart adds up, 2 KiB at each being too much: within 2 MiB after a
# thousand. A child may have one more of malloc's arenas in use than another.
sub same {
    my ($before, $now, $restarts) = @_;
    my %limit = (parent => 128 + 2 * $restarts);
    $limit{child} = 512 + $limit{parent};
    for my $who (qw(parent child)) {
        my ($was, $is) = map { $_ ? $_->{$who} : undef } $before, $now;
      SKIP: {
            Test::More::skip('a sanitizer has memory of its own', 1)
                if $ENV{SANITIZER};
            my $ok = $was && $is && $is - $was <= $limit{$who};
            Test::More::ok($ok, sprintf '%s: %s KiB, then %s after %d'
                . ' restarts', $who, $was // '?', $is // '?', $restarts);
        }
    }
}

1;
