# SPDX-License-Identifier: Apache-2.0
# The configurations that people have (t/configs): the same bytes as httpd as
# it is, and at least the share of t/configs/TARGETS is the loop's.
# Environment: ONLY=name[,name]; SURVEY=write: TARGETS and the documents are
# written anew (make configurations), SURVEY=docs: the documents, out of TARGETS;
# N, SEED: so many generated exchanges with each, too.
use strict;
use warnings;
use Test::More;
use Test::Configurations qw(names targets write_targets table put_between
    between summary);
use Test::Survey;
use Time::HiRes qw(time sleep);

my $write = ($ENV{SURVEY} // '') eq 'write';
my $docs = ($ENV{SURVEY} // '') eq 'docs';
my %targets = -e 't/configs/TARGETS' ? targets() : ();
my %only = map { $_ => 1 } split /,/, $ENV{ONLY} // '';
my $n = $ENV{N} || 0;
my $seed = $ENV{SEED} || 1 + (time ^ $$) % 1_000_000;
my @names = $docs ? () : grep { !%only || $only{$_} } names();
my $start = time;
my $site = Test::Survey::site();
sleep 0.1 until Test::Survey::is_settled($site);
my @better;
for my $name (@names) {
    my $s = Test::Survey->new($name, $site)->start(alike => $n);
    diag "$name: not installed, left out: @{$s->{gone}}" if @{ $s->{gone} };
    my @got;
    for my $kind (qw(plain browser)) {
        my $target = $write ? 0 : $targets{$name}[@got] // 0;
        my ($share, $different) = $s->share($kind, $target);
        push @got, $share;
        cmp_ok $share, '>=', $target, "$name, $kind: $share %";
        ok !%$different, "$name, $kind: the bytes and log lines of stock httpd"
            or diag map { substr($_, 0, 1500) . "\n" } values %$different;
    }
    if ($n) {
        my @d = $s->exchanges($n, $seed);
        ok !@d, "$name, seed $seed: no difference in $n exchanges"
            or diag scalar @d, " differences, the first:\n", @d[ 0 .. ($#d > 2 ? 2 : $#d) ];
    }
    push @got, $got[0] < 100 || $got[1] < 100 ? $s->obstacle : '';
    push @better, $name if !$write && ($got[0] > $targets{$name}[0]
        || $got[1] > $targets{$name}[1]);
    $targets{$name} = \@got if $write;
    $s->finish;
}
if ($write || $docs) {
    write_targets(%targets) if $write;
    put_between('docs/configurations.md', 'configurations',
        table(%targets));
    put_between('README.md', 'configurations',
        summary(%targets));
}
diag "better than t/configs/TARGETS (make configurations): @better" if @better;
diag sprintf '%d configurations in %.0f s', scalar @names, time - $start;

is_deeply [ sort keys %targets ], [ names() ],
    'TARGETS has each configuration' if !%only;
is between('docs/configurations.md', 'configurations'),
    table(%targets), 'docs/configurations.md is as TARGETS';
is between('README.md', 'configurations'),
    summary(%targets), 'README.md, too';
done_testing;
