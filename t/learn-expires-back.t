# SPDX-License-Identifier: Apache-2.0
# An Expires by the file's time that is over moves with Date, as one by the
# access does, until the clock is set back to where it is not over.
use strict;
use warnings;
use Test::Client;
use Test::More;
use Test::Twin;

plan skip_all => 'a sanitizer is preloaded, and so would be the clock'
    if $ENV{PRELOAD};

# Over for four hours; the clock goes back by five.
my $mtime = time - 8 * 3600;
my $t = Test::Twin->new(modules => [qw(expires deflate filter)],
    conf => <<'END');
ExpiresActive on
ExpiresDefault M14400
SetOutputFilter DEFLATE
END
$t->file('a.txt', 'text ' x 100, mtime => $mtime);
for my $h ($t->both) {
    $h->{env} = { CLOCK_BACK => $h->root . '/back',
        LD_PRELOAD => Test::Httpd::build_dir() . '/preload/clock.so' };
}
$t->settle->start;
$t->{expires} = 1;

my $gzip = 'Accept-Encoding: gzip';
my ($tag) = ($t->ask($t->stock, $t->request('/a.txt')))[0]
    =~ /^ETag: (.*)\r$/m;
my @asked = map { my @coding = @$_; map $t->request('/a.txt', @coding, @$_),
    [], ["If-None-Match: $tag"] } [], [$gzip];
for (@asked) {
    ok $t->learned($_), 'known';
    $t->same('while it is over', [ $_, $_ ]);
}
$_->write_file('back', '') for $t->both;
my $late = time - 3600;
for my $h ($t->both) {
    ok $h->wait_for(sub {
        my ($answer) = $t->ask($h, $t->request('/1k.txt'), raw => 1);
        return $answer =~ /^Date: (.*)\r$/m
            && (Test::Twin::seconds($1) // time) < $late;
    }, 5), 'the clock is set back';
}

# Stock httpd's max-age counts from a fraction of a second.
sub left {
    my ($answer) = @_;
    return join '; ', $answer =~ /^Expires: Date \+ (\d+)/m ? $1 > 3000 ? 'later' : 'now' : 'none',
        $answer =~ /^Cache-Control: max-age=(\d+)/m ? $1 > 3000 ? 'later' : 'now' : 'none';
}
for my $r (@asked) {
    my @stock = map left($_), $t->ask($t->stock, [ $r, $r ]);
    my @fixed = map left($_), $t->ask($t->fixed, [ $r, $r ]);
    is "@fixed", "@stock", 'back where it is not over: ' . $stock[0];
}
$t->finish;
done_testing;
