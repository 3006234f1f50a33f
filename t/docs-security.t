# SPDX-License-Identifier: Apache-2.0
# docs/security.md and the code name the same modules, rules and filters.
use strict;
use warnings;
use Test::More;

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!";
    local $/;
    return <$fh>;
}

my $doc = slurp('docs/security.md');
my $code = slurp('src/learn/modules_known.c');
my %use = (
    INERT => 'may be configured as you like',
    SECTION => 'may not be configured in sections that apply',
    UNSET => 'may not be configured where `FixedStatic` is to work',
    NEVER => 'turn `FixedStatic` off, configured or not',
);
for my $use (sort keys %use) {
    my @code = sort $code =~ /\{"(\w+)\.c", MODULES_$use,/g;
    my ($row) = $doc =~ /^\| \Q$use{$use}\E \| (.*) \|$/m;
    cmp_ok scalar(@code), '>=', 1, "$use: modules were read";
    is_deeply [ sort split / /, $row // '' ], \@code, "$use: the same modules";
}

my %rules = map { $_ => 1 }
    slurp('src/learn/reason.h') =~ /^    X\(\w+, "([RS]\d)",/mg;
for my $rule (sort keys %rules) {
    like $doc, qr/^\| $rule \| /m, "$rule is described";
}

my $filters = slurp('src/learn/filter.c');
my ($list) = $filters =~ /transparent\[\] = \{(.*?)\};/s;
for my $name ($list =~ /"(\w+)"/g) {
    next if $name =~ /^cpuaffinity|^content_|^byte|^http_|^core$/;
    like $doc, qr/`\U$name\E`/, "$name is named";
}
done_testing;
