# SPDX-License-Identifier: Apache-2.0
# docs/pitfalls.md: entries are numbered without a gap, each names a test, and
# what the documents name is there: tests, and files of the source by the
# folder and name that they have below src.
use strict;
use warnings;
use Test::More;

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!";
    local $/;
    return <$fh>;
}

my $doc = slurp('docs/pitfalls.md');
my @entries = $doc =~ /^(\d+\. .*?)(?=^\d+\. |^## |\z)/msg;
cmp_ok scalar(@entries), '>=', 26, 'the entries were read';
for my $i (0 .. $#entries) {
    my ($n) = $entries[$i] =~ /^(\d+)/;
    is $n, $i + 1, "entry $n: none is left out";
    like $entries[$i], qr{\bt/[\w/-]+\.[tc]\b|\(no test: }, "$n: its test";
}

# What comments refer to.
my $sources = `grep -rhoE 'pitfall(s\\.md)? [0-9]+' src t mod_cpuaffinity.c`;
for my $n ($sources =~ /(\d+)$/mg) {
    cmp_ok $n, '<=', scalar(@entries), "pitfall $n is there";
}

for my $path (glob 'docs/*.md') {
    my $text = slurp($path);
    for my $test ($text =~ m{`(t/[\w/-]+\.[tc])`}g) {
        ok -e $test, "$path: $test";
    }
    for my $file ($text =~ m{`(?:src/)?((?!t/|bench/)\w+/\w+\.[ch])`}g) {
        SKIP: {
            skip "$file: src has its old folders", 1 unless -d 'src/serve';
            ok -e "src/$file", "$path: src/$file";
        }
    }
}
done_testing;
