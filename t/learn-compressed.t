# SPDX-License-Identifier: Apache-2.0
# Answers that mod_deflate or mod_brotli compressed are repeated, byte for byte
# as stock httpd gives them; and each pair of requests of which the second must
# not get what was learned from the first.
use strict;
use warnings;
use Test::Client;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

my $gzip = 'Accept-Encoding: gzip';
my $browser = 'Accept-Encoding: gzip, deflate, br, zstd';
my $type = "AddOutputFilterByType DEFLATE text/html text/plain text/css\n";

# Name; configuration; fields of the request that is learned; by whom it is
# answered then: the loop, or the rule that refuses; fields of others that are
# compared.
my @cases = (
    [ 'type', $type, $gzip, 'loop', '', $browser ],
    [ 'all', 'SetOutputFilter DEFLATE', $gzip, 'loop', '' ],
    [ 'brotliall', 'SetOutputFilter BROTLI_COMPRESS', $browser, 'loop', '' ],
    [ 'huge', "SetOutputFilter BROTLI_COMPRESS\nBrotliCompressionQuality 1",
        $browser, 'loop' ],
    [ 'both', "AddOutputFilterByType BROTLI_COMPRESS;DEFLATE text/plain",
        $browser, 'loop', $gzip, '', 'Accept-Encoding: br' ],
    [ 'order', "AddOutputFilterByType DEFLATE text/plain\n"
        . 'AddOutputFilterByType BROTLI_COMPRESS text/plain', $browser, 'loop',
        $gzip, 'Accept-Encoding: br' ],
    [ 'suffix', "AddOutputFilter DEFLATE css\n", $gzip, 'loop' ],
    [ 'nomap', "${type}EnableMMAP off", $gzip, 'loop' ],
    [ 'level', "${type}DeflateCompressionLevel 1\nDeflateBufferSize 500", $gzip,
        'loop' ],
    # what decides besides Accept-Encoding
    [ 'nogzip', "${type}SetEnvIf Origin evil no-gzip", $gzip, 'loop',
        [ $gzip, 'Origin: evil' ] ],
    [ 'nogzip2', "${type}SetEnvIf Origin evil no-gzip",
        [ $gzip, 'Origin: evil' ], 'none', $gzip ],
    [ 'onlyhtml', "${type}SetEnvIf Origin evil gzip-only-text/html", $gzip,
        'loop', [ $gzip, 'Origin: evil' ] ],
    [ 'force', "${type}SetEnvIf Origin evil force-gzip", 'Accept: a', 'loop',
        [ 'Accept: a', 'Origin: evil' ] ],
    [ 'bykey', qq{${type}SetEnvIf Request_URI "\\.txt\$" no-gzip}, $gzip,
        'loop' ],
    [ 'constant', "${type}SetEnv no-gzip 1", $gzip, 'loop' ],
    [ 'constant2', "${type}SetEnv force-gzip 1", '', 'loop' ],
    [ 'expires', qq{${type}ExpiresActive on\nExpiresDefault "access plus 1 day"},
        $gzip, 'loop', '' ],
    # Vary does not say it
    [ 'novary', "${type}Header unset Vary", '', 'loop', $gzip ],
    [ 'novary2', "${type}Header unset Vary", $gzip, 'loop', '',
        'Accept-Encoding:' ],
    [ 'setvary', "${type}Header set Vary User-Agent", 'User-Agent: a', 'loop',
        [ 'User-Agent: a', $gzip ] ],
    # what changes the field itself
    # (the last of them: httpd's 304 of a tag does not show all its tags)
    [ 'append', "${type}RequestHeader append Accept-Encoding gzip "
        . 'env=HAVE_Accept', 'Accept: a', 'S2' ],
    [ 'unset', "${type}RequestHeader unset Accept-Encoding", $gzip, 'S2' ],
    [ 'edit', $type . q{RequestHeader edit If-None-Match }
        . q{'^"((.*)-gzip)"$' '"$1", "$2"'}, $gzip, 'loop',
        map [ $gzip, "If-None-Match: \"2bf20-60a24181e4000$_\"" ], '',
            '-gzip' ],
    # other filters
    [ 'provider', qq{FilterDeclare Z\nFilterProvider Z DEFLATE }
        . qq{"%{HTTP_COOKIE} == 'x'"\nFilterChain Z}, $gzip, 'S2',
        [ $gzip, 'Cookie: x' ] ],
    [ 'rate', "SetOutputFilter RATE_LIMIT;DEFLATE\nSetEnv rate-limit 90000",
        $gzip, 'R3' ],
    [ 'rate2', "SetOutputFilter DEFLATE;RATE_LIMIT\nSetEnv rate-limit 90000",
        $gzip, 'R3' ],
    [ 'substitute', qq{SetOutputFilter SUBSTITUTE;DEFLATE\n}
        . qq{Substitute "s/l/L/"}, $gzip, 'R3' ],
    [ 'includes', "Options +Includes\nSetOutputFilter INCLUDES;DEFLATE", $gzip,
        'R3' ],
    [ 'note', "${type}DeflateFilterNote ratio\nLogFormat \"%{ratio}n\" r\n"
        . 'CustomLog logs/r r', $gzip, 'S2' ],
    # the two tags
    [ 'nochange', "${type}DeflateAlterETag NoChange", $gzip, 'loop' ],
    [ 'remove', "${type}DeflateAlterETag Remove", $gzip, 'loop' ],
    [ 'notag', "${type}FileETag None", $gzip, 'loop' ],
    [ 'othertag', qq{${type}Header set ETag '"x-gzip"'}, $gzip, 'loop' ],
    [ 'coded', "${type}AddEncoding x-foo .txt", $gzip, 'loop' ],
);

# Of these every kind of request is compared, of a small file and large ones,
# whose answers come in chunks; of the others only what is special.
my %every = map { $_ => 1 } qw(type brotliall);

my $conf = "MaxKeepAliveRequests 0\n";
srand 1;
my @text = map { join '', map sprintf("%08x\n", rand 2**32), 1 .. $_ } 60,
    20_000, 150_000;
for (@cases) {
    my ($name, $text) = @$_;
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "DocumentRoot \@ROOT\@/htdocs/$name\n$text\n</VirtualHost>\n";
}
my $t = Test::Twin->new(conf => $conf, modules => [qw(deflate brotli filter
    headers env expires setenvif ratelimit substitute include mime logio)]);
for my $case (@cases) {
    $t->file("$case->[0]/$_.txt", $text[$_]) for 0, 1;
    $t->file("$case->[0]/$_.css", $text[$_]) for 0, 1;
    $t->file("$case->[0]/2.txt", $text[2]) if $case->[0] eq 'huge';
}
$t->settle;
$t->start;

sub request {
    my ($host, $target, $fields, %o) = @_;
    return ($o{method} // 'GET') . " $target HTTP/" . ($o{version} // '1.1')
        . "\r\nHost: $host.test\r\n"
        . join('', map "$_\r\n", grep length, ref $fields ? @$fields : $fields)
        . "\r\n";
}

for (@cases) {
    my ($name, undef, $fields, $by, @others) = @$_;
    my $suffix = $name eq 'suffix' ? 'css' : 'txt';
    for my $n ($name eq 'huge' ? 2 : $every{$name} ? (0, 1) : $by eq 'R3' ? 0 : 1) {
        my $target = "/$n.$suffix";
        my $r = request($name, $target, $fields);
        my $what = "$name, " . (qw(small large huge))[$n];
        my $log = length $t->fixed->log;
        if ($by eq 'loop') {
            ok $t->learned($r), "$what: learned"
                or diag substr $t->fixed->log, $log, 1000;
        }
        else {
            my $hits = $t->hits;
            $t->learn($r);
            is $t->hits, $hits, "$what: httpd answers";
        }
        my $hits = $t->hits;
        $t->same("$what: the same", [ $r, $r ]);
        cmp_ok $t->hits, '>', $hits, "$what: by the loop" if $by eq 'loop';
        like $t->fixed->log, qr/\($by\)/, "$what: $by" if $by =~ /[RS]\d/;
        my @fields = grep length, ref $fields ? @$fields : $fields;
        for my $other (@others) {
            my $q = request($name, $target, $other);
            my $o = ref $other ? "@$other" : $other;
            $t->same("$what, then $o", [ $q, $q ]);
            $t->learn($q);
            $t->same("$what, and learned", [ $q, $q ]);
            $t->same("$what, and again", [ $r, $r ]);
        }
        like +($t->ask($t->fixed, $r))[0],
            qr/\r\nTransfer-Encoding: chunked\r\n/, "$what: chunks"
            if $n == 2 || ($n && $name eq 'type');
        next unless $every{$name};
        my ($etag) = ($t->ask($t->stock, $r))[0] =~ /^ETag: (.*)\r$/m;
        if ($etag && $name eq 'type') {
            my $again = request($name, $target, [ @fields,
                "If-None-Match: $etag" ]);
            $hits = $t->hits;
            $t->same("$what: a browser comes again", [ ($again) x 3 ]);
            cmp_ok $t->hits - $hits, '>=', 2, "$what: to the loop";
        }
        my @conditions = ('If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT',
            'If-Modified-Since: Tue, 14 Nov 2023 22:13:19 GMT',
            'If-None-Match: *', 'Range: bytes=2-5', 'Range: bytes=99999999-');
        if ($etag) {
            (my $base = $etag) =~ s/-(?:gzip|br)"$/"/;
            push @conditions, map("If-None-Match: $_", $etag, $base,
                "\"x\", $base", "W/$base"),
                [ 'Range: bytes=2-5', "If-Range: $etag" ],
                [ 'Range: bytes=2-5', "If-Range: $base" ],
                "If-Match: $etag", "If-Match: $base";
        }
        for my $method ('GET', 'HEAD') {
            for my $version ('1.1', '1.0') {
                $t->learn(request($name, $target, $fields,
                    version => $version))
                    if $version eq '1.0' && $method eq 'GET';
                for my $c ('', 'Connection: keep-alive', 'Connection: close') {
                    my $q = request($name, $target, [ @fields, $c ],
                        method => $method, version => $version);
                    $t->same("$what: $method, $version, $c", $q);
                }
            }
        }
        for my $c (@conditions) {
            my @c = ref $c ? @$c : $c;
            $t->same("$what: @c", [ map request($name, $target, [ @fields,
                @c ], method => $_), 'GET', 'HEAD' ]);
        }
    }
}

# No value is taken for another: httpd's readers of it differ among themselves.
for my $value ('gzip;q=0.0000', 'gzip;Q=0', 'gzip;x=1;q=0', 'gzip; ;q=0',
    'deflate gzip', 'gzip (c)', 'x-gzip', '*', '"gzip"', 'gzip;q=0, gzip',
    'GZIP', 'gzip;q=0', 'identity', 'br;q=0, gzip', '') {
    for my $host ('both') {
        my $r = request($host, '/0.txt', "Accept-Encoding: $value");
        $t->learn($r);
        $t->same("$host, $value", [ $r, $r ]);
    }
}

for my $fields ([ $gzip, 'Accept-Encoding: br' ],
    [ 'Accept-Encoding: br', $gzip ]) {
    my $r = request('both', '/0.txt', $fields);
    my $hits = $t->hits;
    $t->learn($r);
    $t->same("twice: @$fields", [ $r, $r ]);
    is $t->hits, $hits, "... by httpd";
}

# Many at once, and a client that reads slowly.
for my $n (0, 1) {
    my $r = request('type', "/$n.txt", $gzip);
    ok $t->learned($r), 'known again';
    my $stock = Test::Client->new($t->stock->port);
    $stock->send($r);
    my $want = $stock->answer->{body};
    cmp_ok length $want, '>', $n ? 65536 : 100, 'there is a body';
    my $c = Test::Client->new($t->fixed->port);
    my $hits = $t->hits;
    $c->send($r x 30);
    is scalar(grep { ($c->answer || next)->{body} eq $want } 1 .. 30), 30,
        "$n: thirty at once";
    cmp_ok $t->hits - $hits, '>', 0, "$n: by the loop";
    my @slow = map Test::Client->new($t->fixed->port, rcvbuf => 2304), 1 .. 4;
    $_->send($r x 3) for @slow;
    $t->change(sub { my $then = 1_600_000_000;
        utime $then, $then, "$_[0]/type/$n.txt" });
    $t->same("$n: the file's time has changed meanwhile", [ $r ])
        if $t->fixed->wait_for(sub { ($t->ask($t->fixed, $r))[0]
            =~ /13 Sep 2020/ }, 5);
    for my $c (@slow) {
        is scalar(grep { ($c->answer || next)->{body} eq $want } 1 .. 3), 3,
            "$n: a slow reader gets all";
    }
}
unlike $t->fixed->log, qr/an audit/, 'no audit found a difference';
is $t->counter('differed'), 0, 'nor counted one';
$t->finish;
done_testing;
