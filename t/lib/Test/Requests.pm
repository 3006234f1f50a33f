# SPDX-License-Identifier: Apache-2.0
package Test::Requests;

# Requests by a seed: plain ones, as clients send them, and odd ones, as
# nobody should. Each exchange is one connection's worth.
#
#   my $g = Test::Requests->new(seed => 1, files => \%mtime);
#   my $x = $g->exchange($n, plain => 0);
#   # {number, steps => [[bytes, pause], ...], half, methods => [...], plain}
#
# PORT in the bytes stands for the server's port (five digits).

use strict;
use warnings;
use List::Util qw(shuffle);
use POSIX qw(strftime);

# files: path => [mtime, etag]
sub new {
    my ($class, %o) = @_;
    my $self = bless {%o}, $class;
    $self->{paths} = [ sort keys %{ $o{files} } ];
    return $self;
}

sub _one { return $_[ rand @_ ] }

sub _chance { return rand() < $_[0] }

sub _date { strftime('%a, %d %b %Y %H:%M:%S GMT', gmtime $_[0]) }

my @odd_targets = ('/', '//', '/./1k.txt', '/../1k.txt', '/a/../1k.txt',
    '/%31k.txt', '/1k%2etxt', '/1k.txt%00', '/1k.txt%0a', '/%zz', '/%',
    '/1k.txt%2', '/%2e%2e/%2e%2e/etc/passwd', '/.%2e/1k.txt', '/a%2Fone.txt',
    '/a%5cone.txt', '/a\\one.txt', '//1k.txt', '/a//one.txt', '/1k.txt/',
    '/1k.txt;x', '/;/1k.txt', '/1k.txt?', '/1k.txt??', '/1k.txt?a=%zz',
    '/1k.txt?a b', '/1k.txt#frag', '/a', '/a/', '/empty/', '/none.txt', '/none/',
    '/dir.txt', '*', '', '1k.txt', 'localhost/1k.txt', 'localhost:PORT',
    'http://localhost/1k.txt', 'http://b.example/1k.txt', 'http://localhost',
    'HTTP://LOCALHOST:PORT/1k.txt', 'http:///1k.txt', 'ftp://localhost/1k.txt',
    'https://localhost/1k.txt', '/1K.TXT', "/1k.txt\x7f", "/1k\xc3\xa9.txt",
    "/1k.txt\x01", '/with%20space.txt', '/with+space.txt', '/with space.txt',
    '/%252e%252e/1k.txt', '/1k.txt?x=' . 'y' x 900, '/' . 'p' x 300,
    '/' . 'p/' x 200, '/?' . 'q' x 8200, '/.htaccess', '/a/.htpasswd',
    '/~root/', '/1k.txt|', '/<1k.txt>', '/1k.txt?<script>', '/1k.txt"',
    "/1k.txt'", '/1k.txt^', '/{1k}.txt', '/page', '/link.txt', '/cpu%61ff');

my @odd_lines = ('%m %t', '%m %t ', ' %m %t HTTP/1.1', '%m  %t HTTP/1.1',
    '%m %t  HTTP/1.1', '%m %t HTTP/1.1 ', "%m\t%t HTTP/1.1",
    '%m %t HTTP/1.1 x', '%m %t http/1.1', '%m %t HTTP/1.2', '%m %t HTTP/2.0',
    '%m %t HTTP/0.9', '%m %t HTTP/1.10', '%m %t HTTP/11', '%m %t HTTP/1',
    '%m %t HTTP/1.', '%m %t HTTPS/1.1', '%m %t HTTP /1.1', '%m%t HTTP/1.1',
    '%m', '', '%m %t HTTP/1.01', '%m %t HTTP/01.1', '%m %t HTTP/-1.1',
    '%m %t HTCPCP/1.0');

my @odd_hosts = ([], ['Host:'], [ 'Host: localhost', 'Host: localhost' ],
    [ 'Host: localhost', 'Host: b.example' ], ['Host: local host'],
    ['Host: localhost:'], ['Host: localhost:99999'], ['Host: localhost:x'],
    ['Host: [::1]'], ['Host: [::1]:PORT'], ['Host: 127.0.0.1:PORT'],
    ['Host: local_host'], ['Host: localhost.'], ['Host: ..'], ['Host: a/b'],
    ["Host: loc\xe4l"], ["Host: localhost\t"], ['Host:localhost'],
    ['Host:    localhost   '], ['Host : localhost'], ['host: localhost'],
    ['HOST: b.example'], ['Host: localhost, b.example'], ['Host: a@b'],
    [ 'Host: localhost', "\tfolded" ], ['Host: -'], ['Host: localhost:080']);

my @odd_fields = ('Transfer-Encoding: chunked', 'Transfer-Encoding: identity',
    'Transfer-Encoding: chunked, identity', 'Transfer-Encoding: xchunked',
    'Content-Length: 0', 'Content-Length:', 'Content-Length: -1',
    'Content-Length: 0, 0', 'Content-Length: +0', 'Content-Length: 0x0',
    'Content-Length: 99999999999999999999', 'Expect: 100-continue',
    'Expect: something', 'Upgrade: websocket', 'Upgrade: h2c', 'TE: trailers',
    'Trailer: x', 'Max-Forwards: 0', 'Authorization: Basic eDp5', 'X-A : b',
    'X A: b', ': b', 'X-A', 'X-A: b', "X-A: b\x00c", "X-A: b\x01c",
    "X-A: b\rc", "X-A: b\xff", "X-\xe4: b", "X-A: b\r\n folded",
    "X-A: b\r\n\tfolded: c", 'X-Long: ' . 'l' x 9000, 'X-Long: ' . 'l' x 3000,
    'If-Match: *', 'If-Match: "x"', 'If-Unmodified-Since: junk',
    'If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT', 'X-Drop: 1',
    'Content-Type: text/html', 'Content-Encoding: gzip', 'Proxy: x',
    'Proxy-Connection: keep-alive', 'Keep-Alive: 300', 'Via: 1.1 x',
    'X-Forwarded-For: 10.0.0.1', 'Forwarded: for=x', 'Cookie: a=b',
    'Cookie: deny=1', 'Date: junk', 'Negotiate: trans', 'X-HTTP-Method: PUT',
    'X-Requested-With: x', 'Range-Unit: bytes', 'Request-Range: bytes=0-1',
    'HTTP2-Settings: x', 'Sec-WebSocket-Key: x', 'Origin: http://b');

my @usual_fields = ('Accept: */*', 'Accept: text/html, */*;q=0.1',
    'User-Agent: differential/1', 'User-Agent: Mozilla/5.0 (X11; Linux)',
    'Accept-Language: de', 'Referer: http://localhost/', 'Cookie: a=b',
    'Cache-Control: no-cache', 'Cache-Control: max-age=0', 'Pragma: no-cache',
    'DNT: 1', 'Upgrade-Insecure-Requests: 1', 'Accept-Encoding: gzip',
    'Accept-Encoding: gzip, deflate, br', 'Accept-Encoding: identity',
    'Accept-Encoding: gzip, deflate, br, zstd', 'Accept-Encoding: gzip;q=0',
    'Sec-Fetch-Mode: navigate', 'Origin: http://localhost',
    'X-Forwarded-For: 10.0.0.1', 'Accept-Charset: utf-8');

my @connections = ('close', 'keep-alive', 'Keep-Alive', 'CLOSE',
    'keep-alive, close', 'close, keep-alive', 'x', '', 'Upgrade',
    'keep-alive,', 'close;q=1', 'keep-alive, Host', ' close ', 'TE, close',
    'TE', 'te,keep-alive', 'T', 'close, TE, x');

my @openings = ("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
    "\x0d\x0a\x0d\x0a\x00\x0d\x0aQUIT\x0a\x21\x11\x00\x0c"
        . "\x7f\0\0\1\x7f\0\0\1\0\1\0\2",
    "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", "\r\n", "\r\n\r\n",
    "\n", "\n\n", "\r", " ", "\0", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
        . "\r\n\r\n", "SSH-2.0-x\r\n", "\xff\xfe");

my @letters = (split(//, "!#\$%&'*+-.^_`|~"), 'a' .. 'z', 'A' .. 'Z', 0 .. 9);

# A field that nobody reads, or of a name close to one that somebody reads.
sub _stranger {
    my $name = _chance(.2) ? _one(qw(Range Host Expect TE Cookie Via If-Match))
        : 'X-';
    $name .= _one(@letters) for 1 .. 1 + rand 12;
    return "$name:" . _one('', ' ', "\t", ' a', ' a, b', ' "x"  ', 'Host: b',
        ' ' . 'l' x rand 200);
}

# Conditions and ranges on a file: like what caches, downloaders and
# attackers send.
sub _conditions {
    my ($self, $path) = @_;
    my ($mtime, $etag) = @{ $self->{files}{$path} || [ 1e9, '"none"' ] };
    my @none = ('*', $etag, "W/$etag", '"other"', "\"other\", $etag",
        "$etag, \"x\"", "\"a\" , \"b\",$etag", "\"a\" $etag", 'bare', '',
        "$etag,", ",$etag", uc $etag, $etag =~ s/"$/-gzip"/r,
        $etag =~ s/"$/-br"/r, "\"a\\\"b\", $etag", "W/ $etag");
    my @since = (_date($mtime), _date($mtime - 1), _date($mtime + 1),
        _date(0), _date(time + 86400), _date($mtime) . '; length=1000',
        'junk', '', 'Sunday, 06-Nov-94 08:49:37 GMT', _date($mtime) . ' ',
        'Sun Nov  6 08:49:37 1994', 'Sun, 31 Feb 2024 00:00:00 GMT');
    my @range = ('bytes=0-0', 'bytes=0-', 'bytes=10-19', 'bytes=-5',
        'bytes=900-', 'bytes=-0', 'bytes=5-4', 'bytes=-', 'bytes=', 'bytes=a-b',
        'bytes=0-0,2-3', 'bytes=0-9, 20-29', 'bytes=0-0,', 'bytes= 0-1',
        'BYTES=3-4', 'items=0-1', 'bytes=99999999999999999999-', 'bytes=-99999',
        'bytes=0-99999999999999999999', 'bytes=1024-', 'bytes=1023-1023',
        'bytes=1000000-', 'bytes=00-01', 'bytes=+1-2', 'bytes=1--2',
        'bytes=0-1,1-2,0-,-1', 'bytes=' . join(',', ('0-') x 220),
        'bytes=9223372036854775807-', 'bytes=0-9223372036854775807');
    my @if_range = ($etag, $etag =~ s/"$/-gzip"/r, "W/$etag", '"other"', _date($mtime),
        _date($mtime - 1), _date($mtime + 1), 'junk', '');
    my @f;
    push @f, 'If-None-Match: ' . _one(@none) if _chance(.35);
    push @f, 'If-Modified-Since: ' . _one(@since) if _chance(.35);
    push @f, 'Range: ' . _one(@range) if _chance(.4);
    push @f, 'If-Range: ' . _one(@if_range) if _chance(.2);
    push @f, 'If-Match: ' . _one(@none) if _chance(.04);
    push @f, 'If-Unmodified-Since: ' . _one(@since) if _chance(.1);
    return @f;
}

# What a browser would ask for. @return (bytes, method)
sub plain {
    my ($self) = @_;
    my $path = _one(@{ $self->{paths} }[ 0 .. 7 ]);
    my $method = _chance(.1) ? 'HEAD' : 'GET';
    my ($mtime, $etag) = @{ $self->{files}{$path} };
    my @f = ('Host: localhost', 'User-Agent: plain/1', 'Accept: */*');
    push @f, 'Connection: keep-alive' if _chance(.5);
    push @f, 'Accept-Encoding: gzip, deflate, br, zstd' if _chance(.5);
    push @f, "If-None-Match: $etag" if _chance(.1);
    push @f, 'If-Modified-Since: ' . _date($mtime) if _chance(.1);
    push @f, 'Range: bytes=0-99' if _chance(.05);
    push @f, _stranger() if _chance(.3);
    return (join("\r\n", "$method $path HTTP/1.1", @f, '', ''), $method);
}

sub _fields {
    my ($self, $path, $odd) = @_;
    my @f = $odd > .9 ? @{ _one(@odd_hosts) }
        : _one('Host: localhost', 'Host: localhost', 'Host: b.example',
        'Host: localhost:PORT', 'Host: LocalHost');
    push @f, _one(@usual_fields) for 1 .. rand 4;
    push @f, 'Connection: ' . _one(@connections) if _chance(.2);
    push @f, $self->_conditions($path) if _chance(.5);
    push @f, _one(@odd_fields) for 1 .. (_chance(.15) ? 1 + rand 2 : 0);
    push @f, map _stranger(), 1 .. rand 5 if _chance(.2);
    push @f, map "X-$_: x", 1 .. _one(40, 99, 105) if _chance(.01);
    push @f, _one(@f) if @f && _chance(.05);    # a duplicate
    return _chance(.3) ? shuffle(@f) : @f;
}

# Anything. @return (bytes, method)
sub odd {
    my ($self) = @_;
    my $path = _one(@{ $self->{paths} });
    my $target = $path;
    $target .= '?' . _one('', 'a=1', 'v=2', 'x&y=%20') if _chance(.1);
    $target = _one(@odd_targets) if _chance(.15);
    my $method = _chance(.75) ? 'GET' : _chance(.6) ? 'HEAD'
        : _one(qw(POST OPTIONS TRACE PUT DELETE get Get FOO PROPFIND CONNECT
            PATCH GETT GE), 'G ET', "GET\0", 'GET,');
    my $line = _chance(.06) ? _one(@odd_lines)
        : _chance(.2) ? '%m %t HTTP/1.0' : '%m %t HTTP/1.1';
    $line =~ s/%m/$method/;
    $line =~ s/%t/$target/;
    my @f = $self->_fields($path, rand);
    my $body = '';
    if ($method =~ /^P(OST|UT|ATCH)/ || _chance(.01)) {
        ($body, my $field) = @{ _one([ 'abc', 'Content-Length: 3' ],
            [ "3\r\nabc\r\n0\r\n\r\n", 'Transfer-Encoding: chunked' ],
            [ '', 'Content-Length: 0' ],
            [ "GET /a/one.txt HTTP/1.1\r\nHost: localhost\r\n\r\n",
                'Content-Length: 44' ],
            [ "GET /a/one.txt HTTP/1.1\r\nHost: x\r\n\r\n" x 300,
                'Content-Length: 10800' ],
            [ "z\r\n", 'Transfer-Encoding: chunked' ]) };
        push @f, $field;
    }
    my $end = _chance(.96) ? "\r\n" : _one("\n", "\n", "\r\r\n", "\r", "\n\r");
    my $bytes = join $end, $line, @f, '', '';
    if (_chance(.01)) {    # one line end that differs
        my @at;
        push @at, $-[0] while $bytes =~ /\r\n/g;
        substr $bytes, _one(@at), 2, _one("\n", "\r", "\r\r\n", "\n\r\n") if @at;
    }
    if (_chance(.01)) {    # any byte
        substr $bytes, rand length $bytes, 1, chr rand 256;
    }
    return ($bytes . $body, $method);
}

sub exchange {
    my ($self, $number, %o) = @_;
    srand($self->{seed} * 1_000_003 + $number);
    my (@parts, @methods);
    my $count = _chance(.5) ? 1 : _chance(.8) ? 1 + int rand 5
        : 1 + int rand 40;
    my $mostly_plain = $o{plain} || _chance(.3);
    my $plain = 0;
    for (1 .. $count) {
        my $p = $o{plain} || ($mostly_plain && _chance(.9));
        my ($bytes, $method) = $p ? $self->plain : $self->odd;
        $plain++ if $p;
        push @parts, $bytes;
        push @methods, $method;
    }
    my $half = _chance(.2);
    if (!$o{plain}) {
        unshift @parts, _one(@openings) if _chance(.04);
        if (_chance(.03)) {    # cut in the middle
            $parts[-1] = substr $parts[-1], 0, rand length $parts[-1];
            $half = 1;
        }
    }
    my %x = (number => $number, half => $half, methods => \@methods,
        plain => $plain, count => $count);
    $x{steps} = _steps($o{plain}, @parts);
    $x{pipelined} = $count > 1 && grep defined $_->[1], @{ $x{steps} };
    return \%x;
}

# How the bytes leave: at once, one after the other (each when the one
# before is answered: pause undef), or cut anywhere, with pauses.
sub _steps {
    my ($plain, @parts) = @_;
    my $how = rand;
    return [ [ join('', @parts), 0 ] ] if $how < .45;
    return [ map [ $_, undef ], @parts ] if $how < .8 || $plain;
    my $all = join '', @parts;
    my @steps;
    while (length $all && @steps < 12) {
        my $n = _chance(.3) ? 1 + int rand 3 : 1 + int rand length $all;
        push @steps, [ substr($all, 0, $n, ''), _one(0, .001, .003, .008) ];
    }
    push @steps, [ $all, 0 ] if length $all;
    return \@steps;
}

1;
