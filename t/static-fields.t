# SPDX-License-Identifier: Apache-2.0
# A request field that nothing reads passes by any name: those that proxies,
# networks and clients send, and random ones. Bytes and log lines are stock
# httpd's; the loop answers. SEED and N (requests with random fields) in the
# environment.
use strict;
use warnings;
use Test::Httpd;
use Test::More;
use Test::Twin;
use Time::HiRes qw(time);

my $t = Test::Twin->new(modules => [qw(headers deflate filter negotiation)],
    conf => <<'END');
SetEnvIf X-Secret "^open" secret
Header append Vary X-Device
LogFormat "\"%r\" %>s %B [%{X-Scheme}i] [%{Via}i] [%{X-Forwarded-For}i] [%{x_under}i] [%{!odd}i]" l
CustomLog logs/l l
END
$t->file('big.txt', 'b' x 5000);
$t->start;

# Who sends it => the fields that a rule of the loop had never heard of, and
# their company.
my %sent = (
    'an ingress of nginx' => [ 'X-Scheme: https', 'X-Forwarded-Scheme: https',
        'X-Request-ID: 7f3a', 'X-Real-IP: 192.0.2.1',
        'X-Original-Forwarded-For: 192.0.2.7' ],
    'CloudFront' => [ 'X-Amz-Cf-Id: Yq==', 'Via: 2.0 x.cloudfront.net',
        'CloudFront-Viewer-Country: DE', 'User-Agent: Amazon CloudFront' ],
    'a load balancer of Amazon' => [ 'X-Amzn-Trace-Id: Root=1-6',
        'X-Amzn-Tls-Version: TLSv1.3', 'X-Forwarded-Port: 443' ],
    'Varnish' => [ 'X-Varnish: 32770', 'X-Forwarded-For: 192.0.2.1',
        'X-Forwarded-For: 192.0.2.2', 'Accept-Encoding: gzip' ],
    'Envoy' => [ 'x-envoy-expected-rq-timeout-ms: 15000',
        'x-envoy-attempt-count: 1', 'x-envoy-internal: true',
        'x-request-id: 4', 'x-b3-flags: 0', 'b3: 1-2-1' ],
    'an application gateway of Azure' => [ 'X-AppGW-Trace-Id: ab',
        'X-Original-Host: localhost', 'X-Original-URL: /1k.txt',
        'X-FORWARDED-PORT: 443' ],
    'Azure Front Door and IIS' => [ 'X-Azure-Ref: 0a', 'X-Azure-FDID: b-c',
        'X-Azure-ClientIP: 192.0.2.1', 'X-FD-HealthProbe: 1',
        'Max-Forwards: 10', 'DISGUISED-HOST: a', 'X-ARR-LOG-ID: d' ],
    'Fastly' => [ 'Fastly-Client-IP: 192.0.2.1', 'Fastly-SSL: 1',
        'Fastly-FF: x!y!z', 'X-Timer: S1700000000.000000,VS0' ],
    'Akamai' => [ 'Akamai-Origin-Hop: 2', 'True-Client-IP: 192.0.2.1',
        'X-Akamai-Config-Log-Detail: true', 'Via: 1.1 v1.akamaitech.net' ],
    'Chrome' => [ 'Sec-Fetch-Storage-Access: active', 'Sec-CH-UA: "A";v="1"',
        'Sec-CH-UA-Arch: "x86"', 'Downlink: 10', 'RTT: 50',
        'Accept-Encoding: gzip, deflate, br, zstd' ],
    'Safari, for media' => [ 'X-Playback-Session-Id: 5A-6',
        'Range: bytes=0-1', 'Accept-Encoding: identity' ],
    'libwww-perl' => [ 'TE: deflate,gzip;q=0.3', 'Connection: TE, close' ],
    'HTTP/2 made HTTP/1.1' => [ 'TE: trailers', 'Priority: u=1, i' ],
    'a download manager' => [
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT',
        'Range: bytes=100-' ],
    'a script' => [ 'Content-Type: application/json',
        'X-HTTP-Method-Override: DELETE', 'X-CSRF-Token: a==' ],
    'a chain of proxies' => [ 'Via: 1.1 a', 'Via: 1.1 b', 'Forwarded: for=a',
        'Forwarded: for=b', 'Cookie: a=b', 'Cookie: c=d' ],
    'somebody who tries' => [ 'Proxy: http://192.0.2.1/',
        'X-Original-URL: /none', 'X-Rewrite-URL: /none',
        'X-Forwarded-Prefix: /x', 'X-Host: b' ],
    'odd names' => [ 'x_under: 1', '!odd: 2', "#\$%&'*+-.^_`|~: 3", '0: 4',
        'X-Empty:', 'X-Blank: ', 'content_length: 5',
        'Transfer_Encoding: chunked' ],
    'names close to special ones' => [ 'Hosts: b', 'Ranges: bytes=0-0',
        'Expected: 1', 'If-None: *', 'Connections: close' ],
);
for my $who (sort keys %sent) {
    my @fields = @{ $sent{$who} };
    my $r = $t->request('/1k.txt', @fields);
    # the whole is learned, and answers for its parts
    my @whole = grep !/^(?:Range|If-)/, @fields;
    $t->learned($t->request('/1k.txt', @whole)) if @whole < @fields;
    ok $t->learned($r), "$who: the loop answers";
    $t->same("$who: as httpd does",
        grep(/^Connection: .*close/, @fields) ? $r : [ $r, $r ]);
}

# One test: is this request the loop's? One of its own may be an audit or a
# renewal, and so httpd's, now and then.
sub whose {
    my ($what, $ours, $r) = @_;
    my ($tries, $grown) = ($ours ? 5 : 1);
    while ($tries-- && !$grown) {
        my $before = $t->hits;
        $t->ask($t->fixed, $r);
        $grown = $t->hits - $before;
    }
    is $grown, $ours, "$what: " . ($ours ? 'ours' : "httpd's");
}

# What is read is not inert.
my $plain = $t->request('/1k.txt');
ok $t->learned($plain), 'a plain request';
for ([ 'SetEnvIf matches', 0, 'X-Secret: open' ],
    [ 'SetEnvIf does not match', 1, 'X-Secret: shut' ],
    [ 'SetEnvIf, an odd spelling', 0, 'x-sECRET: open' ],
    [ 'another name', 1, 'X_Secret: open' ],
    [ 'SetEnvIf, twice', 0, 'X-Secret: a', 'X-Secret: b' ],
    [ 'what a Vary names', 0, 'X-Device: tablet' ],
    [ 'what a Vary names, twice', 0, 'X-Device: phone', 'X-Device: a' ],
    [ 'Accept-Encoding, twice', 0, 'Accept-Encoding: a', 'Accept-Encoding: b' ],
    [ 'what no Vary names, twice', 1, 'Accept: a', 'Accept: b' ],
    [ 'not modified', 1,
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:21 GMT' ],
    [ 'modified', 0,
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:19 GMT' ],
    [ 'modified, part', 0, 'Range: bytes=0-1',
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:19 GMT' ],
    [ 'modified, unless', 0, 'If-None-Match: *',
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:19 GMT' ],
    [ 'not modified, a range if', 0, 'Range: bytes=0-1', 'If-Range: "x"',
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT' ],
    [ 'not modified, modified since', 0,
        'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT',
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT' ],
    [ 'not modified, unchanged', 0, 'If-None-Match: *',
        'If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT' ],
    [ 'no date', 0, 'If-Unmodified-Since: never' ],
    [ 'an empty date', 0, 'If-Unmodified-Since:' ],
    [ 'a match', 0, 'If-Match: *' ],
    [ 'Expect', 0, 'Expect: 100-continue' ],
    [ 'Authorization', 0, 'Authorization: Basic YTpi' ],
    [ 'Upgrade', 0, 'Upgrade: h2c' ],
    [ 'a body', 0, 'Content-Length: 0' ]) {
    my ($what, $ours, @fields) = @$_;
    my $r = $t->request('/1k.txt', @fields);
    $t->same("$what: the same", $r);
    whose($what, $ours, $r);
}

# A Vary that was learned: each value has an answer of its own.
for my $device ('phone', '') {
    my $r = $t->request('/1k.txt', "X-Device: $device");
    ok $t->learned($r), "X-Device: $device: the loop answers";
    $t->same("X-Device: $device: the same", $r);
}

# Random names and values.
my $seed = $ENV{SEED} || 1 + (time ^ $$) % 1_000_000;
my $n = $ENV{N} || 150;
srand $seed;
my @token = (split(//, "!#\$%&'*+-.^_`|~"), 0 .. 9, 'a' .. 'z', 'A' .. 'Z');
my @value = map chr, 0x20 .. 0x7e;

sub text { my ($most, @of) = @_; return join '', map $of[ rand @of ], 0 .. rand $most }

my @close = qw(host range accept cookie via te connection content-length
    expect x-secret x-device authorization if-range);

# A field; one in ten has a name like a special one, with a byte changed,
# added or taken.
sub field {
    my $name = text(20, @token);
    if (rand() < .1) {
        $name = $close[ rand @close ];
        substr $name, rand length $name, int rand 2, text(1, @token);
        $name = text(20, @token) if grep lc $name eq $_, @close;
    }
    return "$name:" . text(3, ' ', "\t", '') . text(30, @value);
}

my ($bad, $before) = (0, $t->hits);
for my $i (1 .. $n) {
    my @fields = map field(), 0 .. rand 12;
    push @fields, $fields[ rand @fields ] if rand() < .3;
    my $r = $t->request('/big.txt', @fields);
    my ($stock) = $t->ask($t->stock, $r);
    my ($fixed) = $t->ask($t->fixed, $r);
    next if $stock eq $fixed && length $stock;
    diag "seed $seed:\n$r--\n$stock--\n$fixed" unless $bad++;
}
is $bad, 0, "seed $seed: no difference in $n requests with random fields";
cmp_ok $t->hits - $before, '>', .9 * $n - 10, 'the loop answers them';

sub lines {
    my %n;
    $n{$_}++ for grep !m{GET /cpuaffinity}, split /\n/,
        Test::Httpd::slurp($_[0]->root . '/logs/l');
    return \%n;
}
# Learning asked the one more often than the other.
my ($stock, $fixed);
$t->fixed->wait_for(sub {
    ($stock, $fixed) = map lines($_), $t->both;
    return !grep !$fixed->{$_}, keys %$stock;
}, 10);
is_deeply [ sort keys %$fixed ], [ sort keys %$stock ], 'the lines of the log';
$t->finish;

# Values that httpd joins have a limit, too; and names in its other mode.
$t = Test::Twin->new(conf => <<'END');
LimitRequestFieldSize 300
HttpProtocolOptions Unsafe
END
$t->start;
ok $t->learned($t->request('/1k.txt', 'x_under: 1', '!: 2')),
    'Unsafe: the loop answers';
for ([ 'short ones', 1, 'X-A: ' . 'a' x 100, 'x-a: ' . 'b' x 100 ],
    [ 'long ones', 0, 'X-A: ' . 'a' x 200, 'x-a: ' . 'b' x 200 ],
    [ 'long, of two names', 1, 'X-A: ' . 'a' x 200, 'X-B: ' . 'b' x 200 ],
    [ 'many', 0, ('X-A: ' . 'a' x 20) x 30 ],
    [ 'a long special one', 0, ('Via: ' . 'a' x 200) x 2 ],
    [ 'one that is too long', 0, 'X-A: ' . 'a' x 300 ]) {
    my ($what, $ours, @fields) = @$_;
    my $r = $t->request('/1k.txt', @fields);
    $t->same("joined, $what: the same", $r);
    whose("joined, $what", $ours, $r);
}
$t->finish;
done_testing;
