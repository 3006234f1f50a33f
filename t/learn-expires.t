# SPDX-License-Identifier: Apache-2.0
# mod_expires: Expires moves with Date where its base is the access; where it is
# the file's time, nothing is repeated as long as something moves. Learned from
# two answers of different seconds, never from the text. All as stock httpd.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep);

my $day = 'ExpiresActive on' . "\nExpiresDefault A86400";
my $bytype = <<'END';
ExpiresActive on
ExpiresByType text/plain A100
ExpiresByType text/* A200
ExpiresDefault A300
END
my $mtime = 1_700_000_000;
# one of them is a little ahead when the servers have started
my @ends = map time + $_, 8, 16, 30;
# Each: the loop answers or not, the configuration.
my %vhosts = (
    day => [ 1, $day ],
    bytype => [ 1, $bytype ],
    wildcard => [ 1, "ExpiresActive on\nExpiresByType text/* A200\n"
            . 'ExpiresDefault A300' ],
    none => [ 1, "ExpiresActive on\nExpiresByType image/png A1" ],
    zero => [ 1, "ExpiresActive on\nExpiresDefault A0" ],
    overflow => [ undef, "ExpiresActive on\n"
            . 'ExpiresDefault "access plus 100 years"' ],
    deflate => [ 1, "$day\nSetOutputFilter DEFLATE" ],
    protocols => [ 1, "$day\nProtocols h2c http/1.1" ],
    set => [ 1, "$day\nHeader set Cache-Control no-cache" ],
    merge => [ 1, "$day\nHeader merge Cache-Control public" ],
    append => [ 1, "$day\nHeader append Cache-Control public" ],
    add => [ 1, "$day\nHeader add Cache-Control public" ],
    unset => [ 1, "$day\nHeader unset Cache-Control" ],
    edit => [ undef, "$day\nHeader edit Cache-Control max s-max" ],
    dateless => [ 1, "$day\nHeader unset Expires" ],
    constant => [ 0, "$day\nHeader set Expires \"Wed, 01 Jan 2070 00:00:00 GMT\"" ],
    past => [ 0, "$day\nHeader set Expires \"Thu, 01 Jan 1998 00:00:00 GMT\"" ],
    nodate => [ 1, "$day\nHeader set Expires 0" ],
    twice => [ 0, "$day\nHeader add Expires \"Wed, 01 Jan 2070 00:00:00 GMT\"" ],
    tagless => [ 1, "$day\nHeader unset ETag\nFileETag None" ],
    if => [ 0, "<If \"%{HTTP_COOKIE} == 'a=1'\">\n$day\n</If>", 'Cookie: a=1' ],
    modified => [ 0, "ExpiresActive on\nExpiresDefault M300000000" ],
    mdateless => [ 0, "ExpiresActive on\nExpiresDefault M300000000\n"
            . 'Header unset Expires' ],
    mpast => [ 1, "ExpiresActive on\nExpiresDefault M10" ],
    mdeflate => [ 0, "ExpiresActive on\nExpiresDefault M300000000\n"
            . 'SetOutputFilter DEFLATE' ],
    map { ("mends$_" => [ undef, "ExpiresActive on\nExpiresDefault M"
            . ($ends[$_] - $mtime) ]) } 0 .. $#ends,
);
my $conf = '';
for my $name (sort keys %vhosts) {
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "DocumentRoot \@ROOT\@/htdocs\n$vhosts{$name}[1]\n</VirtualHost>\n";
}
my $t = Test::Twin->new(conf => $conf,
    modules => [qw(filter deflate headers expires http2)]);
my $text = join '', map "line $_\n", 1 .. 400;
$t->file($_, $text) for qw(a.txt b.html c.css d.unknown);
$t->file('empty.txt', '');
$t->file("s$_.txt", $text) for sort keys %vhosts;
$t->{expires} = 1;
$t->start->settle;

sub get {
    my ($name, $file, @fields) = @_;
    return $t->request("/$file", "Host: $name.test", @fields);
}

# All of these, each on a connection of its own and on a kept one, for so many
# seconds: who learns by different seconds has them all at once.
sub learn_all {
    my ($seconds, @requests) = @_;
    my $end = time + $seconds;
    while (time < $end) {
        $t->ask($t->fixed, [ $_, $_ ]) for @requests;
        sleep 0.1;
    }
}

# Until the loop answers. @return true when it has
sub known {
    my ($r) = @_;
    return $t->fixed->wait_for(sub {
        my $before = $t->hits;
        $t->ask($t->fixed, [ ($r) x 2 ]);
        $t->hits - $before >= 2;
    }, 10);
}

my $tag = ($t->ask($t->stock, get('day', 'a.txt')))[0] =~ /^ETag: (.*)\r$/m
    ? $1 : die;

# M about to end: 2, 1, 0, 0, whatever is learned meanwhile.
{
    my ($n) = grep { $ends[$_] > time + 3 } 0 .. $#ends;
    my ($name, $ends, @bad, %seen) = ("mends$n", $ends[$n]);
    while (time < $ends + 3) {
        for my $answer ($t->ask($t->fixed, [ (get($name, 'a.txt')) x 3 ],
            raw => 1)) {
            my ($d) = $answer =~ /^Date: (.*)\r$/m;
            my ($e) = $answer =~ /^Expires: (.*)\r$/m;
            my ($age) = $answer =~ /^Cache-Control: max-age=(\d+)\r$/m;
            $_ = Test::Twin::seconds($_) // 0 for $d, $e;
            my $left = $ends - $d;
            push @bad, "$d $e $age" if $e != ($left > 0 ? $ends : $d)
                || $age != ($left > 0 ? $left : 0)
                && $age != ($left > 1 ? $left - 1 : 0);
            $seen{$age}++;
        }
        sleep 0.05;
    }
    is "@bad", '', 'modification base: right to its end and after it';
    ok $seen{0} && $seen{1} && $seen{2}, 'which was seen';
    ok known(get($name, 'a.txt')), 'then nothing moves: the loop\'s';
    $t->same('after its end', [ (get($name, 'a.txt')) x 3 ]);
}

# Within a second nothing is proven: neither an access nor a file's time.
{
    my $s = time;
    sleep 0.001 while time == $s;
    my $before = $t->hits;
    for (1 .. 4) {
        $t->ask($t->fixed, get($_, "s$_.txt")) for qw(day modified);
    }
    my $hits = $t->hits - $before;
    SKIP: {
        skip 'the second is over', 1 if time > $s + 1;
        is $hits, 0, 'two answers of one second prove nothing';
    }
}

# As Test::Twin's same, of what moves against Date: in the same second.
sub same_now {
    my ($name, $r) = @_;
    my ($stock, $fixed);
    for (1 .. 20) {
        ($stock, $fixed) = map +($t->ask($_, $r))[0], $t->both;
        last if $stock eq $fixed;
        sleep 0.1;
    }
    is $fixed, $stock, $name;
}

sub unchanged {
    my ($name, @coding) = @_;
    return get($name, 'a.txt', @coding,
        $name eq 'tagless' ? 'If-None-Match: *' : "If-None-Match: $tag");
}

my @files = qw(b.html c.css d.unknown empty.txt);
my $gzip = 'Accept-Encoding: gzip';
my @asked = ((map get($_, 'a.txt', $vhosts{$_}[2] // ()), grep !/^mends/, sort keys %vhosts),
    get('deflate', 'a.txt', $gzip),
    map { my $name = $_; map get($name, $_), @files } qw(bytype wildcard));
learn_all(3.2, @asked);
learn_all(1.5, @asked, unchanged('tagless'), unchanged('deflate'),
    unchanged('deflate', $gzip));

for my $name (sort keys %vhosts) {
    next if $name =~ /^mends/;
    my ($loop, undef, @fields) = @{ $vhosts{$name} };
    my $r = get($name, 'a.txt', @fields);
    my $before = $t->hits;
    ok known($r), "$name: the loop answers" if $loop;
    defined $loop && !$loop ? same_now("$name: the same", $r)
        : $t->same("$name: the same", [ ($r) x 3 ]);
    is $t->hits, $before, "$name: httpd answers" if defined $loop && !$loop;
    $t->same("$name: without the field", [ (get($name, 'a.txt')) x 2 ])
        if @fields;
}

# All that is derived; of each kind of entry.
for my $name (qw(day bytype deflate protocols dateless tagless zero none
    mpast)) {
    for my $coding ($name eq 'deflate' ? ([], [$gzip]) : []) {
        my $is = "$name @$coding";
        ok known(get($name, 'a.txt', @$coding)), "$is: known";
        my $unchanged = unchanged($name, @$coding);
        ok known($unchanged), "$is: a 304 is known";
        my $before = $t->hits;
        $t->same("$is: 304", [ ($unchanged) x 3 ]);
        cmp_ok $t->hits - $before, '>=', 2, "$is: from the loop";
        $t->same("$is: its HEAD", $unchanged =~ s/^GET/HEAD/r);
        $t->same("$is: closing", get($name, 'a.txt', @$coding,
                "If-None-Match: $tag", 'Connection: close'));
        $t->same("$is: HEAD", [ (get($name, 'a.txt', @$coding)
                    =~ s/^GET/HEAD/r) x 2 ]);
        for my $range (qw(0-0 5-1500 -3 1000-)) {
            $t->same("$is: $range", [ (get($name, 'a.txt', @$coding,
                    "Range: bytes=$range")) x 2 ]);
        }
        $t->same("$is: keep-alive", [ (get($name, 'a.txt', @$coding,
                    'Connection: keep-alive')) x 2 ]);
        $t->same("$is: a date", [ (get($name, 'a.txt', @$coding,
            'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT')) x 2 ]);
    }
}
for my $file (@files) {
    for my $name (qw(bytype wildcard)) {
        my $r = get($name, $file);
        ok known($r), "$name/$file: known";
        $t->same("$name/$file", [ $r, $r ]);
        $t->same("$name/$file: HEAD", [ ($r =~ s/^GET/HEAD/r) x 2 ]);
        $t->same("$name/$file: *", [ (get($name, $file,
                    'If-None-Match: *')) x 2 ]);
    }
}
is $t->counter('differed'), 0, 'no audit differs';
$t->finish;
done_testing;
