# SPDX-License-Identifier: Apache-2.0
# What answer.c derives from one captured 200 is, byte for byte, what stock
# httpd answers: conditions, ranges, HEAD, connection fields, both versions.
use strict;
use warnings;
use IPC::Open2;
use IO::Socket::INET;
use POSIX qw(strftime setlocale LC_ALL);
use Test::More;
use Test::Httpd;

setlocale(LC_ALL, 'C');
my $tool = Test::Httpd::build_dir() . '/tool/answer';
-x $tool or BAIL_OUT("$tool is not built");
my $tool_pid = open2(my $from, my $to, $tool);
binmode $_ for $from, $to;
$to->autoflush(1);

my $h = Test::Httpd->new(
    module => 0, modules => [qw(headers deflate filter expires)],
    conf => <<'END');
KeepAliveTimeout 7
MaxKeepAliveRequests 3
FileETag MTime Size
AddEncoding x-gzip .gz
AddLanguage de .de
AddOutputFilterByType DEFLATE text/html
<Location /headers>
    Header set X-Here "constant, text"
    Header always set X-Always yes
    Header append Vary Accept-Language
    Header set Cache-Control "max-age=60, public"
</Location>
<Location /noetag>
    FileETag None
</Location>
<Location /noranges>
    MaxRanges none
</Location>
<Location /unset>
    Header unset ETag
    Header unset Last-Modified
</Location>
<VirtualHost *>
    ServerName a
</VirtualHost>
<VirtualHost *>
    ServerName off
    KeepAlive Off
    AddDefaultCharset utf-8
</VirtualHost>
<VirtualHost *>
    ServerName unlimited
    MaxKeepAliveRequests 0
    KeepAliveTimeout 1500ms
    FileETag Digest
</VirtualHost>
<VirtualHost *>
    ServerName brief
    KeepAliveTimeout 500ms
    MaxKeepAliveRequests 1
    FileETag INode
</VirtualHost>
END

my $now = time;
my %age = (default => 5000, fresh => 30, empty => 400);
my @files = qw(plain.txt empty.txt noext page.html text.html.de data.txt.gz
    fresh.txt headers/a.txt noetag/a.txt noranges/a.txt unset/a.txt);
mkdir $h->root . "/htdocs/$_" for qw(headers noetag noranges unset);
my $text = join '', map chr(33 + $_ % 90), 0 .. 999;
for my $f (@files) {
    $h->write_file("htdocs/$f", $f eq 'empty.txt' ? '' : $text);
    my $old = $age{ $f =~ /^(\w+)/ ? $1 : '' } || $age{default};
    utime $now - $old, $now - $old, $h->root . "/htdocs/$f";
}
$h->start;

# Sends bytes, half-closes, reads everything.
sub talk {
    my ($bytes) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, Timeout => 5) or die "connect: $!";
    local $SIG{ALRM} = sub { die "no answer to $bytes" };
    alarm 10 * Test::Httpd::slow();
    print {$s} $bytes;
    shutdown $s, 1;
    local $/;
    my $all = <$s>;
    alarm 0;
    return $all;
}

sub split_answer {
    my ($all) = @_;
    my $end = index $all, "\r\n\r\n";
    return (substr($all, 0, $end + 4), substr($all, $end + 4));
}

sub tool {
    my ($command, @bytes) = @_;
    print {$to} "$command\n", @bytes;
    my $line = <$from>;
    chomp $line;
    return $line;
}

sub learn {
    my ($head, $size, $flags) = @_;
    return tool(sprintf('learn %d %d %d', length $head, $size, $flags || 0),
        $head);
}

# Seconds of the answer's own Date, found by trying: formats must agree.
sub seconds_of {
    my ($head) = @_;
    my ($date) = $head =~ /^Date: (.*?)\r$/m or return;
    for my $t (time - 30 .. time + 2) {
        return $t if strftime('%a, %d %b %Y %H:%M:%S GMT', gmtime $t) eq $date;
    }
    return;
}

sub ask {
    my ($bytes, $seconds, %c) = @_;
    my $line = tool(sprintf('ask %d %d %d %d %d %d %d', length $bytes,
        $c{keepalives} || 0, $c{on} // 1, $c{max} // 3,
        $c{timeout} // 7_000_000, 0, $seconds), $bytes);
    return ($line) unless $line =~ /^reply (.*)/;
    my ($status, $keep, $keepalives, $len, $off, $n) = split ' ', $1;
    read($from, my $head, $len) == $len or die 'short read from the tool';
    return ('reply', $head, $off, $n, $keep, $keepalives);
}

sub date { strftime('%a, %d %b %Y %H:%M:%S GMT', gmtime $_[0]) }

# Everything that may come in a request, by kind, for a file's validators.
sub variants {
    my ($etag, $mtime) = @_;
    $etag ||= '"none"';
    my @none = ('*', $etag, "W/$etag", '"other"', "\"other\", $etag",
        "W/\"other\", $etag", "$etag, \"x\"", "\"a\" , \"b\",$etag",
        "*, $etag", "\"a\" $etag", 'bare', '', "$etag,", "\"a\\\"b\", $etag",
        uc $etag, "\"(\", $etag", ",$etag", "W/\"a b\", $etag");
    my @since = (date($mtime), date($mtime - 1), date($mtime + 1),
        date($now + 86400), date(0), date($mtime) . '; length=1000', 'junk',
        '', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994',
        'Sun, 31 Feb 2024 00:00:00 GMT', 'Sun, 29 Feb 2024 00:00:00 GMT',
        'sun, 06 nov 1994 08:49:37 gmt', 'Sun, 06 Nov 1994 24:00:00 GMT',
        'Sun, 06 Nov 2094 08:49:60 GMT', 'Sun,  6 Nov 1994 08:49:37 GMT');
    my @range = ('bytes=0-0', 'bytes=0-', 'bytes=10-19', 'bytes=990-',
        'bytes=990-5000', 'bytes=-1', 'bytes=-5000', 'bytes=-0', 'bytes=999-',
        'bytes=1000-', 'bytes=5-4', 'bytes=-', 'bytes=', 'bytes=a-b',
        'bytes=0-0,2-3', 'bytes=0-0, 2-3', 'bytes=0-0,', 'bytes= 0-1',
        'bytes=0 -1', 'bytes=0-1 ', 'BYTES=3-4', 'items=0-1', 'bytes 0-1',
        'bytes=99999999999999999999-', 'bytes=0-99999999999999999999',
        'bytes=-99999999999999999999', 'bytes=0-9223372036854775807',
        'bytes=00-01', 'bytes=+1-2', 'bytes=1-+2', 'bytes=0x1-2',
        'bytes=0-999999999999999999', '', 'bytes=-1-2', 'bytes=1--2');
    my @if_range = ($etag, "W/$etag", '"other"', date($mtime),
        date($mtime - 1), date($mtime + 1), 'junk', '', 'W/"a b"');
    my @v = ([]);
    push @v, map ["If-None-Match: $_"], @none;
    push @v, map ["If-Modified-Since: $_"], @since;
    push @v, map ["Range: $_"], @range;
    push @v, map ["If-Range: $_"], @if_range;
    for my $r ('bytes=1-2', 'bytes=5000-', 'x') {
        push @v, map ["Range: $r", "If-Range: $_"], @if_range;
        push @v, map ["If-None-Match: $_", "Range: $r"], @none;
        push @v, map ["If-Modified-Since: $_", "Range: $r"], @since[0 .. 4];
    }
    for my $n (@none[0 .. 4]) {
        push @v, map ["If-None-Match: $n", "If-Modified-Since: $_"],
            @since[0 .. 4];
        push @v, ["If-None-Match: $n", 'If-Range: "other"',
            'Range: bytes=1-2'];
    }
    return @v;
}

my @kinds = map { my $m = $_; map [$m, @$_],
    [ '1.1', 'Host: a' ], [ '1.1', 'Host: a', 'Connection: close' ],
    [ '1.1', 'Host: a', 'Connection: keep-alive' ],
    [ '1.1', 'Host: a', 'Connection: Keep-Alive, close' ],
    [ '1.0' ], [ '1.0', 'Connection: Keep-Alive' ],
    [ '1.0', 'Host: a', 'Connection: close' ] } qw(GET HEAD);

sub request_text {
    my ($method, $uri, $version, @fields) = @_;
    return join "\r\n", "$method $uri HTTP/$version", @fields, '', '';
}

my ($total, $declined) = (0, 0);
my $turn = 0;
for my $f (@files) {
    my $flags = $f =~ /\.html/ ? 2 : $f =~ m{^(?:unset|noranges)/} ? 1 : 0;
    my $first = request_text('GET', "/$f", '1.1', 'Host: a');
    my ($head, $body) = split_answer(talk($first));
    my ($etag) = $head =~ /^ETag: (.*?)\r$/m;
    my $mtime = (stat $h->root . "/htdocs/$f")[9];
    is learn($head, length $body, $flags), 'ok', "$f is learned";
    is tool(sprintf('verify %d 0 1 3 7000000 %d', length $first,
        length $head), $first, $head), 'yes', "$f: its own 200 comes out";

    my ($bad, $said, $n) = ('', 0, 0);
    for my $v (variants($etag, $mtime)) {
        # every variant with some of the kinds, every kind with some variants
        for my $k (@kinds[ $turn % @kinds, ($turn + 5) % @kinds ]) {
            my ($method, $version, @more) = @$k;
            my $bytes = request_text($method, "/$f", $version, @more, @$v);
            my $want = talk($bytes);
            my $s = seconds_of($want);
            my ($what, $got, $off, $len) = ask($bytes, $s);
            $n++;
            next if $what ne 'reply';
            $said++;
            $got .= substr $body, $off, $len;
            next if $got eq $want;
            $bad ||= "request:\n$bytes\nhttpd:\n$want\nloop:\n$got";
        }
        $turn++;
    }
    ok !$bad, "$f: no answer differs from httpd's ($said of $n answered)"
        or diag $bad;
    $total += $n;
    $declined += $n - $said;
}

# Any combination of them, any kind: the seed says which.
{
    my $seed = $ENV{SEED} || time ^ $$;
    my $rounds = $ENV{ROUNDS} || 1500;
    srand $seed;
    my (%file, $bad, $said);
    for my $f (@files[0 .. 8]) {
        my ($head, $body) = split_answer(
            talk(request_text('GET', "/$f", '1.1', 'Host: a')));
        my ($etag) = $head =~ /^ETag: (.*?)\r$/m;
        $file{$f} = { head => $head, body => $body, fields =>
            [ variants($etag, (stat $h->root . "/htdocs/$f")[9]) ] };
    }
    my @names = keys %file;
    for my $n (1 .. $rounds) {
        my $f = $names[ rand @names ];
        my $it = $file{$f};
        my (%once, @v);
        for my $field (map @{ $it->{fields}[ rand @{ $it->{fields} } ] },
            1 .. 3) {
            push @v, $field unless $once{ $field =~ s/:.*//sr }++;
        }
        my ($method, $version, @more) = @{ $kinds[ rand @kinds ] };
        my $bytes = request_text($method, "/$f", $version, @more, @v);
        my $want = talk($bytes);
        learn($it->{head}, length $it->{body}, $f =~ /html/ ? 2 : 0);
        my ($what, $got, $off, $len) = ask($bytes, seconds_of($want));
        next if $what ne 'reply';
        $said++;
        $got .= substr $it->{body}, $off, $len;
        $bad ||= "request:\n$bytes\nhttpd:\n$want\nloop:\n$got"
            if $got ne $want;
    }
    ok !$bad, "seed $seed: no combination differs ($said answered)"
        or diag $bad;
    cmp_ok $said, '>', $rounds / 10, 'and many are answered';
}
diag "$total exchanges in order, $declined declined";

# The plain ones are the loop's: every kind, no condition or a clean one.
for my $f ('plain.txt', 'headers/a.txt', 'data.txt.gz', 'noext', 'empty.txt')
{
    my ($head, $body) = split_answer(
        talk(request_text('GET', "/$f", '1.1', 'Host: a')));
    my ($etag) = $head =~ /^ETag: (.*?)\r$/m;
    my $mtime = (stat $h->root . "/htdocs/$f")[9];
    learn($head, length $body);
    my @plain = ([], ["If-None-Match: $etag"], ['If-None-Match: "x", "y"'],
        [ 'If-Modified-Since: ' . date($mtime) ],
        [ 'If-Modified-Since: ' . date($mtime - 9) ]);
    push @plain, ['Range: bytes=0-9'], ['Range: bytes=-5'],
        [ 'Range: bytes=5-', "If-Range: $etag" ] if length $body;
    my @left;
    for my $k (@kinds) {
        my ($method, $version, @more) = @$k;
        for my $v (@plain) {
            my $bytes = request_text($method, "/$f", $version, @more, @$v);
            my ($what) = ask($bytes, time);
            push @left, $bytes if $what ne 'reply';
        }
    }
    is "@left", '', "$f: all plain requests are answered";
}

# Many requests on one connection: max= counts down, the last one closes.
{
    my ($head, $body) = split_answer(
        talk(request_text('GET', '/plain.txt', '1.1', 'Host: a')));
    learn($head, length $body);
    for my $token ('', 'Connection: keep-alive') {
        my $bytes = request_text('HEAD', '/plain.txt', '1.1', 'Host: a',
            $token ? $token : ());
        my @want = split /(?<=\r\n\r\n)/, talk($bytes x 8);
        my ($keepalives, @got, $keep) = (0);
        do {
            (undef, my $text, undef, undef, $keep, $keepalives) =
                ask($bytes, seconds_of($want[0]), keepalives => $keepalives);
            push @got, $text;
        } while ($keep && @got < 20);
        s/^Date: .*?\r$//m for @want, @got;
        is scalar @got, 4, "four answers with '$token'";
        is "@got", "@want", 'the same as httpd on one connection';
    }
}

# Other settings of the connection, in vhosts of their own.
for my $v ([ 'off', on => 0 ], [ 'unlimited', max => 0, timeout => 1_500_000 ],
    [ 'brief', max => 1, timeout => 500_000 ]) {
    my ($host, %c) = @$v;
    my ($head, $body) = split_answer(
        talk(request_text('GET', '/plain.txt', '1.1', "Host: $host")));
    learn($head, length $body);
    my (@bad, $n);
    for my $k (@kinds) {
        my ($method, $version, @more) = @$k;
        for my $f ([], ['If-None-Match: *'], ['Range: bytes=-7']) {
            my $bytes = request_text($method, '/plain.txt', $version,
                "Host: $host", grep(!/^Host/, @more), @$f);
            my $want = talk($bytes);
            my ($what, $got, $off, $len) = ask($bytes, seconds_of($want), %c);
            $n++;
            push @bad, "$bytes\n$want\n$got" if $what ne 'reply'
                || $got . substr($body, $off, $len) ne $want;
        }
    }
    is scalar @bad, 0, "vhost $host: $n answers as httpd's" or diag $bad[0];
}

# While httpd stops, and where KeepAlive is off.
{
    my $bytes = request_text('GET', '/plain.txt', '1.1', 'Host: a',
        'Connection: keep-alive');
    for my $c ('0 1 3 7000000 1', '0 0 3 7000000 0', '0 1 3 0 0') {
        my $line = tool(sprintf('ask %d %s %d', length $bytes, $c, time),
            $bytes);
        my ($len) = $line =~ /^reply 200 0 0 (\d+)/;
        read $from, my $head, $len || 0;
        like $head, qr/\r\nConnection: close\r\n/, "closes with $c";
    }
}

# A compressing filter's Vary is not in its 304: declined.
{
    my ($head, $body) = split_answer(
        talk(request_text('GET', '/page.html', '1.1', 'Host: a')));
    like $head, qr/\r\nVary: Accept-Encoding\r\n/, 'mod_deflate was there';
    learn($head, length $body, 2);
    my $bytes = request_text('GET', '/page.html', '1.1', 'Host: a',
        'If-None-Match: *');
    is +(ask($bytes, time))[0], 'decline', 'and its 304 is httpd\'s';
    unlike talk($bytes), qr/Vary/, 'which has no Vary';
}

# ETag of a file that has just changed is weak, and later strong; a file of
# the future has a moving Last-Modified: neither is learned (pitfall 20).
for my $when (0, 3600) {
    my $path = $h->write_file('htdocs/new.txt', 'new');
    utime time + $when, time + $when, $path;
    my ($head) = split_answer(
        talk(request_text('GET', '/new.txt', '1.1', 'Host: a')));
    like learn($head, 3), qr/^refused the file has just changed/,
        "not learned, $when seconds ahead";
}

close $to;
waitpid $tool_pid, 0;
is $?, 0, 'the tool ended well';
$h->finish;
done_testing;
