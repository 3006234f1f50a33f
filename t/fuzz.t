# SPDX-License-Identifier: Apache-2.0
# Every fuzz target replays its corpus: what once was found stays found.
# (make fuzz searches on.)
use strict;
use warnings;
use Test::More;
use Test::Httpd;

for my $source (sort glob 't/fuzz/*.c') {
    my ($name) = $source =~ m{([^/]+)\.c$};
    my $program = Test::Httpd::build_dir() . "/replay/$name";
    my @inputs = grep -f, glob "t/fuzz/corpus/$name/*";
    my $out = `timeout 120 $program t/fuzz/corpus/$name 2>&1`;
    is $?, 0, "$name: replayed" or diag $out;
    cmp_ok scalar @inputs, '>', 4, "$name has a corpus";
    like $out, qr/^${\scalar @inputs} inputs$/m, "$name: all of it";
}
done_testing;
