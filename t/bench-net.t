# The bench has a loopback with the congestion control that is asked for, or
# says why not and goes on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $top = abs_path("$FindBin::Bin/..");
my $build = abs_path($ENV{BUILD} || "$top/build");
my $out = tempdir(CLEANUP => 1);

# What the run says, and what it found its connections to have.
sub bench {
    my $text = `timeout 60 $top/bench/run --contestants stock --rounds 1 \\
        --only 'static-1k-ka-c10\$' --seconds 0.3 --no-plots --build $build \\
        --out $out @_ 2>&1`;
    is $? >> 8, 0, "bench/run @_: done";
    open my $fh, '<', "$out/results.json" or die $!;
    local $/;
    return ($text, decode_json(<$fh>)->{machine}{congestion_control});
}

my $refused = qr/^bench: no network namespace with \w+, so .*machine's/m;
my (undef, $own) = bench('--congestion system');
like $own, qr/^\w+$/, "as it is: $own";
my $other = $own eq 'reno' ? 'cubic' : 'reno';
my ($text, $name) = bench("--congestion $other");
if ($text =~ $refused) {
    is $name, $own, 'not possible here: said, and as it is';
}
else {
    is $name, $other, 'another one';
}
($text, $name) = bench('--congestion nonesuch');
like $text, $refused, 'one that does not exist: said';
is $name, $own, 'and as it is';
done_testing;
