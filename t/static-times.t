# SPDX-License-Identifier: Apache-2.0
# Files of special times, and dates that clients may name: conditions and ranges
# are answered as by stock httpd.
use strict;
use warnings;
use POSIX qw(strftime);
use Test::More;
use Test::Twin;

# Each: name, time of modification, and whether the loop gives the file.
my $now = time;
my @files = (
    [ zero => 0, 1 ], [ one => 1, 1 ], [ fraction => .75, 1 ],
    [ before => -1, 1 ], [ half_before => -.5, 1 ], [ year1901 => -2**31, 1 ],
    [ usual => 1_700_000_000, 1 ], [ halves => 1_700_000_000.5, 1 ],
    [ almost => 1_700_000_000.999999, 1 ], [ recent => undef, 1 ],
    [ soon => $now + 3600, 0 ], [ last32 => 2**31 - 1, 0 ],
    [ year2038 => 2**31, 0 ], [ year2106 => 2**32, 0 ],
    [ year2400 => 13_569_465_600, 0 ],
);

sub date { return strftime '%a, %d %b %Y %H:%M:%S GMT', gmtime $_[0] }

my $t = Test::Twin->new(conf => "MaxKeepAliveRequests 0\n");

# Perl's own functions know no negative fractions.
sub set_time {
    my ($name, $time) = @_;
    $t->change(sub {
        system('touch', '-d', "\@$time", "$_[0]/$name.txt") == 0
            or die "touch -d \@$time failed";
    });
}

$t->file("$_->[0].txt", "0123456789$_->[0]\n") for @files;
defined $_->[1] && set_time(@$_) for @files;
$t->start;

# What the file system made of the time counts: some keep 32 bits.
sub dates_for {
    my ($name) = @_;
    my $mtime = (stat $t->fixed->root . "/htdocs/$name.txt")[9];
    return map({ date($_) } 0, 1, $mtime - 1, $mtime, $mtime + 1,
        $now - 86400, $now + 86400, 2**31 - 1, 2**31, 2**32, -1, -86400,
        4_102_444_799, 4_133_980_800, 13_569_465_600),
        'Thu, 01 Jan 1970 00:00:00 GMT', 'Thursday, 01-Jan-70 00:00:00 GMT',
        'Thu Jan  1 00:00:00 1970', 'Fri, 01 Jan 1970 00:00:00 GMT',
        'Fri, 31 Dec 9999 23:59:59 GMT';
}

sub ask_about {
    my ($name) = @_;
    my $r = sub { $t->request("/$name.txt", @_) };
    my ($etag) = join('', $t->ask($t->stock, $r->())) =~ /^ETag: (.*)\r$/m;
    my @requests = map {
        my $date = $_;
        ($r->("If-Modified-Since: $date"),
            $r->("If-Modified-Since: $date", 'Range: bytes=2-4'),
            $r->("If-Range: $date", 'Range: bytes=2-4'),
            $r->("If-Range: $date", 'Range: bytes=2-4',
                "If-Modified-Since: $date"),
            $r->("If-None-Match: $etag", "If-Modified-Since: $date"),
            $r->("If-Unmodified-Since: $date"));
    } dates_for($name);
    # plain ones in between bring the connection back to the loop
    return $t->same("$name: conditions", [ map { ($r->(), $_) } @requests ]);
}

for (@files) {
    my ($name, $time, $repeated) = @$_;
    # within the minute in which its date is a weak validator
    set_time($name, time - 10) unless defined $time;
    my $plain = $t->request("/$name.txt");
    my $before = $t->hits;
    if ($repeated) {
        ok $t->learned($plain), "$name: the loop answers";
    }
    else {
        $t->learn($plain);
        is $t->hits, $before, "$name: httpd answers";
    }
    ask_about($name);
}
$t->finish;
done_testing;
