# SPDX-License-Identifier: Apache-2.0
# Compressed answers and what becomes of their file: edited while it is
# compressed, too long, changed later; and the lines of the log, of the time
# that an answer lives, and of an audit.
use strict;
use warnings;
use Compress::Zlib ();
use Test::Client;
use Test::More;
use Test::Static;
use Test::Twin;
use Time::HiRes qw(time);

my $gzip = 'Accept-Encoding: gzip';
my $browser = 'Accept-Encoding: gzip, deflate, br, zstd';
my $preload = $ENV{PRELOAD}; # a sanitizer

my $t = Test::Twin->new(modules => [qw(deflate brotli filter logio headers)],
    conf => <<'END');
MaxKeepAliveRequests 0
SetOutputFilter DEFLATE
<Location /br>
    SetOutputFilter BROTLI_COMPRESS
</Location>
CustomLog logs/lines "%r %>s %B %b %O %X %k %{Content-Encoding}o %{Content-Length}o %{Transfer-Encoding}o %{ETag}o %{Vary}o %f"
END
my $clock = $t->fixed->write_file('clock', '0');
$t->fixed->{env} = { CLOCK_ON => $clock,
    LD_PRELOAD => Test::Httpd::build_dir() . '/preload/clock.so' }
    unless $preload;

# Half of it is left by compression.
srand 1;
sub noise { my ($n) = @_; return join '', map sprintf("%08x", rand 2**32),
    1 .. $n / 8 }
my $large = noise(1_500_000);
$t->file('edited.txt', $large);
$t->file('long.txt', noise(2_600_000));
$t->file('page.txt', noise(200_000));
$t->file('slow.txt', $large);
$t->file('small.txt', 'text ' x 100);
$t->file('br/page.txt', noise(200_000));
$t->settle;
$t->start;

sub told { my ($from) = @_; return substr $t->fixed->log, $from }

# What is in the chunks, as the file was. mod_deflate makes the checksum before
# it compresses, so that of a file which changes in between is wrong.
sub unpacked {
    my ($r) = @_;
    my ($body, $gz) = ($r ? $r->{body} : '', '');
    while ($body =~ s/\A([0-9a-f]+)\r\n//) {
        $gz .= substr $body, 0, hex $1, '';
        substr $body, 0, 2, '';
    }
    my $z = Compress::Zlib::inflateInit(-WindowBits => -Compress::Zlib::MAX_WBITS);
    my ($text) = $z->inflate(substr $gz, 10); # without its checksum
    return $text // '';
}

# In place, of the same size, with its time set back.
sub edit {
    my ($root, $name, $letter) = @_;
    my $path = "$root/$name";
    open my $fh, '+<', $path or die "$path: $!";
    seek $fh, -1000, 2;
    print {$fh} $letter x 1000;
    close $fh;
    utime 1_700_000_000, 1_700_000_000, $path;
}

# A client that does not read makes httpd wait before it has read all of it.
{
    my $log = length $t->fixed->log;
    my $c = Test::Client->new($t->fixed->port, rcvbuf => 2304,
        mss => 536);
    $c->send($t->request('/edited.txt', $gzip));
    ok $c->more, 'it has begun';
    $t->change(sub { edit($_[0], 'edited.txt', 'X') });
    my $edited = time;
    my $r = $c->answer;
    my $text = unpacked($r);
    ok $text eq substr($large, 0, -1000) . 'X' x 1000,
        'the body is of two versions';
    ok $t->fixed->wait_for(sub { told($log)
        =~ /edited.txt is not learned \(R6\): .*changed while it was comp/ }, 5),
        'and is not learned' or diag told($log);
    $log = length $t->fixed->log;
    my $q = $t->request('/edited.txt', $gzip);
    $t->learn($q);
    my ($early, $took) = (told($log), time - $edited);
    ok $t->learned($q), 'later it is';
    SKIP: {
        skip 'two seconds were over before it was asked for', 1 if $took > 1.9;
        like $early, qr/edited.txt is not learned \(R6\): the file has just/,
            'but not before it has settled, by its ctime';
    }
    $t->same('the new one', [ $q, $q ]);

    $t->change(sub { edit($_[0], 'edited.txt', 'Y') });
    ok $t->fixed->wait_for(sub {
        my $b = Test::Client->new($t->fixed->port)->get('/edited.txt', $gzip);
        return unpacked($b) =~ /Y{1000}\z/;
    }, 10), 'an edit that no time but ctime shows is seen after VALID';
}

# More than a mebibyte on the wire.
{
    my $log = length $t->fixed->log;
    my $q = $t->request('/long.txt', $gzip);
    $t->learn($q);
    my $hits = $t->hits;
    $t->same('a long one', [ $q, $q ]);
    is $t->hits, $hits, 'is httpd\'s';
    like told($log), qr/long.txt is not learned \(R6\): .*longer than 1 MiB/,
        'which the log tells';
    my $c = Test::Client->new($t->fixed->port, rcvbuf => 2304);
    $c->send($q);
    ok $c->more, 'nothing is held back from its client';
    $c->close;
}

# One body for all keys that have it.
{
    my $bytes = sub { $t->fixed->wait_for(sub { 0 }, .7);
        return $t->counter('cache_bytes') };
    my $q = $t->request('/page.txt', $gzip);
    ok $t->learned($q), 'a page';
    my $before = $bytes->();
    cmp_ok $before, '>', 20_000, 'its body counts';
    ok $t->learned($t->request('/page.txt', "Accept-Encoding: gzip, x$_")),
        "another value, $_" for 1 .. 6;
    is $bytes->(), $before, 'of which all have one body';
}

# Lines, of what httpd writes and of what the loop does.
sub lines {
    my ($h) = @_;
    open my $fh, '<', $h->root . '/logs/lines' or return '';
    my $root = $h->root;
    my $text = join '', grep !/cpuaffinity/, <$fh>;
    $text =~ s/\Q$root\E/ROOT/g;
    return $text;
}
{
    my @all = map { my ($path, $field) = @$_;
        map { my $v = $_; map "$_ $path HTTP/$v\r\nHost: localhost\r\n"
            . "$field\r\n\r\n", 'GET', 'HEAD' } '1.1', '1.0' }
        [ '/page.txt', $gzip ], [ '/small.txt', $gzip ],
        [ '/br/page.txt', $browser ];
    for my $q (@all) {
        next if $q =~ /^HEAD/;
        ok $t->learned($q), 'known: ' . ($q =~ /(.*)\r/)[0];
    }
    my @from = map length lines($_), $t->stock, $t->fixed;
    my $hits = $t->hits;
    for my $q (@all) {
        $t->same('logged', $q);
        $t->same('logged, twice', [ $q, $q ]) if $q =~ /^GET.*1\.1/;
    }
    cmp_ok $t->hits - $hits, '>=', @all, 'by the loop';
    my $want = substr lines($t->stock), $from[0];
    my $got;
    $t->fixed->wait_for(sub { $got = substr lines($t->fixed), $from[1];
        return length $got >= length $want }, 5);
    my $sorted = sub { join '', sort split /(?<=\n)/, $_[0] };
    is $sorted->($got), $sorted->($want), 'the same lines';
}

# An audit: one hit in a thousand.
{
    my $audited = $t->counter('audited');
    my $c = Test::Client->new($t->fixed->port);
    ok $t->fixed->wait_for(sub {
        for (1 .. 40) {
            $c->send(Test::Client::request('/small.txt', $gzip) x 50);
            my $n = grep { $c->answer } 1 .. 50;
            $c = Test::Client->new($t->fixed->port) if $n < 50;
        }
        return $t->counter('audited') > $audited;
    }, 40), 'an audit';
    $c->close;
    is $t->counter('differed'), 0, 'finds the same';
}

SKIP: {
    skip 'a sanitizer is preloaded, and so would be the clock', 4 if $preload;
    my $q = $t->request('/small.txt', $gzip);
    ok $t->learned($q), 'known';
    my $later = sub {
        $t->fixed->write_file('clock.new', $_[0]);
        rename $t->fixed->root . '/clock.new', $clock;
    };
    my $learned = $t->counter('learned');
    my $hits = $t->hits;
    $later->(55);
    ok $t->fixed->wait_for(sub {
        $t->ask($t->fixed, [ ($q) x 5 ]);
        return $t->counter('learned') > $learned;
    }, 10), 'after 55 seconds it is renewed';
    $later->(130);
    my $expired = $t->counter('expired');
    $t->same('after 60 more it is httpd\'s', $q);
    $t->fixed->wait_for(sub { $t->counter('expired') > $expired }, 3);
    cmp_ok $t->counter('expired'), '>', $expired, 'as it had expired';
    ok $t->learned($q), 'and the loop\'s again';
    is $t->counter('differed'), 0, 'nothing differed';

    # A client that takes its time does not make its answer young.
    $q = $t->request('/slow.txt', $gzip);
    my $want = Test::Client->new($t->fixed->port);
    $want->send($q);
    my $body = $want->answer->{body};
    my $c = Test::Client->new($t->fixed->port, rcvbuf => 2304, mss => 536);
    $c->send($q);
    ok $c->more, 'a slow client';
    $later->(230);
    my $got = $c->answer;
    ok $got && $got->{body} eq $body, 'gets its answer after 100 seconds';
    $hits = $t->hits;
    $learned = $t->counter('learned');
    $t->fixed->wait_for(sub { $t->counter('learned') > $learned }, 1);
    $t->ask($t->fixed, $q);
    is $t->hits, $hits, 'which is not repeated: it is too old';
    ok $t->learned($q), 'younger ones are';
}
$t->finish;
done_testing;
