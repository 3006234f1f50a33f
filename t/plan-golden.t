# SPDX-License-Identifier: Apache-2.0
# The plans of t/plans/*.txt: the first line is the command, the rest what it
# prints. "perl t/plan-golden.t --update" writes the files anew; look at the
# difference before committing it.
use strict;
use warnings;
use Test::More;
use Test::Httpd;

my $tool = Test::Httpd::build_dir() . '/cpuaffinity';
my $update = @ARGV && $ARGV[0] eq '--update';
my @files = sort glob 't/plans/*.txt';

cmp_ok scalar @files, '>=', 12, 'machines and policies enough';
for my $file (@files) {
    open my $in, '<', $file or die "$file: $!";
    my $first = <$in>;
    my $want = do { local $/; <$in> } // '';
    close $in;
    my ($args) = $first =~ /^\$ cpuaffinity (plan .*)$/ or die "$file: no command";
    my $got = `$tool $args 2>&1`;
    $got .= 'exit ' . ($? >> 8) . "\n" if $?;
    if ($update) {
        open my $out, '>', $file or die "$file: $!";
        print $out $first, $got;
        close $out or die "$file: $!";
        $want = $got;
    }
    is $got, $want, $file;
}

# The examples of docs/topology.md: each line stands in what the command
# prints, in that order.
my $doc = do { open my $in, '<', 'docs/topology.md' or die $!; local $/; <$in> };
my @examples = $doc =~ /^```\n\$ cpuaffinity (plan .*?)^```/msg;
cmp_ok scalar @examples, '>', 3, 'docs/topology.md has examples';
for my $example (@examples) {
    my ($args, @want) = split /\n/, $example;
    my @got = split /\n/, `$tool $args 2>&1`;
    for my $line (@want) {
        shift @got while @got && $got[0] ne $line;
    }
    ok scalar @got, "docs/topology.md: $args";
}
done_testing;
