# SPDX-License-Identifier: Apache-2.0
# The directive table, the sample configuration and the manual name the same
# directives with the same defaults, and every member of a configuration
# struct has a create default and a merge rule.
use strict;
use warnings;
use Test::More;

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!";
    local $/;
    return <$fh>;
}

my $c = slurp('mod_cpuaffinity.c');
my $conf = slurp('conf/cpuaffinity.conf');
my $doc = slurp('docs/directives.md');

my @code = $c =~ /AP_INIT_\w+\(\s*"(\w+)"/g;
my %conf = $conf =~ /^#(CPUAffinity\w*|Fixed\w+) (.+)$/mg;
my @doc = $doc =~ /^## (\w+) Directive$/mg;
my %doc_default = $doc =~
    /^## (\w+) Directive\n.*?\*\*Default\*\* \| (?:`\w+ )?([^`|\n]+?)`? \|/msg;

cmp_ok scalar(@code), '>=', 15, 'the directive table was read';
is_deeply [ sort @doc ], [ sort @code ], 'docs/directives.md has each';
is_deeply [ sort keys %conf ], [ sort @code ],
    'conf/cpuaffinity.conf has each';
for my $d (@code) {
    next if $d eq 'CPUAffinityCPUs';    # an example: the default is "all"
    is $doc_default{$d}, $conf{$d}, "$d: same default in conf and docs";
    for my $row (qw(Description Syntax Default Context Compatibility)) {
        my ($part) = $doc =~ /^## $d Directive\n(.*?)(?=^## |\z)/ms;
        like $part, qr/\*\*$row\*\*/, "$d: docs have $row";
    }
    my ($part) = $doc =~ /^## $d Directive\n(.*?)(?=^## |\z)/ms;
    like $part, qr/```apache\n[^`]*$d/, "$d: docs have an example";
}

# The defaults in the code: as the manual says.
my $config = slurp('src/conf/config.c');
my %default = $config =~ /DEFAULT\((\w+), ([^)]+)\)/g;
is $default{watch}, 10, 'CPUAffinityWatch 10 is the default in the code';
is $default{cache_entries}, 10000, 'FixedStaticCache 10000';
is $default{cache_valid}, 1000, 'and 1s';
is eval $default{memory_size}, 64 << 10, 'FixedStaticMemory 64K';
is eval $default{memory_limit}, 64 << 20, 'and 64M';

for my $struct (qw(config_server config_dir)) {
    my ($body) = slurp('src/conf/config.h') =~
        /typedef struct $struct \{(.*?)^\} $struct;/ms;
    $body =~ s{/\*.*?\*/}{}gs;
    my @members = $body =~ /(\w+)(?:\[\w+\])?;/g;
    cmp_ok scalar(@members), '>=', 1, "$struct: members were read";
    my $create = $struct eq 'config_dir' ? 'config_create_dir'
        : 'config_create_server';
    my $merge = $struct eq 'config_dir' ? 'config_merge_dir'
        : 'config_merge_server';
    my ($create_body) = $config =~ /^void \*$create\(.*?^\{(.*?)^\}/ms;
    my ($merge_body) = $config =~ /^void \*$merge\(.*?^\{(.*?)^\}/ms;
    for my $m (@members) {
        next if $m eq 'where';          # zeroed: not given
        like $create_body, qr/cf->$m = /, "$struct.$m has a create default";
        next if $m eq 'policy';         # the main server's; see the comment
        like $merge_body, qr/MERGE\($m\)/, "$struct.$m has a merge rule";
        next if $struct eq 'config_dir';
        ok exists $default{$m}, "$struct.$m has a documented default";
    }
}

done_testing;
