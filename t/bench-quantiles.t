# The bench's quantiles and medians against R's: recorded raw files of h2load
# in t/data, with R's answers beside them (quantiles.R made quantiles.tsv).
# Where R is installed it is asked again.
use strict;
use warnings;
use FindBin;
use JSON::PP;
use Test::More;

my $data = "$FindBin::Bin/data";
my $bench = "$FindBin::Bin/../bench";
my @files = glob "$data/h2load-*.tsv";

sub parse_r {
    my %r;
    for (split /\n/, $_[0]) {
        my ($file, $figure, $value) = split /\t/;
        $r{$file}{$figure} = $value unless $file eq 'file';
    }
    return \%r;
}

my $recorded = do {
    open my $fh, '<', "$data/quantiles.tsv" or die $!;
    local $/;
    parse_r(<$fh>);
};

my $program = <<'END';
import json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from lib import stats
out = {}
for path in sys.argv[2:]:
    with open(path, "rb") as file:
        starts, times, bad = stats.parse_samples(file.read())
    row = stats.summary(times)
    row["bad"] = bad
    row["curve"] = stats.curve(times)
    out[os.path.basename(path)] = row
print(json.dumps(out))
END
open my $py, '-|', '/usr/bin/python3', '-c', $program, $bench, @files
    or die "python3: $!";
my $ours = decode_json(do { local $/; <$py> });
ok close $py, 'the bench reads the recorded files';

sub compare {
    my ($r, $who) = @_;
    for my $file (sort keys %$r) {
        my @wrong = grep {
            abs($ours->{$file}{$_} - $r->{$file}{$_})
                > 1e-6 * (1 + abs $r->{$file}{$_})
        } sort keys %{ $r->{$file} };
        is_deeply \@wrong, [], "$file: as $who says";
    }
}

is scalar keys %$recorded, scalar @files, 'R has answered for every file';
compare($recorded, 'R said');
is_deeply $ours->{'h2load-errors.tsv'}{bad}, { 503 => 42 },
    'answers of status 503 are counted as errors, and are no samples';
my @curve = @{ $ours->{'h2load-keepalive.tsv'}{curve} };
ok !(grep { $_->[0] > 0.9995 } @curve),
    'no quantile is drawn that 1501 samples do not carry';

SKIP: {
    my $have = `sh -c 'command -v Rscript'`;
    skip 'Rscript is not installed: only its recorded answers were compared',
        scalar @files unless $have;
    open my $fh, '-|', 'Rscript', '--vanilla', "$data/quantiles.R", @files
        or die "Rscript: $!";
    my $r = parse_r(do { local $/; <$fh> });
    close $fh;
    compare($r, 'R says now');
}

# one value, and medians of an even number of rounds
my $small = `/usr/bin/python3 -c "
import sys; sys.dont_write_bytecode = True
sys.path.insert(0, '$bench')
from lib import stats
print(stats.summary([7])['p999'], stats.median([4, 1, 3, 2]),
      stats.spread([None, None]), stats.summary([]))"`;
is $small, "7.0 2.5 None None\n", 'one sample, even rounds, none at all';
done_testing;
