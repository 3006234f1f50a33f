# SPDX-License-Identifier: Apache-2.0
# A loop that is the bottleneck while another idles gives it some of its
# connections (FixedBalance): none is lost, and both loops serve.
use strict;
use warnings;
use Test::Httpd;
use Test::More;
use Test::Static;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;

sub server {
    my ($balance) = @_;
    my $h = Test::Static::server(seats => 2, conf => <<"END");
CPUAffinity cpu
FixedSteering cpu
FixedBalance $balance
MaxKeepAliveRequests 0
END
    $h->start;
    $h->seated(2, '/status');
    return $h;
}

# A client that is always on CPU 0, so that all its connections come to the
# seat there. @return its answers, the others, and the two rows
sub load {
    my ($h) = @_;
    my $text = join '', map {
        my $c = "timeout 40 taskset -c 0 h2load --h1 -D 3 -c 16 -t 2 "
            . 'http://127.0.0.1:' . $h->port . '/1k.txt 2>&1';
        scalar `$c`
    } 1 .. 2;
    my ($good, $bad) = (0, 0);
    while ($text =~ /(\d+) succeeded, (\d+) failed, (\d+) err/g) {
        $good += $1;
        $bad += $2 + $3;
    }
    return ($good, $bad, @{ $h->json('/status?json')->{seats} });
}

my $h = server('on');
my ($good, $bad, @rows) = load($h);
cmp_ok $good, '>', 100, 'answered';
is $bad, 0, 'all of them';
my ($given) = sort { $b <=> $a } map { $_->{given} } @rows;
cmp_ok $given, '>', 0, 'connections were given away' or diag explain \@rows;
my ($least) = sort { $a <=> $b } map { $_->{loop_hits} } @rows;
cmp_ok $least, '>', $good / 50, 'both loops serve' or diag explain \@rows;
$h->finish;

$h = server('off');
($good, $bad, @rows) = load($h);
is $bad, 0, 'FixedBalance off: all are answered';
is_deeply [ map { $_->{given} } @rows ], [ 0, 0 ], 'nothing is given away';
$h->finish;
done_testing;
